package wire

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// TestValues: what an object holds is counted whatever it is nested in, up to the limit.
func TestValues(t *testing.T) {
	pod := &corev1.Pod{}
	pod.Spec.Containers = make([]corev1.Container, 1000)
	data, err := pod.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	if n := Values(data, 1<<20); n < 1000 || n > 50_000 {
		t.Errorf("%d values of a pod with 1000 containers", n)
	}
	if n := Values(data, 500); n != 500 {
		t.Errorf("%d values, the limit is 500", n)
	}
	if n := Values([]byte("\xff\xff"), 10); n != 0 {
		t.Errorf("%d values of garbage", n)
	}
}

// TestField: of what is cut off there is no field.
func TestField(t *testing.T) {
	whole := []byte("\x12\x03abc")
	if number, kind, size, body := Field(whole); number != 2 || kind != Delimited || size != 5 || string(body) != "abc" {
		t.Error(number, kind, size, body)
	}
	for n := range whole {
		if _, _, size, _ := Field(whole[:n]); size != 0 {
			t.Errorf("a field in %q", whole[:n])
		}
	}
	for _, group := range []string{"\x0b", "\x0c", "\x02\x00", "\x0f"} {
		if _, _, size, _ := Field([]byte(group)); size != 0 {
			t.Errorf("a field in %q", group)
		}
	}
}
