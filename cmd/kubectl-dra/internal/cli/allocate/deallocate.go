package allocate

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/inquiry"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output/allocations"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/commit"
)

// deallocateOptions are a checked request to deallocate.
type deallocateOptions struct {
	writeOptions
	names []string
}

var deallocateKinds = []inquiry.Kind{inquiry.Claim}

// NewDeallocate returns the command deallocate.
func NewDeallocate(access *Access, completer *inquiry.Completer) *cobra.Command {
	o := &deallocateOptions{writeOptions: writeOptions{Access: access}}
	cmd := &cobra.Command{
		Use:   "deallocate claim NAME...",
		Short: "Clear the allocations of claims that are not reserved",
		Long: `Clear the allocations of claims, so that their devices are free for others. If one
of the claims is reserved, nothing is changed: delete the pods that use it first.

It asks before it writes. With --from and --demo nothing is ever written.

Exit codes: 0 they are not allocated any more, 1 one is reserved, or it failed.`,
		Example: `  # Free the devices of a claim
  kubectl dra deallocate claim notebook-omar -n dev --yes`,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if _, o.names, err = inquiry.SplitArguments(args, deallocateKinds); err == nil {
				err = o.complete(o.names)
			}
			if err != nil {
				return err
			}
			return o.run(cmd.Context())
		},
	}
	console.CompleteArguments(cmd, "`claim`, then names; `claim/NAME`", completer.Typed(deallocateKinds))
	o.addTo(cmd)
	return cmd
}

func (o *deallocateOptions) run(ctx context.Context) error {
	snapshot, err := o.Reader.Read(ctx, o.namespace, []inspect.Resource{inspect.Claims, inspect.TaintRules})
	if err != nil {
		return err
	}
	claims, err := o.find(snapshot)
	if reserved := (*commit.ReservedError)(nil); errors.As(err, &reserved) {
		return o.andGone(ctx, reserved)
	}
	if err != nil {
		return err
	}
	for _, claim := range claims {
		if claim.Status.Allocation == nil {
			o.Streams.Note("%s/%s is not allocated", claim.Namespace, claim.Name)
		}
	}
	if o.dryRun == dryRunClient {
		cleared := words.Each(claims, commit.Cleared)
		o.Streams.Note("dry run: nothing is written")
		return o.print(cleared, claims)
	}
	c, err := o.committer(ctx, snapshot)
	if err != nil {
		return err
	}
	if o.dryRun == dryRunServer {
		cleared, err := c.DryRunDeallocate(ctx, claims)
		if err != nil {
			return err
		}
		o.Streams.Note("dry run: nothing is written")
		return o.print(cleared, claims)
	}
	var shown []*resourcev1.ResourceClaim
	if !o.yes {
		if err := o.confirm(ctx, snapshot, claims); err != nil {
			return err
		}
		shown = claims
	}
	return o.clear(ctx, c, claims, shown)
}

// committer returns what writes.
func (o *deallocateOptions) committer(ctx context.Context, snapshot *inspect.Snapshot) (*commit.Committer, error) {
	api, err := o.api(ctx, snapshot, commit.Needed(snapshot.Features(), commit.Deallocating, []string{o.namespace}, false))
	if err != nil {
		return nil, err
	}
	c := o.newCommitter(ctx, api, snapshot)
	c.Settle = commit.DefaultSettle
	c.Read = func(ctx context.Context) (*inspect.Snapshot, error) {
		return o.Reader.Read(ctx, o.namespace, []inspect.Resource{inspect.Claims, inspect.Slices})
	}
	return c, nil
}

// clear deallocates the claims, if they are as they were shown. When that ends early it says how far it came.
func (o *deallocateOptions) clear(ctx context.Context, c *commit.Committer, claims, shown []*resourcev1.ResourceClaim) error {
	refs := words.Each(claims, inspect.RefOf)
	o.Grace.Extend()
	written, err := c.Deallocate(ctx, refs, shown...)
	if err == nil {
		return o.print(withSpecs(written, claims), claims)
	}
	for i, claim := range claims {
		was := claim.Status.Allocation != nil
		done := slices.ContainsFunc(written, func(w *resourcev1.ResourceClaim) bool { return w.Name == claim.Name && w.Namespace == claim.Namespace })
		switch {
		case was && done:
			o.Streams.Note("%s is deallocated all the same", refs[i])
		case was && len(written) > 0:
			o.Streams.Note("%s is left as it was", refs[i])
		}
	}
	return err
}

