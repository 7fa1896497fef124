package archive

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// TestFieldCount: what an object holds is counted whatever it is nested in, up to the limit.
func TestFieldCount(t *testing.T) {
	pod := &corev1.Pod{}
	pod.Spec.Containers = make([]corev1.Container, 1000)
	data, err := pod.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	if n := fieldCount(data, 1<<20); n < 1000 || n > 50_000 {
		t.Errorf("%d values of a pod with 1000 containers", n)
	}
	if n := fieldCount(data, 500); n != 500 {
		t.Errorf("%d values, the limit is 500", n)
	}
	for _, broken := range []string{"\xff\xff", "\x0b", "\x0c", "\x02\x00", "\x0f", "\x12\x03ab"} {
		if n := fieldCount([]byte(broken), 10); n != 0 {
			t.Errorf("%d values of %q", n, broken)
		}
	}
}
