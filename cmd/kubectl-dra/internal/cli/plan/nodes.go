package plan

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/inquiry"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/sources"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output/explanations"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/plan/shapes"
	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/text"
	"github.com/kubectl-dra/kubectl-dra/explain/text/plans"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
	"github.com/kubectl-dra/kubectl-dra/inspect/nodeshape"
	"github.com/kubectl-dra/kubectl-dra/internal/inputfile"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

const planNodesLong = `Say which nodes to add so that pods fit: which kind, and how many.

Every kind of node that the cluster has is tried, and those of --shape: files with

  - a Node and its ResourceSlices (as manifests; nodeName may be any name),
  - a MachineDeployment, MachineSet or MachinePool with the annotations
    capacity.cluster-autoscaler.kubernetes.io/… (cpu, memory, maxPods, labels,
    taints, gpu-type, gpu-count, dra-driver, …), alone or with ResourceSlices,
  - instance types, as a list or under "instanceTypes", with name, capacity or
    allocatable, labels, taints, offerings, resourceSlices; and the
    NodePools and NodeOverlays of Karpenter that choose among them.

The number is the smallest with which kube-scheduler places all pods, whichever
of the possible nodes it chooses. If there are too many choices to try, it is the
smallest with which it may place all. Each kind is tried by itself, not together
with others. Pods that no new node helps are named. If capacity is given without
allocatable, all of it is assumed to be allocatable; the pods of the cluster's
daemon sets are counted.

The kind of node of which the fewest are needed comes first, and then the one with
the fewest devices.

Exit codes: 0 with some nodes all fit, 3 it is proved that no kind of node helps,
1 that is not known (or the question could not be answered).`

const planNodesExample = `  # What to buy for everything that waits?
  kubectl dra plan nodes pending

  # How many nodes does a job of 64 workers need, of a kind that is not there yet?
  kubectl dra plan nodes template eval-gpu --copies 64 -n ml --shape h100-node.yaml

  # Which group would an autoscaler have to grow?
  kubectl get machinedeployments -A -o yaml > groups.yaml
  kubectl dra plan nodes pending --shape groups.yaml`

// planNodesOptions are a question about nodes to add.
type planNodesOptions struct {
	planOptions
	shapes []string
	max    int
}

func newPlanNodes(streams *console.Streams, reader *sources.Reader, completer *inquiry.Completer) *cobra.Command {
	o := &planNodesOptions{planOptions: planOptions{Options: inquiry.New(streams, reader, planKinds)}}
	cmd := &cobra.Command{
		Use:     "nodes (pending | TYPE NAME... | -l SELECTOR | -f FILE)",
		Short:   "Say which nodes to add so that pods fit, the fewest first",
		Long:    planNodesLong,
		Example: planNodesExample,
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.max < 0 {
				return console.Usagef("--max %d: there cannot be less than one", o.max)
			}
			if err := o.Complete(args); err != nil {
				return inquiry.WhichKind(cmd.Context(), reader, planKinds, "plan nodes", err)
			}
			return planNodes(cmd.Context(), o)
		},
	}
	o.addTo(cmd)
	set := cmd.Flags()
	set.StringArrayVar(&o.shapes, "shape", nil, "also try the nodes that this file describes; may be repeated")
	set.IntVar(&o.max, "max", 0, "add at most this many nodes; by default as many as there are pods")
	console.CompleteArguments(cmd, planArguments, completer.Typed(planKinds, pendingWord))
	console.CompleteFiles(cmd, "shape")
	return cmd
}

// planNodes answers which nodes make pods fit.
func planNodes(ctx context.Context, o *planNodesOptions) error {
	given, err := o.readFiles(ctx)
	if err != nil {
		return err
	}
	a, err := o.pods(ctx)
	if err != nil {
		return err
	}
	kinds, err := shapes.OfCluster(a.snapshot, a.pods)
	if err != nil {
		return err
	}
	var untried []string
	if n := len(kinds) - maxClusterShapes; n > 0 {
		untried = append(untried, fmt.Sprintf("the cluster has %d kinds of nodes; the %d of which there are fewest were not tried", len(kinds), n))
		kinds = kinds[:maxClusterShapes]
	}
	kinds = append(kinds, given...)
	nodeshape.MakeUnique(kinds)
	working, done := o.Thinking(ctx)
	p, err := shapes.Find(working, scheduler.NewCluster(a.snapshot, scheduler.Options{}), a.pods, kinds, shapes.Options{
		Max: o.max, Others: a.others(), Within: o.only, Unseen: append(a.unseen, a.queued...),
	})
	done()
	if err != nil {
		return err
	}
	p.Basis.Remarks = append(p.Basis.Remarks, a.remarks...)
	code := console.WorstExitCode(o.LeastCode(), shapesCode(p, len(untried) > 0))
	p.Untried = append(untried, p.Untried...)
	render := console.InLines(func(opts text.Options) []styled.Line { return plans.ShapeLines(p, opts) })
	return o.Answer(explanations.NewShapePlan(p), render, code)
}

// maxClusterShapes is the number of kinds of nodes of a cluster that are tried.
const maxClusterShapes = 40

// readFiles reads the files of --shape.
func (o *planNodesOptions) readFiles(ctx context.Context) ([]nodeshape.Shape, error) {
	var shapes []nodeshape.Shape
	for _, path := range o.shapes {
		data, err := readText(ctx, o.Streams, path)
		if err != nil {
			return nil, err
		}
		more, err := nodeshape.Read(path, data)
		if err != nil {
			return nil, err
		}
		shapes = append(shapes, more...)
	}
	return shapes, nil
}

// readText reads a file, or standard input for -, packed or not.
func readText(ctx context.Context, streams *console.Streams, path string) ([]byte, error) {
	if path == sources.StdinPath {
		return manifest.Unpack(ctx, streams.In, path, manifest.Options{})
	}
	file, err := inputfile.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // it was only read
	return manifest.Unpack(ctx, file, path, manifest.Options{})
}

// shapesCode is the exit code of a plan of nodes. incomplete says that not all kinds of nodes were tried.
func shapesCode(p *explain.ShapePlan, incomplete bool) int {
	switch {
	case len(p.Stuck) > 0 && !incomplete:
		return console.ExitNo
	case len(p.Stuck) > 0:
		return console.ExitFailed
	case p.MayFit:
		return console.ExitFailed
	case p.Fits || len(p.Shapes) > 0 && p.Shapes[0].Verdict == explain.ShapeFits:
		return console.ExitAnswered
	case incomplete || len(p.Untried) > 0 || slices.ContainsFunc(p.Shapes, func(a explain.ShapeAnswer) bool { return a.Verdict != explain.ShapeFails }):
		return console.ExitFailed
	}
	return console.ExitNo
}