// find looks the claims up and refuses those that are reserved.
func (o *deallocateOptions) find(s *inspect.Snapshot) ([]*resourcev1.ResourceClaim, error) {
	var claims []*resourcev1.ResourceClaim
	for _, name := range o.names {
		claim, ok := s.Claim(inspect.ClaimRef{Namespace: o.namespace, Name: name})
		if !ok {
			return nil, inquiry.NotFound(s, inquiry.Claim, o.namespace, name)
		}
		if len(claim.Status.ReservedFor) > 0 {
			return nil, &commit.ReservedError{
				Claim: inspect.ClaimRef{Namespace: o.namespace, Name: name}, Consumers: claim.Status.ReservedFor,
			}
		}
		claims = append(claims, claim)
	}
	return claims, nil
}

// andGone says of a claim that is reserved which of the pods that it is reserved for are gone.
func (o *deallocateOptions) andGone(ctx context.Context, reserved *commit.ReservedError) error {
	s, err := o.Reader.Read(ctx, o.namespace, []inspect.Resource{inspect.Pods})
	if err != nil {
		return reserved
	}
	gone := s.ReservedByGone(&resourcev1.ResourceClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: reserved.Claim.Namespace}, Status: resourcev1.ResourceClaimStatus{ReservedFor: reserved.Consumers},
	})
	if len(gone) == 0 {
		return reserved
	}
	return fmt.Errorf("%w; %s of these %s not exist (%s): the resourceclaim controller of kube-controller-manager removes such a reservation within seconds, unless it is not running",
		reserved, words.Count(len(gone), "pod"), words.Plural(len(gone), "does", "do"), words.Shorten(gone, 5))
}

// withSpecs returns claims as they were written, with the specs that were read at the newest version.
func withSpecs(written, read []*resourcev1.ResourceClaim) []*resourcev1.ResourceClaim {
	specs := map[string]resourcev1.ResourceClaimSpec{}
	for _, claim := range read {
		specs[claim.Name] = claim.Spec
	}
	out := make([]*resourcev1.ResourceClaim, len(written))
	for i, claim := range written {
		out[i] = claim.DeepCopy()
		out[i].Spec = specs[claim.Name]
	}
	return out
}

// confirm asks whether the allocations are to be cleared.
func (o *deallocateOptions) confirm(ctx context.Context, snapshot *inspect.Snapshot, claims []*resourcev1.ResourceClaim) error {
	o.Streams.Note("To be cleared:")
	for _, claim := range claims {
		if claim.Status.Allocation != nil {
			o.Streams.Note("  %s/%s holds %s", claim.Namespace, claim.Name, devicesText(devicesOf(claim.Status.Allocation)))
		}
	}
	if h := snapshot.Health(inspect.Claims); h.Partial() {
		o.Streams.Note("  whether other claims hold these devices, too, is not known: %s", console.HealthText(inspect.Claims, h))
	}
	o.Streams.Note("kube-controller-manager normally does this, when the last pod that uses a claim is gone.")
	yes, err := o.ask(ctx, "Deallocate?")
	if err == nil && !yes {
		err = commit.ErrDeclined
	}
	return err
}

func devicesOf(allocation *resourcev1.AllocationResult) []inspect.DeviceID {
	var out []inspect.DeviceID
	for i := range allocation.Devices.Results {
		r := &allocation.Devices.Results[i]
		out = append(out, inspect.DeviceOf(r))
	}
	return out
}

// print prints the claims as they are, or would be, written; as a line only those that were allocated before.
func (o *deallocateOptions) print(claims, before []*resourcev1.ResourceClaim) error {
	if o.format.Name != "" {
		return o.writeOptions.print(claims)
	}
	allocated := slices.DeleteFunc(slices.Clone(before), func(c *resourcev1.ResourceClaim) bool { return c.Status.Allocation == nil })
	return allocations.PrintDeallocations(o.Streams.Out, allocated, o.dryRunMode())
}
