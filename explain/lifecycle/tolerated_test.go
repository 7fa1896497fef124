package lifecycle_test

import (
	"testing"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/explain/lifecycle"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// TestToleratedFor: a toleration without an effect keeps a pod from being evicted from 1.38 on.
func TestToleratedFor(t *testing.T) {
	taint := &resourcev1.DeviceTaint{Key: "k", Value: "v", Effect: resourcev1.DeviceTaintEffectNoExecute}
	toleration := func(effect resourcev1.DeviceTaintEffect, seconds *int64) []resourcev1.DeviceToleration {
		return []resourcev1.DeviceToleration{{Key: "k", Operator: resourcev1.DeviceTolerationOpExists, Effect: effect, TolerationSeconds: seconds}}
	}
	for _, test := range []struct {
		name        string
		minor       int
		tolerations []resourcev1.DeviceToleration
		seconds     *int64
		forever     bool
	}{
		{"no effect", 37, toleration("", nil), nil, false},
		{"no effect", 38, toleration("", nil), nil, true},
		{"no effect", 38, toleration("", ptr.To[int64](7)), ptr.To[int64](7), false},
		{"newer than is modelled", 40, toleration("", nil), nil, true},
		{"the effect", 37, toleration(resourcev1.DeviceTaintEffectNoExecute, nil), nil, true},
		{"the effect", 38, toleration(resourcev1.DeviceTaintEffectNoExecute, ptr.To[int64](-3)), ptr.To[int64](0), false},
		{"another effect", 38, toleration(resourcev1.DeviceTaintEffectNoSchedule, nil), nil, false},
	} {
		seconds, forever := lifecycle.ToleratedFor(inspect.Release{Minor: test.minor}, taint, test.tolerations)
		if !ptr.Equal(seconds, test.seconds) || forever != test.forever {
			t.Errorf("%s in 1.%d: %v, %t", test.name, test.minor, seconds, forever)
		}
	}
}
