package inspect_test

import (
	"testing"

	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// TestSince: what a patch release of several minor releases changed is so from that patch on, and in all
// newer minor releases. A patch that is not known is taken for the newest that was looked at: that of 1.36 is
// 1.36.6, that of 1.37 is 1.37.2.
func TestSince(t *testing.T) {
	since := inspect.Since{35: 11, 36: 7, 37: 1}
	for release, want := range map[inspect.Release]bool{
		{Minor: 34, Patch: 99}: false, {Minor: 34, Patch: inspect.LatestPatch}: false, {Minor: 35, Patch: 10}: false, {Minor: 35, Patch: 11}: true,
		{Minor: 36, Patch: 6}: false, {Minor: 36, Patch: 7}: true, {Minor: 36, Patch: inspect.LatestPatch}: false,
		{Minor: 37}: false, {Minor: 37, Patch: 1}: true, {Minor: 37, Patch: inspect.LatestPatch}: true, {Minor: 38}: true,
	} {
		if got := since.In(release); got != want {
			t.Errorf("%s: %t, want %t", release, got, want)
		}
	}
}

// TestRuleWithoutSelector: kube-scheduler up to 1.37.0 adds the taint of a DeviceTaintRule without a device
// selector to every device (resourceslice/tracker), from 1.37.1 on to none. 1.34.13, 1.35.10 and 1.36.6 have
// no fix, so it is not assumed that later patches have it.
func TestRuleWithoutSelector(t *testing.T) {
	slice := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: "s"}}
	slice.Spec.Driver, slice.Spec.AllNodes = "d", new(true)
	slice.Spec.Pool = resourcev1.ResourcePool{Name: "p", ResourceSliceCount: 1}
	slice.Spec.Devices = []resourcev1.Device{{Name: "a"}, {Name: "b"}}
	rule := &resourcev1.DeviceTaintRule{ObjectMeta: metav1.ObjectMeta{Name: "r"}}
	rule.Spec.Taint = resourcev1.DeviceTaint{Key: "k", Effect: resourcev1.DeviceTaintEffectNoSchedule}
	for _, test := range []struct {
		server string
		minor  int
		off    bool // the gate DRADeviceTaintRules
		want   int
	}{
		{"v1.34.0", 34, false, 2}, {"v1.34.13", 34, false, 2}, {"v1.34.14", 34, false, 2},
		{"v1.35.0", 35, false, 2}, {"v1.35.10", 35, false, 2}, {"v1.35.11", 35, false, 2},
		{"v1.36.0", 36, false, 2}, {"v1.36.6", 36, false, 2}, {"v1.36.7", 36, false, 2}, {"", 36, false, 2},
		{"v1.37.0", 37, false, 2}, {"v1.37.0", 37, true, 0}, {"v1.37.1", 37, false, 0}, {"v1.37.2", 37, false, 0},
		{"", 37, false, 0}, {"v1.38.0", 38, false, 0},
		// It is not known which patch it is.
		{"v1.37", 37, false, 2}, {"v1.37", 36, false, 2}, {"v1.37+", 37, false, 2}, {"v", 37, false, 2},
		// What distributions append says nothing; a candidate does not have what it is a candidate for.
		{"v1.37.1-gke.100", 37, false, 0}, {"v1.37.1+k3s1", 37, false, 0},
		{"v1.37.1-rc.0", 37, false, 2}, {"v1.37.2-rc.0.7+0123456789abcd", 37, false, 0}, {"v1.37.0-rc.1", 37, false, 2},
	} {
		gates := map[inspect.Gate]bool{inspect.GateDeviceTaints: true, inspect.GateDeviceTaintRules: !test.off}
		s := inspect.New(inspect.Objects{Slices: []*resourcev1.ResourceSlice{slice}, TaintRules: []*resourcev1.DeviceTaintRule{rule}}, inspect.Config{
			Features: inspect.DefaultFeatures(test.minor).With(gates), ServerVersion: test.server,
		})
		tainted := 0
		for d := range s.Inventory().Newest() {
			tainted += len(d.Device.Taints)
			if got := len(s.RulesBehind(d.ID, &rule.Spec.Taint)); got != test.want/2 {
				t.Errorf("%s %d: %d rules behind the taint", test.server, test.minor, got)
			}
		}
		if tainted != test.want {
			t.Errorf("%s %d: %d devices are tainted, want %d", test.server, test.minor, tainted, test.want)
		}
	}
}

// TestTaintRulesOfOldReleases: 1.34 has no gate for DeviceTaintRules, that for taints turns them on, whoever
// sets it.
func TestTaintRulesOfOldReleases(t *testing.T) {
	for minor, want := range map[int]bool{34: true, 35: false, 36: false, 37: true} {
		f := inspect.DefaultFeatures(minor).With(map[inspect.Gate]bool{inspect.GateDeviceTaints: true})
		if got := f.Enabled(inspect.GateDeviceTaintRules); got != want {
			t.Errorf("1.%d with DRADeviceTaints: taint rules %t, want %t", minor, got, want)
		}
	}
}
