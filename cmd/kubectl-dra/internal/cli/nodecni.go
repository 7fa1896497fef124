package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output/nodeview"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/node/cni"
	"github.com/kubectl-dra/kubectl-dra/internal/inputfile"
)

// kubeletFlagFiles are where the arguments of kubelets stand, as kubeadm and packages write them.
var kubeletFlagFiles = []string{"/var/lib/kubelet/kubeadm-flags.env", "/etc/default/kubelet", "/etc/sysconfig/kubelet"}

// maxFlagFile is how much is read of such a file, in bytes.
const maxFlagFile = 64 << 10

// cniFlags are the flags of kubectl dra node cni.
type cniFlags struct {
	dir, runtime, network string
	bins, kubeletFlags    []string
	max                   int
	output, template      string
}

// cniOptions are a checked request.
type cniOptions struct {
	streams      *streams
	reader       *reader
	node         string
	cni          cni.Options
	kubeletFlags []string
	format       output.Format
}

func newNodeCNI(streams *streams, reader *reader, completer *completer) *cobra.Command {
	flags := &cniFlags{}
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
			options, err := flags.toOptions(streams, reader, args)
			if err != nil {
				return err
			}
			return options.run(cmd.Context())
		},
	}
	set := cmd.Flags()
	set.StringVar(&flags.dir, "cni-conf-dir", cni.DefaultDir, "the directory with CNI configurations")
	set.StringArrayVar(&flags.bins, "cni-bin-dir", []string{cni.DefaultBinDir}, "a directory with CNI plugins; may be repeated")
	set.StringVar(&flags.runtime, "runtime", "", "the container runtime: containerd or cri-o; by default what the node says, if it is named")
	set.IntVar(&flags.max, "max-conf-num", 1, "containerd's max_conf_num: how many files it takes, 0 for all")
	set.StringVar(&flags.network, "cni-default-network", "", "CRI-O's cni_default_network")
	set.StringArrayVar(&flags.kubeletFlags, "kubelet-flags", kubeletFlagFiles, "a file with arguments of the kubelet; may be repeated")
	addOutputFlags(cmd, &flags.output, &flags.template, output.ObjectFormats)
	completeArguments(cmd, "nodes", first(completer.nodes))
	completeFlag(cmd, "runtime", "container runtimes", fixed(string(cni.Containerd), string(cni.CRIO)))
	completeDirectories(cmd, "cni-conf-dir", "cni-bin-dir")
	completeFiles(cmd, "kubelet-flags")
	return cmd
}

func (f *cniFlags) toOptions(streams *streams, reader *reader, args []string) (*cniOptions, error) {
	o := &cniOptions{streams: streams, reader: reader, kubeletFlags: f.kubeletFlags}
	var err error
	if o.format, err = parseOutput(f.output, f.template, output.ObjectFormats); err != nil {
		return nil, err
	}
	switch {
	case len(args) > 1:
		return nil, usagef("name one node at most")
	case f.runtime != "" && f.runtime != string(cni.Containerd) && f.runtime != string(cni.CRIO):
		return nil, usagef("unknown --runtime %q; there are %s and %s", f.runtime, cni.Containerd, cni.CRIO)
	case f.max < 0:
		return nil, usagef("--max-conf-num is %d; it cannot be negative", f.max)
	}
	if len(args) == 1 {
		o.node = args[0]
	}
	o.cni = cni.Options{Dir: f.dir, BinDirs: f.bins, Runtime: cni.Runtime(f.runtime), MaxNetworks: f.max, DefaultNetwork: f.network}
	if f.max == 0 {
		o.cni.MaxNetworks = -1
	}
	return o, nil
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
		var pods []*corev1.Pod
		for _, pod := range snapshot.Objects().Pods {
			if pod.Spec.NodeName == node.Name {
				pods = append(pods, pod)
			}
		}
		needs, interfaces = view.Needs(pods), cni.Interfaces(snapshot, node.Name)
	}
	answer := nodeview.NewNodeNetwork(o.node, view, needs, interfaces, o.removedFlags())
	if o.format.Name != "" {
		err = o.format.PrintValue(o.streams.Out, answer)
	} else {
		err = nodeview.PrintNodeNetwork(o.streams.Out, answer, o.streams.tableWidth())
	}
	if err == nil && view.Error != "" {
		return exitWith(exitNo)
	}
	return err
}

// ask returns what the API server says of the node, or nothing if none is named.
func (o *cniOptions) ask(ctx context.Context) (*inspect.Snapshot, *corev1.Node, error) {
	if o.node == "" {
		return nil, nil, nil
	}
	snapshot, err := o.reader.read(ctx, "", []inspect.Resource{inspect.Nodes, inspect.Pods, inspect.Claims})
	if err != nil {
		return nil, nil, err
	}
	node, ok := snapshot.Node(inspect.NodeName(o.node))
	if !ok {
		return nil, nil, notFound(snapshot, kindNode, "", o.node)
	}
	return snapshot, node, nil
}

// removedFlags looks for flags in files. Those that are looked at unless others are named need not exist.
func (o *cniOptions) removedFlags() []cni.RemovedFlag {
	text := ""
	for _, path := range o.kubeletFlags {
		data, err := readSome(path)
		if err != nil {
			if !os.IsNotExist(err) || !slices.Equal(o.kubeletFlags, kubeletFlagFiles) {
				o.streams.note("warning: %v", fmt.Errorf("reading arguments of the kubelet: %w", err))
			}
			continue
		}
		text += string(data) + "\n"
	}
	return cni.RemovedFlags(text)
}

// readSome reads the beginning of a file.
func readSome(path string) ([]byte, error) {
	file, err := inputfile.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // it is only read
	return io.ReadAll(io.LimitReader(file, maxFlagFile))
}
