package node

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/inquiry"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/sources"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output/nodeview"
	"github.com/kubectl-dra/kubectl-dra/explain/text"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/node"
)

const nodeDeviceLong = `Show what both DRA and device plugins say about one piece of hardware: what is
published about it, which claims and containers have it, what the kubelet has
prepared, its CDI devices, health, NUMA node and network interface.

Name it by its PCI address or its UUID. What has the same one is certainly the
same hardware; DRA publishes it as an attribute, a device plugin in the ID of a
device. Devices of the same vendor that publish neither are shown as possibly the
same. A PCI address belongs to a node: name it with --node, unless the command runs
on it. On the node it also shows what Linux says about the device.`

func newNodeDevice(of *nodeOptions, completer *inquiry.Completer) *cobra.Command {
	o := &nodeOptions{Options: sources.Options{Streams: of.Streams, Reader: of.Reader}}
	on := ""
	cmd := &cobra.Command{
		Use:   "device PCI-ADDRESS|UUID",
		Short: "Show what DRA and device plugins say about one piece of hardware",
		Long:  nodeDeviceLong,
		Example: `  # On a node
  kubectl dra node device 0000:81:00.0

  # From elsewhere: what the API server knows
  kubectl dra node device 0000:81:00.0 --node n1`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || node.HardwareName(args[0]) == "" {
				return console.Usagef("name the hardware: a PCI address such as 0000:81:00.0, or a UUID")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			o.kubelet, o.name = of.kubelet, inspect.NodeName(on)
			return o.device(cmd.Context(), node.HardwareName(args[0]))
		},
	}
	cmd.Flags().StringVar(&on, "node", "", "the node that the hardware is in")
	console.CompleteFlag(cmd, "node", "nodes", completer.Nodes)
	console.AddOutputFlags(cmd, &o.Format, output.ObjectFormats)
	return cmd
}

// device shows one piece of hardware, on one node or, if none is named and no kubelet answers, on any.
func (o *nodeOptions) device(ctx context.Context, name string) error {
	view, snapshot, partial, err := o.look(ctx)
	if err != nil {
		return err
	}
	if view.Any() || o.name != "" {
		if o.name, err = o.choose(view, snapshot); err != nil {
			return err
		}
	}
	hardware := node.FindHardware(name, o.name, node.Join(view, snapshot, o.name), view, snapshot)
	if view.Any() { // it is of this machine
		hardware.Machine = node.ReadMachine(o.kubelet.Sys, hardware.Names)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if len(hardware.Devices)+len(hardware.Plugins) == 0 {
		where := "on any node"
		if o.name != "" {
			where = "on node " + inspect.Sanitize(string(o.name))
		}
		for _, p := range partial {
			o.Note("! %s", p)
		}
		return fmt.Errorf("no device %s is known by %s", where, name)
	}
	wire := nodeview.NewHardware(hardware, o.name, snapshot, partial)
	return o.Answer(wire, func(w io.Writer, opts text.Options) error { return nodeview.PrintHardware(w, wire, opts.Width) }, console.ExitAnswered)
}
