package flip

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/cycle"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// Diff is what became of the claims and pods of a cluster between two moments.
type Diff struct {
	Step *Step
	// Counts are how many objects changed, by kind.
	Counts []Count
	// Flips are the claims and pods in both moments of which the verdict differs, or the devices: by kind,
	// namespace and name.
	Flips []Flip
	// Made are those that are only in the later moment, and Gone those that are only in the one before. What
	// may be there without having been read is in neither.
	Made, Gone []Flip
	// Undecided are those of which it was not decided what holds of them, because too many wait.
	Undecided []explain.Subject
	// Partial says what could not be read of either moment.
	Partial []string
}

// Count is how many objects of a kind changed.
type Count struct {
	Kind                inspect.Kind
	Made, Gone, Changed int
}

// Flip is a claim or pod of which something else holds after than before.
type Flip struct {
	Subject explain.Subject
	// Before and After are the verdicts. One of them is "" if the subject was not there.
	Before, After explain.Verdict
	// Had and Has are the devices before and after, of a claim, and From and To the nodes, of a pod.
	Had, Has []inspect.DeviceID
	From, To inspect.NodeName
	// By is what did it. It has no changes if that was not found.
	By Culprits
}

const (
	// workload bounds how many verdicts there are, times the number of nodes.
	workload = 2_000_000
	// mostVerdicts is how many subjects are decided about at most, and leastVerdicts how many in any cluster.
	mostVerdicts, leastVerdicts = 2000, 50
	// mostTrials and leastTrials are the same of verdicts to find what did it, and trialsOfOne is how many
	// there are for one flip.
	mostTrials, leastTrials, trialsOfOne = 4000, 200, 100
)

// comparison is a Diff that is being made.
type comparison struct {
	*Diff
	before, after *scheduler.Cluster
	verdicts      int // how many may still be asked for
	trials        int
	known         []Culprits
}

// Compare says what became of claims and pods between two snapshots. The error is that of the context, or of
// an allocation that is no abort.
func Compare(ctx context.Context, before, after *inspect.Snapshot) (*Diff, error) {
	step, err := NewStep(before, after)
	if err != nil {
		return nil, err
	}
	d := &Diff{Step: step, Counts: counts(step)}
	if len(step.Changes) == 0 {
		return d, nil
	}
	nodes := max(1, len(before.Nodes()), len(after.Nodes()))
	c := &comparison{
		Diff: d, before: scheduler.NewCluster(before, scheduler.Options{}),
		verdicts: max(leastVerdicts, min(mostVerdicts, workload/nodes)), trials: max(leastTrials, min(mostTrials, workload/nodes)),
	}
	c.after = scheduler.NewCluster(after, scheduler.Options{Like: c.before})
	if err := c.compareAll(ctx); err != nil {
		return nil, err
	}
	for i := range d.Flips {
		if err := c.explain(ctx, &d.Flips[i]); err != nil {
			return nil, err
		}
	}
	for _, s := range []*inspect.Snapshot{before, after} {
		for _, limit := range cycle.Unread(s) {
			if !slices.Contains(d.Partial, limit) {
				d.Partial = append(d.Partial, limit)
			}
		}
	}
	return d, nil
}

// counts counts changes by kind, in the order of kinds. An object that is missing where not all were read
// counts as no change.
func counts(step *Step) (out []Count) {
	for _, c := range step.Changes {
		if c.Change == nil || c.Before == nil && mayBe(step.Before, c.Kind.Resource, c.After) || c.After == nil && mayBe(step.After, c.Kind.Resource, c.Before) {
			continue
		}
		if n := len(out); n == 0 || out[n-1].Kind.Resource != c.Kind.Resource {
			out = append(out, Count{Kind: c.Kind})
		}
		of := &out[len(out)-1]
		switch {
		case c.Before == nil:
			of.Made++
		case c.After == nil:
			of.Gone++
		default:
			of.Changed++
		}
	}
	return out
}

// mayBe reports whether an object that is not in a snapshot may be there all the same, since not all of its
// kind was read.
func mayBe(s *inspect.Snapshot, r inspect.Resource, o metav1.Object) bool {
	return s.Health(r).PartialIn(o.GetNamespace())
}

// missed reports whether one of two is nil because it was not read.
func (c *comparison) missed(old, updated metav1.Object) bool {
	switch {
	case old == nil:
		return mayBe(c.before.Snapshot(), resourceOf(updated), updated)
	case updated == nil:
		return mayBe(c.after.Snapshot(), resourceOf(old), old)
	}
	return false
}

func resourceOf(o metav1.Object) inspect.Resource {
	if _, ok := o.(*corev1.Pod); ok {
		return inspect.Pods
	}
	return inspect.Claims
}

