package commit

import (
	"context"
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// TestInterruptedInTheEnd: from the last look on a run finishes, and says that it did, with what is
// allocated.
func TestInterruptedInTheEnd(t *testing.T) {
	for _, last := range []string{"pod", "updateStatus", "update", "list rules"} {
		w := newWorld(1, "a")
		w.pods[inspect.PodRef{Namespace: "ns", Name: "pod"}] = "pod-uid"
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		settled := false
		p := &process{w: w, before: func(request string) error {
			if settled && request == last {
				cancel()
			}
			settled = settled || request == "pod"
			return nil
		}}
		if last == "pod" {
			settled = true
		}
		d, claims, err := p.committer("1").Allocate(ctx, reservingFor("a"))
		if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "everything was written all the same") {
			t.Errorf("interrupted before %s: %v", last, err)
		}
		if d == nil || len(claims) != 1 || claims[0].Status.Allocation == nil || len(claims[0].Status.ReservedFor) != 1 {
			t.Errorf("interrupted before %s: %v", last, claims)
		}
		inOrder(t, w, "a")
	}
}

// reservingFor decides about one claim, for a pod.
func reservingFor(name string) Decider {
	return func(ctx context.Context, s *inspect.Snapshot) (*Decision, error) {
		d, err := wanting(name)(ctx, s)
		if err != nil {
			return nil, err
		}
		pod := &corev1.Pod{}
		pod.Name, pod.UID = "pod", "pod-uid"
		return d, d.AddConsumers(func(*resourcev1.ResourceClaim) (*corev1.Pod, error) { return pod, nil })
	}
}

// TestFinishOnlyOwn: in the moment after the last look the claim gets another allocation, or is replaced.
// Nothing is reserved then, and nobody is told that it is allocated.
func TestFinishOnlyOwn(t *testing.T) {
	for name, change := range map[string]func(*resourcev1.ResourceClaim){
		"another device": func(c *resourcev1.ResourceClaim) { c.Status.Allocation.Devices.Results[0].Device = "x1" },
		"another claim":  func(c *resourcev1.ResourceClaim) { c.UID = "another" },
		"cleared":        func(c *resourcev1.ResourceClaim) { c.Status.Allocation = nil },
	} {
		for _, reserve := range []bool{false, true} {
			w := newWorld(2, "a")
			w.pods[inspect.PodRef{Namespace: "ns", Name: "pod"}] = "pod-uid"
			p := &process{w: w}
			updates := 0
			p.before = func(request string) error {
				if request == "get" && updates == 0 { // the first of them comes after the last look
					updates++
					claim := w.claims[ref("a")].DeepCopy()
					claim.ResourceVersion = "900"
					change(claim)
					w.claims[ref("a")] = claim
				}
				return nil
			}
			decide := wanting("a")
			if reserve {
				decide = reservingFor("a")
			}
			_, claims, err := p.committer("1").Allocate(t.Context(), decide)
			if err == nil || len(w.claims[ref("a")].Status.ReservedFor) > 0 {
				t.Errorf("%s, reserve %v: reserved for %v: %v", name, reserve, w.claims[ref("a")].Status.ReservedFor, err)
			}
			if len(claims) > 0 && claims[0].Status.Allocation != nil {
				t.Errorf("%s, reserve %v: said to be allocated", name, reserve)
			}
		}
	}
}

// TestConfirmedIsWritten: a claim or a pod that was replaced while the user was asked is asked about again.
func TestConfirmedIsWritten(t *testing.T) {
	for name, change := range map[string]func(w *world){
		"another claim": func(w *world) {
			claim := w.claims[ref("a")].DeepCopy()
			claim.UID, claim.ResourceVersion = "another", "900"
			w.claims[ref("a")] = claim
		},
		"the device is taken": func(w *world) {
			if err := bind(context.Background(), &process{w: w}, "b", "x0"); err != nil {
				panic(err)
			}
		},
	} {
		w := newWorld(2, "a", "b")
		var asked []string
		c := (&process{w: w}).committer("1")
		c.Confirm = func(_ context.Context, d *Decision) (bool, error) {
			asked = append(asked, string(d.Claims[0].UID)+" "+d.Allocations[ref("a")].Devices.Results[0].Device)
			if len(asked) == 1 {
				change(w)
			}
			return true, nil
		}
		if _, _, err := c.Allocate(t.Context(), wanting("a")); err != nil {
			t.Fatal(err)
		}
		now := w.claims[ref("a")]
		if len(asked) != 2 || asked[1] != string(now.UID)+" "+now.Status.Allocation.Devices.Results[0].Device {
			t.Errorf("%s: asked %q, written %s", name, asked, now.Status.Allocation.Devices.Results[0].Device)
		}
	}
}

func TestSameDecision(t *testing.T) {
	decide := func(uid string, pod string, results ...resourcev1.DeviceRequestAllocationResult) *Decision {
		claim := &resourcev1.ResourceClaim{}
		claim.Namespace, claim.Name, claim.UID = "ns", "a", "u"
		d := &Decision{Node: "n", Claims: []*resourcev1.ResourceClaim{claim}, Allocations: map[inspect.ClaimRef]*resourcev1.AllocationResult{ref("a"): held("a", results...).Status.Allocation}}
		if uid != "" {
			claim.UID = "other"
		}
		if pod != "" {
			d.Consumers = map[inspect.ClaimRef]resourcev1.ResourceClaimConsumerReference{ref("a"): {Name: "p", UID: "1"}}
		}
		return d
	}
	one := decide("", "", whole("x0"))
	second := share("x0", "1Gi")
	other := *second.ShareID + "-other"
	second.ShareID = &other
	if !one.Same(decide("", "", whole("x0"))) || !decide("", "", share("x0", "1Gi")).Same(decide("", "", second)) {
		t.Error("the same twice is not the same")
	}
	for name, d := range map[string]*Decision{
		"another device": decide("", "", whole("x1")), "another claim": decide("x", "", whole("x0")), "reserved": decide("", "p", whole("x0")),
		"a share": decide("", "", share("x0", "1Gi")), "admin access": decide("", "", admin("x0")), "two": decide("", "", whole("x0"), whole("x1")),
	} {
		if one.Same(d) {
			t.Errorf("%s is said to be the same", name)
		}
	}
	if decide("", "", share("x0", "1Gi")).Same(decide("", "", share("x0", "2Gi"))) {
		t.Error("another amount is said to be the same")
	}
}
