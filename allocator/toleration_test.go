package allocator

import (
	"testing"

	resourcev1 "k8s.io/api/resource/v1"
)

func TestTolerated(t *testing.T) {
	taint := &resourcev1.DeviceTaint{Key: "k", Value: "v", Effect: resourcev1.DeviceTaintEffectNoExecute}
	for _, tt := range []struct {
		name       string
		toleration resourcev1.DeviceToleration
		want       bool
	}{
		{"exists", resourcev1.DeviceToleration{Key: "k", Operator: resourcev1.DeviceTolerationOpExists, Value: "other"}, true},
		{"equal", resourcev1.DeviceToleration{Key: "k", Operator: resourcev1.DeviceTolerationOpEqual, Value: "v"}, true},
		{"equal by default", resourcev1.DeviceToleration{Key: "k", Value: "v"}, true},
		{"another value", resourcev1.DeviceToleration{Key: "k", Value: "w"}, false},
		{"another key", resourcev1.DeviceToleration{Key: "l", Value: "v"}, false},
		{"every key", resourcev1.DeviceToleration{Operator: resourcev1.DeviceTolerationOpExists}, true},
		{"the effect", resourcev1.DeviceToleration{Key: "k", Value: "v", Effect: resourcev1.DeviceTaintEffectNoExecute}, true},
		{"another effect", resourcev1.DeviceToleration{Key: "k", Value: "v", Effect: resourcev1.DeviceTaintEffectNoSchedule}, false},
		{"an unknown operator", resourcev1.DeviceToleration{Key: "k", Operator: "Like", Value: "v"}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tolerations := []resourcev1.DeviceToleration{{Key: "none", Value: "none"}, tt.toleration}
			if got := Tolerated(taint, tolerations); got != tt.want {
				t.Errorf("tolerated %t, want %t", got, tt.want)
			}
			if got := Untolerated([]resourcev1.DeviceTaint{*taint}, tolerations) == nil; got != tt.want {
				t.Errorf("no untolerated taint: %t, want %t", got, tt.want)
			}
		})
	}
	if Untolerated([]resourcev1.DeviceTaint{{Key: "k", Effect: "None"}}, nil) != nil {
		t.Error("a taint without consequence keeps a device off")
	}
}