func (c *comparison) compareAll(ctx context.Context) error {
	both := map[explain.Subject][2]metav1.Object{}
	for i, s := range []*inspect.Snapshot{c.before.Snapshot(), c.after.Snapshot()} {
		for _, o := range subjects(s) {
			pair := both[cycle.SubjectOf(o)]
			pair[i] = cmp.Or(pair[i], o)
			both[cycle.SubjectOf(o)] = pair
		}
	}
	for _, subject := range slices.SortedFunc(maps.Keys(both), func(a, b explain.Subject) int {
		return cmp.Or(strings.Compare(b.Kind, a.Kind), strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	}) {
		if err := c.compare(ctx, both[subject][0], both[subject][1]); err != nil {
			return err
		}
	}
	return nil
}

// subjects are the claims and pods of a snapshot about which there can be a question: not pods that have
// ended.
func subjects(s *inspect.Snapshot) []metav1.Object {
	var out []metav1.Object
	for _, claim := range s.Objects().Claims {
		out = append(out, claim)
	}
	for _, pod := range s.Objects().Pods {
		if !inspect.Ended(pod) {
			out = append(out, pod)
		}
	}
	return out
}

// compare notes what became of a subject, of which one may be nil.
func (c *comparison) compare(ctx context.Context, old, updated metav1.Object) error {
	if c.missed(old, updated) {
		return nil
	}
	f := Flip{}
	if old != nil {
		f.Subject, f.Had, f.From = cycle.SubjectOf(old), held(old), placed(old)
	}
	if updated != nil {
		f.Subject, f.Has, f.To = cycle.SubjectOf(updated), held(updated), placed(updated)
	}
	if settled(c.before.Snapshot(), old) && settled(c.after.Snapshot(), updated) && slices.Equal(f.Had, f.Has) && f.From == f.To {
		return nil
	}
	var err error
	if f.Before, err = c.verdict(ctx, c.before, old); err != nil {
		return err
	}
	if f.After, err = c.verdict(ctx, c.after, updated); err != nil {
		return err
	}
	switch {
	case old != nil && f.Before == "" || updated != nil && f.After == "":
		c.Undecided = append(c.Undecided, f.Subject)
	case old == nil:
		c.Made = append(c.Made, f)
	case updated == nil:
		c.Gone = append(c.Gone, f)
	case f.Before != f.After || !slices.Equal(f.Had, f.Has) || f.From != f.To:
		c.Flips = append(c.Flips, f)
	}
	return nil
}

// held are the devices of a claim.
func held(o metav1.Object) (out []inspect.DeviceID) {
	claim, ok := o.(*resourcev1.ResourceClaim)
	if !ok || claim.Status.Allocation == nil {
		return nil
	}
	for i := range claim.Status.Allocation.Devices.Results {
		out = append(out, inspect.DeviceOf(&claim.Status.Allocation.Devices.Results[i]))
	}
	return out
}

// placed is the node of a pod.
func placed(o metav1.Object) inspect.NodeName {
	if pod, ok := o.(*corev1.Pod); ok {
		return inspect.NodeName(pod.Spec.NodeName)
	}
	return ""
}

// settled reports whether a subject has what it asks for. A pod may be on a node although its claims have no
// devices.
func settled(s *inspect.Snapshot, o metav1.Object) bool {
	switch o := o.(type) {
	case *resourcev1.ResourceClaim:
		return o.Status.Allocation != nil
	case *corev1.Pod:
		return o.Spec.NodeName != "" && len(question.PendingClaims(s, o)) == 0
	}
	return false
}

// verdict is "" if there is no subject, or it is not decided.
func (c *comparison) verdict(ctx context.Context, cluster *scheduler.Cluster, subject metav1.Object) (explain.Verdict, error) {
	if subject == nil {
		return "", nil
	}
	if settled(cluster.Snapshot(), subject) {
		return explain.Allocated, nil
	}
	if c.verdicts == 0 {
		return "", nil
	}
	c.verdicts--
	d, err := question.Decide(ctx, cluster, subject, question.Options{})
	if err != nil {
		return "", err //nolint:wrapcheck // it names the subject
	}
	return d.Verdict, nil
}

// explain finds what did it.
func (c *comparison) explain(ctx context.Context, f *Flip) error {
	own := slices.IndexFunc(c.Step.Changes, func(change Change) bool {
		return change.Change != nil && cycle.SubjectOf(change.Object()) == f.Subject && change.Kind.Name == f.Subject.Kind
	})
	if f.Before == f.After { // other devices, or another node: so it says itself
		if own >= 0 {
			f.By = Culprits{Changes: c.Step.Changes[own : own+1], Undoing: true}
		}
		return nil
	}
	if c.trials <= 0 {
		return nil
	}
	j := &Judge{subject: f.Subject, like: c.after}
	known := c.known
	if own >= 0 {
		known = append([]Culprits{{Changes: c.Step.Changes[own : own+1]}}, known...)
	}
	found, err := j.Culprits(ctx, c.Step, f.Before, f.After, known, min(c.trials, trialsOfOne))
	c.trials -= j.Asked
	if f.By = found; err == nil && len(found.Changes) > 0 && !slices.ContainsFunc(known, func(k Culprits) bool { return slices.Equal(k.Changes, found.Changes) }) {
		c.known = append([]Culprits{found}, c.known[:min(len(c.known), 4)]...)
	}
	return err
}
