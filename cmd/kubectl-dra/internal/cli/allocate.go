package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// allocateFlags are the flags of kubectl dra allocate.
type allocateFlags struct {
	node, dryRun, output, template string
	reserve, yes                   bool
}

// allocateOptions are a checked wish.
type allocateOptions struct {
	src       *source
	kind      kind
	names     []string
	node      inspect.NodeName
	reserve   bool
	format    output.Format
	namespace string
}

var allocateKinds = []kind{kindClaim, kindPod}

func newAllocate(src *source) *cobra.Command {
	flags := &allocateFlags{}
	cmd := &cobra.Command{
		Use:   "allocate (claim NAME... | pod NAME)",
		Short: "Allocate claims, as the scheduler would",
		Long: `Allocate claims, as the scheduler would. Several claims, and all claims of a pod,
go together onto one node.

Without --node it is the first node, by name, on which they fit. The scheduler
would choose among those nodes by its own scores.

Only --dry-run=client is built yet: it shows the ResourceClaims as they would be
written and writes nothing. It is the default with --from and --demo.`,
		Example: `  # What would be written?
  kubectl dra allocate claim train-0 -n ml --dry-run=client -o yaml

  # All claims of a pod, on one node
  kubectl dra allocate pod train-0 -n ml --node gpu-a-01 --dry-run=client`,
		ValidArgsFunction: src.completeTyped(allocateKinds),
		RunE: func(cmd *cobra.Command, args []string) error {
			options, err := flags.toOptions(src, args)
			if err != nil {
				return err
			}
			return options.run(cmd.Context())
		},
	}
	f := cmd.Flags()
	f.StringVar(&flags.node, "node", "", "allocate for this node")
	f.StringVar(&flags.dryRun, "dry-run", "", "none, server, or client: write nothing and show what would be written")
	f.Lookup("dry-run").NoOptDefVal = "client"
	f.BoolVar(&flags.reserve, "reserve", false, "also reserve the claims for the pod that uses them")
	f.BoolVarP(&flags.yes, "yes", "y", false, "do not ask before writing")
	addOutputFlags(cmd, &flags.output, &flags.template, output.NamedFormats)
	completeFlag(cmd, "node", src.completeNodes)
	return cmd
}

func (f *allocateFlags) toOptions(src *source, args []string) (*allocateOptions, error) {
	o := &allocateOptions{src: src, node: inspect.NodeName(f.node), reserve: f.reserve}
	var err error
	if o.format, err = parseOutput(f.output, f.template, output.NamedFormats); err != nil {
		return nil, err
	}
	if o.kind, o.names, err = splitArguments(args, allocateKinds); err != nil {
		return nil, err
	}
	if o.kind.resource == inspect.Pods && len(o.names) > 1 {
		return nil, usagef("allocate takes one pod at a time")
	}
	if twice := firstTwice(o.names); twice != "" {
		return nil, usagef("claim %q is named twice", twice)
	}
	switch {
	case !slices.Contains([]string{"", "none", "client", "server"}, f.dryRun):
		return nil, usagef("--dry-run is %q; it can be none, client or server", f.dryRun)
	case f.dryRun != "client" && !src.offline():
		return nil, usagef("writing is not built yet: use --dry-run=client")
	}
	o.namespace, err = src.namespace()
	return o, err
}

func firstTwice(names []string) string {
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return name
		}
	}
	return ""
}

// wish is what is to be allocated.
type wish struct {
	// claims are all that were asked for, in the order asked; pending are those without an allocation.
	claims, pending []*resourcev1.ResourceClaim
	pod             *corev1.Pod // nil when claims were named
}

func (o *allocateOptions) run(ctx context.Context) error {
	snapshot, err := o.src.read(ctx, o.namespace, nil)
	if err != nil {
		return err
	}
	if _, ok := snapshot.Node(o.node); o.node != "" && !ok {
		return notFound(snapshot, kindNode, "", string(o.node))
	}
	w, err := o.find(snapshot)
	if err != nil {
		return err
	}
	o.src.noteHealth(snapshot, inspect.Resources())
	if err := o.allocate(ctx, snapshot, w); err != nil {
		return err
	}
	o.src.note("dry run: nothing is written")
	return o.print(w.claims)
}

// find looks up what is to be allocated.
func (o *allocateOptions) find(s *inspect.Snapshot) (*wish, error) {
	w := &wish{}
	names := o.names
	if o.kind.resource == inspect.Pods {
		pod, ok := s.Pod(inspect.PodRef{Namespace: o.namespace, Name: o.names[0]})
		if !ok {
			return nil, notFound(s, kindPod, o.namespace, o.names[0])
		}
		w.pod = pod
		var err error
		if names, err = claimsOfPod(pod); err != nil {
			return nil, err
		}
	}
	for _, name := range names {
		claim, ok := s.Claim(inspect.ClaimRef{Namespace: o.namespace, Name: name})
		if !ok {
			return nil, notFound(s, kindClaim, o.namespace, name)
		}
		if err := usable(claim, w.pod); err != nil {
			return nil, err
		}
		w.claims = append(w.claims, claim)
		if claim.Status.Allocation != nil {
			o.src.note("%s/%s is allocated already: left as it is", claim.Namespace, claim.Name)
			continue
		}
		w.pending = append(w.pending, claim)
	}
	return w, nil
}

