package flowcontrol

import (
	"slices"
	"testing"
)

// TestHand has flows of real servers, of which dumps show that they wait in these queues: those in the
// documentation of Kubernetes.
func TestHand(t *testing.T) {
	for _, test := range []struct {
		schema, flow string
		queuing      Queuing
		among        []int
	}{
		{"service-accounts", "system:serviceaccount:default:loadtest", Queuing{Queues: 128, HandSize: 6}, []int{14, 74}},
		{"system-nodes", "system:node:127.0.0.1", Queuing{Queues: 64, HandSize: 6}, []int{12}},
	} {
		hand := Hand(test.schema, test.flow, test.queuing)
		missing := func(queue int) bool { return !slices.Contains(hand, queue) }
		if len(hand) != test.queuing.HandSize || slices.ContainsFunc(test.among, missing) {
			t.Errorf("%s: the hand is %v, without %v", test.flow, hand, test.among)
		}
	}
	if hand := Hand("s", "anybody", Queuing{Queues: 1, HandSize: 1}); !slices.Equal(hand, []int{0}) {
		t.Errorf("one queue: %v", hand)
	}
	if hand := Hand("s", "f", Queuing{Queues: 512, HandSize: 8}); hand != nil {
		t.Errorf("a hand that no server deals: %v", hand)
	}
}
