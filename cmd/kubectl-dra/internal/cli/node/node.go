package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/inquiry"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/sources"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output/nodeview"
	"github.com/kubectl-dra/kubectl-dra/explain/cycle"
	"github.com/kubectl-dra/kubectl-dra/explain/text"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/node"
)

const nodeLong = `Show what the kubelet of a node has handed out, beside what the API server says:
which container has which devices, CPUs and memory, which claims are prepared,
which plugins are registered, and where the two disagree.

Run it on the node as root, or in a pod that mounts the directory of the kubelet
and names it with --kubelet-dir. It asks the PodResources service and the Pods API,
reads the checkpoints of the kubelet, and asks plugins for their names. It writes
nothing, and opens no stream of a plugin, because the kubelet could then miss a
message that it waits for.

Without NAME it is the node of the pods that the kubelet lists, else $NODE_NAME,
else the node with the name of this machine. Anywhere else it shows what the API
server knows, and says what is missing. Without an API server it shows what the
kubelet knows.

Exit codes: 0 no problem was found, 3 some were.`

const nodeExample = `  # On a node
  kubectl dra node

  # In a pod that mounts /var/lib/kubelet of its node at /host
  kubectl dra node --kubelet-dir /host

  # From elsewhere: what the API server knows
  kubectl dra node n1

  # What one pod has
  kubectl dra node --pod ml/pretrain-0`

// New returns the command node with its subcommands.
func New(streams *console.Streams, reader *sources.Reader, completer *inquiry.Completer) *cobra.Command {
	o := &nodeOptions{Options: sources.Options{Streams: streams, Reader: reader}}
	cmd := &cobra.Command{
		Use:     "node [NAME]",
		Short:   "Show what the kubelet of a node has handed out, beside what the API server says",
		Long:    nodeLong,
		Example: nodeExample,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return console.Usagef("node takes one name, not %d", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if o.kubelet.Pod, err = podOf(o.pod, reader); err != nil {
				return err
			}
			if len(args) > 0 {
				o.name = inspect.NodeName(args[0])
			}
			return o.run(cmd.Context())
		},
	}
	set := cmd.PersistentFlags()
	set.StringVar(&o.kubelet.Dir, "kubelet-dir", "", "the directory of the kubelet (default "+node.DefaultDir+")")
	set.StringVar(&o.kubelet.Socket, "pod-resources-socket", "", "the socket of the PodResources service (default pod-resources/kubelet.sock in the directory of the kubelet)")
	set.StringVar(&o.kubelet.PodsSocket, "pods-api-socket", "", "the socket of the kubelet's Pods API (default pods-api/pods-api.sock in the directory of the kubelet)")
	set.StringVar(&o.kubelet.Sys, "sys-dir", "", "where Linux says which CPUs are on which NUMA node (default "+node.DefaultSys+")")
	cmd.Flags().StringVar(&o.pod, "pod", "", "only this pod, as NAME or NAMESPACE/NAME")
	console.AddOutputFlags(cmd, &o.Format, output.ObjectFormats)
	console.CompleteArguments(cmd, "nodes", console.CompleteFirst(completer.Nodes))
	console.CompleteFlag(cmd, "pod", "pods", completer.Each(inspect.Pods))
	console.CompleteDirectories(cmd, "kubelet-dir", "sys-dir")
	console.CompleteFiles(cmd, "pod-resources-socket", "pods-api-socket")
	cmd.AddCommand(newNodeCNI(streams, reader, completer))
	return cmd
}

// nodeOptions are a question about a node.
type nodeOptions struct {
	sources.Options
	kubelet node.Options
	pod     string
	name    inspect.NodeName // empty if it is not given
	late    bool             // the kubelet, or a plugin, did not answer for as long as they are waited for
}

// look reads the kubelet, if it is meant, and the API server.
func (o *nodeOptions) look(ctx context.Context) (view *node.View, s *inspect.Snapshot, partial []string, err error) {
	view = &node.View{Only: o.kubelet.Pod}
	if o.asksKubelet() {
		view = o.readKubelet(ctx)
	}
	s, partial, err = o.read(ctx, view)
	return view, s, append(partial, o.missing(view)...), err
}

