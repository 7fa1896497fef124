package node

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/inquiry"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/sources"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output/nodeview"
	"github.com/kubectl-dra/kubectl-dra/explain/text"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/node/cni"
	"github.com/kubectl-dra/kubectl-dra/internal/inputfile"
)

// kubeletFlagFiles are where the arguments of kubelets stand, as kubeadm and packages write them.
var kubeletFlagFiles = []string{"/var/lib/kubelet/kubeadm-flags.env", "/etc/default/kubelet", "/etc/sysconfig/kubelet"}

// maxFlagFile is how large such a file may be, in bytes.
const maxFlagFile = 64 << 10

// cniOptions are a request.
type cniOptions struct {
	sources.Options
	node         string
	runtime      string
	cni          cni.Options
	kubeletFlags []string
}

func newNodeCNI(streams *console.Streams, reader *sources.Reader, completer *inquiry.Completer) *cobra.Command {
	o := &cniOptions{Options: sources.Options{Streams: streams, Reader: reader}}
	cmd := &cobra.Command{
		Use:   "cni [NODE]",
		Short: "Say which network configuration this node uses, and why it does not use the others",
		Long: `Say which CNI configuration the container runtime of this node uses, and why it
does not use the others: containerd and CRI-O read the same directory and choose
differently. It also says which plugins are not installed, which capabilities no
plugin declares although pods of the node need them (host ports, bandwidth
limits), which interfaces DRA drivers have put into pods, and which removed flags
the kubelet is still started with.

It reads the files of the machine that it runs on: run it on the node, or in a
debug pod with --cni-conf-dir=/host/etc/cni/net.d and so on. With NODE it also
asks the API server which runtime the node has and what its pods need. It runs no
plugin and changes nothing.

Exit codes: 0 a network is configured, 3 none is, 1 the directory could not be
read.`,
		Example: `  # On a node
  kubectl dra node cni

  # In a pod that has the host's root at /host, with what the API server says
  kubectl dra node cni gpu-01 --cni-conf-dir /host/etc/cni/net.d --cni-bin-dir /host/opt/cni/bin`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.complete(args); err != nil {
				return err
			}
			return o.run(cmd.Context())
		},
	}
	set := cmd.Flags()
	set.StringVar(&o.cni.Dir, "cni-conf-dir", cni.DefaultDir, "the directory with CNI configurations")
	set.StringArrayVar(&o.cni.BinDirs, "cni-bin-dir", []string{cni.DefaultBinDir}, "a directory with CNI plugins; may be repeated")
	set.StringVar(&o.runtime, "runtime", "", "the container runtime: containerd or cri-o; by default what the node says, if it is named")
	set.IntVar(&o.cni.MaxNetworks, "max-conf-num", 1, "containerd's max_conf_num: how many files it takes, 0 for all")
	set.StringVar(&o.cni.DefaultNetwork, "cni-default-network", "", "CRI-O's cni_default_network")
	set.StringArrayVar(&o.kubeletFlags, "kubelet-flags", kubeletFlagFiles, "a file with arguments of the kubelet; may be repeated")
	console.AddOutputFlags(cmd, &o.Format, output.ObjectFormats)
	console.CompleteArguments(cmd, "nodes", console.CompleteFirst(completer.Nodes))
	console.CompleteFlag(cmd, "runtime", "container runtimes", console.CompleteWords(string(cni.Containerd), string(cni.CRIO)))
	console.CompleteDirectories(cmd, "cni-conf-dir", "cni-bin-dir")
	console.CompleteFiles(cmd, "kubelet-flags")
	return cmd
}

// complete checks what was asked.
func (o *cniOptions) complete(args []string) error {
	o.cni.Runtime = cni.Runtime(o.runtime)
	switch {
	case len(args) > 1:
		return console.Usagef("name one node at most")
	case o.runtime != "" && o.cni.Runtime != cni.Containerd && o.cni.Runtime != cni.CRIO:
		return console.Usagef("unknown --runtime %q; there are %s and %s", o.runtime, cni.Containerd, cni.CRIO)
	case o.cni.MaxNetworks < 0:
		return console.Usagef("--max-conf-num is %d; it cannot be negative", o.cni.MaxNetworks)
	case o.cni.MaxNetworks == 0:
		o.cni.MaxNetworks = -1
	}
	if len(args) == 1 {
		o.node = args[0]
	}
	return nil
}

func (o *cniOptions) run(ctx context.Context) error {
	snapshot, node, err := o.ask(ctx)
	if err != nil {
		return err
	}
	if node != nil && o.cni.Runtime == cni.Unknown {
		o.cni.Runtime = cni.RuntimeOf(node.Status.NodeInfo.ContainerRuntimeVersion)
	}
	view, err := cni.Read(o.cni)
	if err != nil {
		return err
	}
	var needs []cni.Need
	var interfaces []cni.Interface
	if node != nil {
		pods := words.Keep(snapshot.Objects().Pods, func(pod *corev1.Pod) bool { return pod.Spec.NodeName == node.Name })
		needs, interfaces = view.Needs(pods), cni.Interfaces(snapshot, node.Name)
	}
	answer := nodeview.NewNodeNetwork(o.node, view, needs, interfaces, o.removedFlags())
	code := console.ExitAnswered
	if view.Error != "" {
		code = console.ExitNo
	}
	return o.Answer(answer, func(w io.Writer, _ text.Options) error { return nodeview.PrintNodeNetwork(w, answer, o.TableWidth()) }, code)
}

// ask returns what the API server says of the node, or nothing if none is named.
func (o *cniOptions) ask(ctx context.Context) (*inspect.Snapshot, *corev1.Node, error) {
	if o.node == "" {
		return nil, nil, nil
	}
	snapshot, err := o.Reader.Read(ctx, "", []inspect.Resource{inspect.Nodes, inspect.Pods, inspect.Claims})
	if err != nil {
		return nil, nil, err
	}
	node, ok := snapshot.Node(inspect.NodeName(o.node))
	if !ok {
		return nil, nil, inquiry.NotFound(snapshot, inquiry.Node, "", o.node)
	}
	return snapshot, node, nil
}

// removedFlags looks for flags in files. Those that are looked at unless others are named need not exist.
func (o *cniOptions) removedFlags() []cni.RemovedFlag {
	text := ""
	for _, path := range o.kubeletFlags {
		data, err := inputfile.ReadAll(path, maxFlagFile)
		if err != nil {
			if !os.IsNotExist(err) || !slices.Equal(o.kubeletFlags, kubeletFlagFiles) {
				o.Note("warning: %v", fmt.Errorf("reading arguments of the kubelet: %w", err))
			}
			continue
		}
		text += string(data) + "\n"
	}
	return cni.RemovedFlags(text)
}
