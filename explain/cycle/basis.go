package cycle

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// BasisOf says by the rules of which scheduler a cluster decides about pods, or about whatever is asked if
// none are named.
func BasisOf(c *scheduler.Cluster, pods ...*corev1.Pod) explain.Basis {
	s := c.Snapshot()
	f := s.Features()
	b := explain.Basis{Version: s.ServerVersion(), Variant: c.Variant(), Source: f.Source, Usual: f.Minor == inspect.NewestMinor && f.Default(), Revision: s.Revision(), Read: s.Time()}
	if s.Recorded() {
		b.AsOf = s.Time().UTC()
	}
	release := s.Release()
	if b.Version == "" || release != release.Modelled() {
		b.Version = release.Modelled().String()
	} else if release.AnyPatch && release.Minor <= inspect.NewestMinor {
		b.Version = release.String()
		b.Remarks = append(b.Remarks, fmt.Sprintf(
			"the patch release of the server is not known; this is decided by the rules of %s, and later patches differ", release))
	}
	b.Version = strings.TrimPrefix(b.Version, "v")
	if caveat := release.Caveat(); caveat != "" {
		b.Remarks = append(b.Remarks, caveat)
	}
	if release.Before(35, 0) && (f.Enabled(inspect.GatePartitionableDevices) || f.Enabled(inspect.GateConsumableCapacity)) {
		b.Remarks = append(b.Remarks, "shared counters and consumable capacity, alpha in 1.34, are decided by the rules of 1.35")
	}
	addProfiles(&b, s, pods)
	switch {
	case release.Before(36, 0):
		b.Remarks = append(b.Remarks, fmt.Sprintf(
			"Kubernetes 1.%d does not define the order of devices; the devices named are one possible choice", release.Modelled().Minor))
	case c.Variant() == allocator.Stable && release.Before(38, 0):
		b.Remarks = append(b.Remarks, "with these features the scheduler runs its stable allocator, which does not define the order of devices; the devices named are one possible choice")
	}
	return b
}

// addProfiles says which profiles of the configuration of kube-scheduler decide about pods. All may, if none
// are named.
func addProfiles(b *explain.Basis, s *inspect.Snapshot, pods []*corev1.Pod) {
	config := s.Scheduler()
	switch {
	case config == nil:
		return
	case config.Unreadable() != "":
		b.Usual = false
		b.Remarks = append(b.Remarks, config.Unreadable())
		return
	}
	for _, name := range config.Names() {
		if len(pods) == 0 || slices.ContainsFunc(pods, func(pod *corev1.Pod) bool { return cmp.Or(pod.Spec.SchedulerName, corev1.DefaultSchedulerName) == name }) {
			b.Profiles = append(b.Profiles, name)
		}
	}
	if len(b.Profiles) == 0 {
		return // another scheduler decides
	}
	from := "that was given"
	if config.Origin != "" {
		from = "in " + config.Origin
	}
	b.Usual = false
	b.Remarks = append(b.Remarks, "decided by the configuration of kube-scheduler "+from+", with "+words.Plural(len(b.Profiles), "profile ", "profiles ")+words.And(b.Profiles))
}

// Unread says, in a sentence for each, what could not be read of a cluster and what that means for answers.
func Unread(s *inspect.Snapshot) []string { return LimitsOf(s).Remarks }