func (o *nodeOptions) run(ctx context.Context) error {
	view, snapshot, partial, err := o.look(ctx)
	if err != nil {
		return err
	}
	if o.kubelet.Pod != (inspect.PodRef{}) {
		if err := o.findPod(view, snapshot); err != nil {
			return err
		}
	}
	if o.name, err = o.choose(view, snapshot); err != nil {
		return err
	}
	o.readAgain(ctx, view, snapshot)
	report := node.Join(view, snapshot, o.name)
	if len(report.Problems) > 0 && view.Any() && !o.late { // what was on its way between the two readings is no problem
		again := o.readKubelet(ctx)
		o.readAgain(ctx, again, snapshot)
		report.KeepCommon(node.Join(again, snapshot, o.name))
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	wire := nodeview.NewNodeView(report, view, o.notes(report), partial)
	code := console.ExitAnswered
	if len(report.Problems) > 0 {
		code = console.ExitNo
	}
	return o.Answer(wire, func(w io.Writer, opts text.Options) error {
		return nodeview.PrintNodeView(w, wire, opts.Width, opts.Verbose)
	}, code)
}

// kubeletPatience is how long a kubelet and its plugins are waited for, unless --request-timeout says
// otherwise.
const kubeletPatience = 5 * time.Second

// patience bounds a reading of the kubelet.
func (o *nodeOptions) patience() time.Duration {
	if timeout, err := clientcmd.ParseTimeout(o.Reader.Connection.TimeoutFlag()); err == nil && timeout > 0 {
		return timeout
	}
	return kubeletPatience
}

// readKubelet reads what the kubelet knows, for as long as it is waited for. Where that was too short, it is
// not asked anything more.
func (o *nodeOptions) readKubelet(ctx context.Context) *node.View {
	ctx, cancel := context.WithTimeout(ctx, o.patience())
	defer cancel()
	view := node.Read(ctx, o.kubelet)
	o.late = ctx.Err() != nil
	return view
}

// asksKubelet reports whether the kubelet that can be reached from here is meant: if it is named, or if a
// cluster is asked and no other node.
func (o *nodeOptions) asksKubelet() bool {
	if o.kubelet.Dir != "" || o.kubelet.Socket != "" || o.kubelet.PodsSocket != "" {
		return true
	}
	return !o.Reader.Offline() && (o.name == "" || string(o.name) == hereName())
}

// hereName is what the node on which this runs is called, as far as can be told without asking anybody.
func hereName() string {
	host, err := os.Hostname()
	if err != nil {
		host = ""
	}
	return cmp.Or(os.Getenv("NODE_NAME"), host)
}

// read returns what the API server knows. If that cannot be read but the kubelet could, the snapshot is
// empty.
func (o *nodeOptions) read(ctx context.Context, view *node.View) (s *inspect.Snapshot, partial []string, err error) {
	s, err = o.Reader.Read(ctx, "", inspect.Resources())
	switch {
	case err == nil:
		return s, cycle.Unread(s), nil
	case ctx.Err() != nil || o.Reader.Offline() || !view.Any():
		return nil, nil, err
	}
	empty := inspect.New(inspect.Objects{}, inspect.Config{Time: o.Reader.Clock()})
	return empty, []string{"the API server could not be asked, so this is what the kubelet knows: " + inspect.Sanitize(err.Error())}, nil
}

// choose says which node is meant, and refuses if the kubelet is that of another one.
func (o *nodeOptions) choose(view *node.View, s *inspect.Snapshot) (inspect.NodeName, error) {
	of, listed := node.Of(view, s)
	switch {
	case o.name != "" && listed && of != o.name:
		return "", fmt.Errorf("the kubelet that answers here is that of node %s, not of %s", of, o.name)
	case o.name != "":
		if _, ok := s.Node(o.name); !ok && !view.Any() {
			return "", inquiry.NotFound(s, inquiry.Node, "", string(o.name))
		}
		return o.name, nil
	case listed:
		return of, nil
	}
	here := inspect.NodeName(hereName())
	if _, ok := s.Node(here); ok || view.Any() {
		return here, nil
	}
	if len(s.Nodes()) == 1 {
		return inspect.NodeName(s.Nodes()[0].Name), nil
	}
	names := words.Each(s.Nodes(), func(n *corev1.Node) string { return n.Name })
	return "", errors.New("this machine is no node of the cluster, so name one" + console.WhatExists("", "", names, nil))
}

// missing says what is not known because the kubelet could not be asked.
func (o *nodeOptions) missing(view *node.View) []string {
	switch {
	case !o.asksKubelet():
		return []string{"the kubelet was not asked: which containers have which devices and CPUs, what is prepared and which plugins are registered is known only on the node (run it there, or see --kubelet-dir)"}
	case !view.Any():
		dir := cmp.Or(o.kubelet.Dir, node.DefaultDir)
		socket := cmp.Or(o.kubelet.Socket, filepath.Join(dir, "pod-resources", "kubelet.sock"))
		return []string{fmt.Sprintf("no kubelet could be asked: PodResources at %s: %s; %s: %s", inspect.Sanitize(socket), view.Health[node.PodResources].Message,
			inspect.Sanitize(filepath.Join(dir, string(node.ClaimCheckpoint))), view.Health[node.ClaimCheckpoint].Message)}
	}
	return nil
}

// notes say what is to be known besides.
func (o *nodeOptions) notes(r *node.Report) []string {
	for i := range r.Containers {
		c := &r.Containers[i]
		if len(c.Claims) > 0 && len(c.Devices)+len(c.CPUs)+len(c.Memory) > 0 {
			return []string{"DRA gives the kubelet's topology manager no hints: the devices of claims are not aligned with CPUs, memory or the devices of device plugins"}
		}
	}
	return nil
}
