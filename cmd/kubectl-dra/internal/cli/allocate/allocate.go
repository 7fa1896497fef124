package allocate

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/inquiry"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output/allocations"
	"github.com/kubectl-dra/kubectl-dra/explain/lifecycle"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/live"
	"github.com/kubectl-dra/kubectl-dra/internal/commit"
)

// allocateOptions are a request to allocate.
type allocateOptions struct {
	writeOptions
	kind        inquiry.Kind
	names       []string
	node        string
	reserve     bool
	settle      time.Duration
	askedBefore bool // the user was asked already
}

var allocateKinds = []inquiry.Kind{inquiry.Claim, inquiry.Pod}

// NewAllocate returns the command allocate.
func NewAllocate(access *Access, completer *inquiry.Completer) *cobra.Command {
	o := &allocateOptions{writeOptions: writeOptions{Access: access}}
	cmd := &cobra.Command{
		Use:   "allocate (claim NAME... | pod NAME)",
		Short: "Allocate claims, as the scheduler would",
		Long: `Allocate claims, as the scheduler would. Several claims, and all claims of a pod,
go together onto one node.

Without --node it is the first node, by name, on which they fit. The scheduler
would choose among those nodes by its own scores.

kube-scheduler normally does this when it schedules a pod that uses the claims,
and it keeps working meanwhile. So the command announces what it is about to
take, looks again, writes, and then watches for --settle whether anybody else
took the same devices; if so, it takes its own allocation back and begins again.
The scheduler would forget such a device, so it is tainted (DeviceTaintRule)
until no claim holds it, where you may do that.
https://github.com/kubectl-dra/kubectl-dra/blob/main/docs/allocate.md describes
this, and what can still go wrong.

It asks before it writes. With --from and --demo nothing is ever written.

Exit codes: 0 they are allocated, 3 they cannot be, 1 it failed; the error says
what was written.`,
		Example: `  # What would be written?
  kubectl dra allocate claim train-1 -n ml --dry-run=client -o yaml

  # Write it, without a question
  kubectl dra allocate claim train-1 -n ml --yes

  # All claims of a pod, on one node, reserved for the pod
  kubectl dra allocate pod whisper-tiny -n infer --node mig-01 --reserve --yes`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.complete(args); err != nil {
				return err
			}
			return o.run(cmd.Context())
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.node, "node", "", "allocate for this node")
	f.BoolVar(&o.reserve, "reserve", false, "also reserve the claims for the pod that uses them")
	f.DurationVar(&o.settle, "settle", commit.DefaultSettle, "how long to watch, after writing, whether anybody else takes the same devices")
	o.addTo(cmd)
	console.CompleteArguments(cmd, "`claim`, `pod`, then names; `TYPE/NAME`", completer.Typed(allocateKinds))
	console.CompleteFlag(cmd, "node", "nodes", completer.Nodes)
	console.CompleteFlag(cmd, "settle", "a few lengths of time", console.CompleteWords("0s", "1s", "3s", "10s"))
	return cmd
}

// complete finds out what is to be allocated.
func (o *allocateOptions) complete(args []string) (err error) {
	if o.kind, o.names, err = inquiry.SplitArguments(args, allocateKinds); err != nil {
		return err
	}
	if o.kind.Resource == inspect.Pods && len(o.names) > 1 {
		return console.Usagef("allocate takes one pod at a time")
	}
	if o.settle < 0 {
		return console.Usagef("--settle is %s; it cannot be negative", o.settle)
	}
	return o.writeOptions.complete(o.names)
}

func firstDuplicate(names []string) string {
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return name
		}
	}
	return ""
}

// resources are those that the decision needs.
func (o *allocateOptions) resources() []inspect.Resource {
	if o.kind.Resource == inspect.Pods {
		return live.PodResources()
	}
	return live.DefaultResources()
}

func (o *allocateOptions) run(ctx context.Context) error {
	snapshot, err := o.Reader.Read(ctx, o.namespace, o.resources())
	if err != nil {
		return err
	}
	if o.dryRun == dryRunNone {
		return o.write(ctx, snapshot)
	}
	o.Streams.NoteHealth(snapshot, inspect.Resources())
	d, err := o.decide(ctx, snapshot)
	if err != nil {
		return err
	}
	if err := o.refuse(d); err != nil {
		return err
	}
	o.noteDecision(d)
	claims := d.Written(o.Reader.Now(snapshot))
	if o.dryRun == dryRunServer {
		committer, err := o.committer(ctx, snapshot, d)
		if err != nil {
			return err
		}
		if claims, err = committer.DryRun(ctx, d); err != nil {
			return err
		}
	}
	o.Streams.Note("dry run: nothing is written")
	return o.print(claims)
}

// refuse ends the command when the claims cannot be allocated.
func (o *allocateOptions) refuse(d *commit.Decision) error {
	if len(d.Refusal) == 0 {
		return nil
	}
	for _, line := range d.Refusal {
		o.Streams.Note("%s", line)
	}
	return console.ExitWith(console.ExitNo)
}

// noteDecision says what is noteworthy about a decision.
func (o *allocateOptions) noteDecision(d *commit.Decision) {
	for _, claim := range d.Claims {
		if claim.Status.Allocation != nil {
			o.Streams.Note("%s/%s is allocated already: left as it is", claim.Namespace, claim.Name)
		}
	}
	if d.Node != "" && o.node == "" && len(d.Snapshot.Nodes()) > 1 {
		o.Streams.Note("node %s is the first by name on which it fits; the scheduler would choose by its scores", d.Node)
	}
	for _, claim := range d.Claims {
		ref := inspect.RefOf(claim)
		if allocation := cmp.Or(d.Allocations[ref], claim.Status.Allocation); allocation != nil {
			o.noteConditions(claim, allocation)
		}
	}
}

// noteConditions says which conditions of devices a pod that uses the claim still waits for.
func (o *allocateOptions) noteConditions(claim *resourcev1.ResourceClaim, allocation *resourcev1.AllocationResult) {
	for i := range allocation.Devices.Results {
		r := &allocation.Devices.Results[i]
		waits, failed := lifecycle.OpenConditions(claim, r), lifecycle.FailedCondition(claim, r)
		device := inspect.DeviceOf(r)
		switch {
		case failed != nil:
			o.Streams.Note("%s/%s: %s has failed to bind: %s; deallocate the claim to try again", claim.Namespace, claim.Name, device, failed.Type)
		case len(waits) > 0:
			o.Streams.Note("%s/%s: a pod that uses it waits until driver %s reports %s for %s", claim.Namespace, claim.Name, r.Driver, console.CommaList(waits), device)
		}
	}
}

// dryRunMode is the dry run that this is, or "" if it is none.
func (o *writeOptions) dryRunMode() string {
	if o.dryRun == dryRunNone {
		return ""
	}
	return o.dryRun
}

// print prints the claims as they are, or would be, written.
func (o *writeOptions) print(claims []*resourcev1.ResourceClaim) error {
	switch o.format.Name {
	case "":
		return allocations.PrintAllocations(o.Streams.Out, claims, o.dryRunMode())
	case "name":
		return allocations.PrintClaimNames(o.Streams.Out, claims)
	}
	return o.format.PrintValue(o.Streams.Out, allocations.ClaimObjects(claims))
}
