package lifecycle

import (
	"testing"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// TestDeviceLike: a CDI device that is called like one device alone, among several, may be it.
func TestDeviceLike(t *testing.T) {
	a, b := inspect.DeviceID{Driver: "d", Pool: "p", Device: "gpu-0"}, inspect.DeviceID{Driver: "d", Pool: "p", Device: "gpu-3"}
	other := inspect.DeviceID{Driver: "d", Pool: "q", Device: "gpu-3"}
	for id, test := range map[string]struct {
		devices []inspect.DeviceID
		want    inspect.DeviceID
	}{
		"x/gpu=gpu-3": {[]inspect.DeviceID{a, b}, b}, "x/gpu=GPU-1": {[]inspect.DeviceID{a, b}, inspect.DeviceID{}},
		"gpu-3": {[]inspect.DeviceID{a, b}, inspect.DeviceID{}}, "y/gpu=gpu-3": {[]inspect.DeviceID{a, b, other}, inspect.DeviceID{}},
	} {
		if got := deviceLike(test.devices, id); got != test.want {
			t.Errorf("%s: %s, want %s", id, got, test.want)
		}
	}
}
