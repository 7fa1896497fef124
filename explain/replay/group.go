package replay

import (
	"context"
	"fmt"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/explain/cycle"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// maxTogether is how many pods of a group are tried to find out whether kube-scheduler fails at one.
const maxTogether = 100

// AddGroup adds that a pod that fits may not be placed because of others of its group, also of one that needs
// no number of them: kube-scheduler takes all that wait, and while it fails at one it places none
// (podGroupSchedulingDefaultAlgorithm). They are tried in one order, each on the first node that fits.
// Whether it could fail at one if others landed elsewhere follows from the expressions of its claims.
func AddGroup(ctx context.Context, l *cycle.Limits, q *whatif.Question) error {
	if q.Pod == nil || q.Grouped || q.Pod.Spec.NodeName != "" || inspect.PodGroupOf(q.Pod) == "" {
		return nil
	}
	group := q.Cluster.Filters().Prepare(q.Pod).Together()
	if group == nil {
		return nil
	}
	add := func(format string, args ...any) {
		l.MayBeTaken = true
		l.Remarks = append(l.Remarks, fmt.Sprintf("kube-scheduler takes the %d waiting pods of %s together, and places none while it fails at one: ",
			len(group.Waiting), group.Title)+fmt.Sprintf(format, args...))
	}
	if len(group.Waiting) > maxTogether {
		add("they are too many to try")
		return nil
	}
	r, asked := New(q.Cluster, nil), map[string]bool{}
	for _, m := range GangOf(q.Cluster, q.Pod, group, cycle.Options{}).Members {
		_, w, err := r.One(ctx, m.Pod)
		if err != nil {
			return err
		}
		if w.Fails {
			add("it fails at pod %s", m.Pod.Name)
			return nil
		}
		if m.Shape != "" && asked[m.Shape] {
			continue
		}
		asked[m.Shape] = true
		if device, ok := FailsOn(ctx, q.Cluster, m.Claims); ok {
			add("it fails at pod %s if it comes to a device such as %s, where an expression fails, and whether it does depends on where the others land", m.Pod.Name, device)
			return nil
		}
	}
	return nil
}

// FailsOn finds a device for which an expression of some claims fails, or a derived attribute might. Where
// the scheduler finds others before it, it does not come to it.
func FailsOn(ctx context.Context, c *scheduler.Cluster, claims []*resourcev1.ResourceClaim) (inspect.DeviceID, bool) {
	devices, q := c.Snapshot().Devices(), whatif.Question{Claims: claims}
	for _, at := range q.RequestRefs() {
		f := whatif.FieldsOf(claims, at)
		selectors := *f.Selectors
		if class, ok := c.Snapshot().Class(*f.Class); ok {
			selectors = slices.Concat(class.Spec.Selectors, selectors)
		}
		for i := range devices {
			d := &devices[i]
			selected := true
			for s := 0; s < len(selectors) && selected; s++ {
				if cel := selectors[s].CEL; cel != nil {
					var err error
					if selected, err = c.Selectors().Selector(cel.Expression).Match(ctx, d.ID.Driver, d.Device); err != nil {
						return d.ID, true
					}
				}
			}
			if selected && f.Derived != nil && len(*f.Derived) > 0 {
				return d.ID, true
			}
		}
	}
	return inspect.DeviceID{}, false
}
