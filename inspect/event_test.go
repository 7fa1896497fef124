package inspect

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// TestEventOfEitherGroup: the same Event reads the same from both API groups, in the old form of the kubelet
// and in the new one of the scheduler.
func TestEventOfEitherGroup(t *testing.T) {
	first, last := time.Unix(100, 0), time.Unix(400, 0)
	pod := corev1.ObjectReference{Kind: "Pod", Namespace: "ml", Name: "p", UID: "u", FieldPath: "spec.containers{main}"}
	want := Event{
		Kind: "Pod", Namespace: "ml", Name: "p", UID: "u", Container: "main", Type: "Warning", Reason: "R", Message: "m", Source: "kubelet",
		Count: 3, First: first, Last: last,
	}
	once := want
	once.Count, once.Last = 1, first
	for name, tt := range map[string]struct {
		got, want Event
	}{
		"counted, core": {EventOf(&corev1.Event{
			InvolvedObject: pod, Type: "Warning", Reason: "R", Message: "m", Source: corev1.EventSource{Component: "kubelet"}, Count: 3,
			FirstTimestamp: metav1.NewTime(first), LastTimestamp: metav1.NewTime(last),
		}), want},
		"counted, events": {EventOfV1(&eventsv1.Event{
			Regarding: pod, Type: "Warning", Reason: "R", Note: "m", DeprecatedSource: corev1.EventSource{Component: "kubelet"}, DeprecatedCount: 3,
			DeprecatedFirstTimestamp: metav1.NewTime(first), DeprecatedLastTimestamp: metav1.NewTime(last),
		}), want},
		"series, core": {EventOf(&corev1.Event{
			InvolvedObject: pod, Type: "Warning", Reason: "R", Message: "m", ReportingController: "kubelet", EventTime: metav1.NewMicroTime(first),
			Series: &corev1.EventSeries{Count: 3, LastObservedTime: metav1.NewMicroTime(last)},
		}), want},
		"series, events": {EventOfV1(&eventsv1.Event{
			Regarding: pod, Type: "Warning", Reason: "R", Note: "m", ReportingController: "kubelet", EventTime: metav1.NewMicroTime(first),
			Series: &eventsv1.EventSeries{Count: 3, LastObservedTime: metav1.NewMicroTime(last)},
		}), want},
		"once, core": {EventOf(&corev1.Event{
			InvolvedObject: pod, Type: "Warning", Reason: "R", Message: "m", ReportingController: "kubelet", EventTime: metav1.NewMicroTime(first),
		}), once},
		"once, events": {EventOfV1(&eventsv1.Event{
			Regarding: pod, Type: "Warning", Reason: "R", Note: "m", ReportingController: "kubelet", EventTime: metav1.NewMicroTime(first),
		}), once},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, tt.got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestEventsAbout: an Event of an earlier object of the same name is of another object. Where a file names no
// UID, the name has to do.
func TestEventsAbout(t *testing.T) {
	at := func(reason, name string, uid types.UID, second int64) Event {
		return Event{Kind: "Pod", Namespace: "ml", Name: name, UID: uid, Reason: reason, Last: time.Unix(second, 0)}
	}
	events := Events{List: []Event{
		at("old", "p", "u", 1), at("new", "p", "u", 3), at("earlier pod", "p", "v", 2), at("without UID", "p", "", 2), at("other pod", "q", "u", 4),
		{Kind: "ResourceClaim", Namespace: "ml", Name: "p", Reason: "claim"}, {Kind: "Pod", Namespace: "dev", Name: "p", Reason: "elsewhere"},
	}}
	for uid, want := range map[types.UID][]string{
		"u": {"new", "without UID", "old"},
		"w": {"without UID"},
		"":  {"new", "earlier pod", "without UID", "old"},
	} {
		var got []string
		for _, e := range events.About("Pod", "ml", "p", uid) {
			got = append(got, e.Reason)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("UID %q (-want +got):\n%s", uid, diff)
		}
	}
}
