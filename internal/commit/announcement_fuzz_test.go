package commit

import (
	"testing"
	"time"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// FuzzAnnouncementOn: any annotation is read, soon, and what is read of it is read again from what mark
// writes.
func FuzzAnnouncementOn(f *testing.F) {
	for _, seed := range []string{
		"", "{}", "null", "[", `{"run":"1","action":"allocate","at":"2026-11-20T09:00:00Z","devices":[{"driver":"d","pool":"p","device":"x","consumedCapacity":{"memory":"1Gi"}}]}`,
		`{"devices":[{"consumedCapacity":{"memory":"1e-2000000000"}}]}`, `{"devices":[{"admin":true,"shareID":"s"},{"consumedCapacity":{"a":1e-2000000000}}]}`,
		`{"at":"0000-01-01T00:00:00Z"}`, `{"devices":[{"consumedCapacity":{"a":"1\u0065-2000000000"}}]}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		claim := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{Annotation: text}}}
		began := time.Now()
		a := AnnouncementOn(claim)
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("reading %q took %v", text, took)
		}
		if a == nil {
			t.Fatalf("%q is read as nothing", text)
		}
		if !a.wrote(a.allocation()) && a.Action == Allocating && len(a.Devices) > 0 {
			t.Errorf("%q is not what it says it writes", text)
		}
		if err := mark(claim, a); err != nil {
			t.Fatalf("%q cannot be written again: %v", text, err)
		}
		again := AnnouncementOn(claim)
		if !equality.Semantic.DeepEqual(a.Devices, again.Devices) && len(a.Devices)+len(again.Devices) > 0 || a.Run != again.Run || a.Action != again.Action || !a.At.Equal(again.At) {
			t.Errorf("%q is read as %+v and then as %+v", text, a, again)
		}
		if !unmark(claim) || AnnouncementOn(claim) != nil {
			t.Errorf("%q stays", text)
		}
	})
}