// claimsOfPod names the claims of a pod in the order of its spec.
func claimsOfPod(pod *corev1.Pod) ([]string, error) {
	var names []string
	for i := range pod.Spec.ResourceClaims {
		entry := &pod.Spec.ResourceClaims[i]
		name, ok := inspect.ClaimNameFor(pod, entry)
		if !ok {
			template := ""
			if entry.ResourceClaimTemplateName != nil {
				template = *entry.ResourceClaimTemplateName
			}
			return nil, fmt.Errorf("pod %s/%s: the claim %q, to be made from template %q, does not exist yet; \"kubectl dra explain pod %s\" works without it",
				pod.Namespace, pod.Name, entry.Name, template, pod.Name)
		}
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("pod %s/%s uses no resource claims", pod.Namespace, pod.Name)
	}
	return names, nil
}

// usable refuses claims that the scheduler would not allocate.
func usable(claim *resourcev1.ResourceClaim, pod *corev1.Pod) error {
	if claim.DeletionTimestamp != nil {
		return fmt.Errorf("resourceclaim %s/%s is being deleted", claim.Namespace, claim.Name)
	}
	if pod == nil {
		return nil
	}
	for _, owner := range claim.OwnerReferences {
		if owner.Controller != nil && *owner.Controller && owner.Kind == "Pod" && owner.UID != pod.UID {
			return fmt.Errorf("resourceclaim %s/%s belongs to another pod, %s", claim.Namespace, claim.Name, owner.Name)
		}
	}
	return nil
}

// allocate replaces the pending claims of w by copies as they would be written.
func (o *allocateOptions) allocate(ctx context.Context, s *inspect.Snapshot, w *wish) error {
	if len(w.pending) == 0 {
		return nil
	}
	cluster := allocator.NewCluster(s, allocator.Options{})
	nodes, err := o.candidates(ctx, cluster, w)
	if err != nil {
		return err
	}
	result, err := firstFit(ctx, cluster, nodes, w.pending)
	if err != nil {
		return err
	}
	if result == nil {
		o.src.note("%s cannot be allocated together on %s", commaList(claimNames(w.claims)), o.where())
		return answered(exitNo)
	}
	if o.node == "" && len(s.Nodes()) > 1 {
		o.src.note("node %s is the first by name on which it fits; the scheduler would choose by its scores", result.Node)
	}
	return o.fill(s, w, result)
}

// fill puts the allocations into copies of the claims.
func (o *allocateOptions) fill(s *inspect.Snapshot, w *wish, result *allocator.Result) error {
	binding := s.Features().Enabled(inspect.GateDeviceBindingConditions) && s.Features().Enabled(inspect.GateDeviceStatus)
	for i, claim := range w.pending {
		written := claim.DeepCopy()
		allocation := result.Allocations[i].DeepCopy()
		if err := addShareIDs(allocation); err != nil {
			return err
		}
		written.Status.Allocation = allocation
		if !slices.Contains(written.Finalizers, resourcev1.Finalizer) {
			written.Finalizers = append(written.Finalizers, resourcev1.Finalizer)
		}
		if o.reserve {
			pod, err := o.consumer(s, w, claim)
			if err != nil {
				return err
			}
			written.Status.ReservedFor = append(written.Status.ReservedFor, *pod)
		}
		if binding {
			now := o.src.now(s)
			written.Status.Allocation.AllocationTimestamp = &now
		}
		w.claims[slices.Index(w.claims, claim)] = written
	}
	return nil
}

// consumer is the pod for which a claim is reserved.
func (o *allocateOptions) consumer(s *inspect.Snapshot, w *wish, claim *resourcev1.ResourceClaim) (*resourcev1.ResourceClaimConsumerReference, error) {
	pod := w.pod
	if pod == nil {
		users := s.PodsOf(inspect.ClaimRef{Namespace: claim.Namespace, Name: claim.Name})
		if len(users) != 1 {
			return nil, usagef("--reserve: %d pods use %s/%s; say which with \"kubectl dra allocate pod NAME --reserve\"", len(users), claim.Namespace, claim.Name)
		}
		pod, _ = s.Pod(users[0])
	}
	if pod == nil || pod.UID == "" {
		return nil, fmt.Errorf("reserving %s/%s: the uid of its pod is not known", claim.Namespace, claim.Name)
	}
	return &resourcev1.ResourceClaimConsumerReference{Resource: "pods", Name: pod.Name, UID: pod.UID}, nil
}
