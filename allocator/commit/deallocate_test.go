package commit

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// changes are what may happen to a claim between the moment in which it was shown and its deallocation.
var changes = map[string]struct {
	do   func(claim *resourcev1.ResourceClaim)
	want string // of the error; "" for none
}{
	"nothing": {func(*resourcev1.ResourceClaim) {}, ""},
	"another claim of that name": {func(c *resourcev1.ResourceClaim) {
		c.UID, c.ResourceVersion = "another", "900"
		c.Status.Allocation.Devices.Results[0].Device = "x1"
	}, "was replaced by another one of that name after it was shown; this one holds d/p/x1"},
	"another claim with the same device": {func(c *resourcev1.ResourceClaim) { c.UID, c.ResourceVersion = "another", "900" },
		"was replaced by another one of that name"},
	"another device": {func(c *resourcev1.ResourceClaim) {
		c.ResourceVersion, c.Status.Allocation.Devices.Results[0].Device = "900", "x1"
	}, "has changed after it was shown: it holds d/p/x1 now, and not d/p/x0"},
	"deallocated": {func(c *resourcev1.ResourceClaim) { c.ResourceVersion, c.Status.Allocation = "900", nil }, "is no longer allocated"},
	"a label":     {func(c *resourcev1.ResourceClaim) { c.ResourceVersion = "900" }, "was changed by somebody after it was shown, though not in what it holds"},
	"reserved": {func(c *resourcev1.ResourceClaim) {
		c.ResourceVersion, c.Status.ReservedFor = "900", []resourcev1.ResourceClaimConsumerReference{{Resource: "pods", Name: "x", UID: "x"}}
	}, "is reserved for pods/x"},
}

// TestOnlyWhatWasShownIsCleared changes a claim at every request of the run that deallocates it. Until its
// announcement is written nothing that changed is cleared; after that only what still is the same claim with the
// same devices.
func TestOnlyWhatWasShownIsCleared(t *testing.T) {
	cases := 0
	for name, change := range changes {
		for n := 0; ; n++ {
			cases++
			w := allocated(newWorld(3, "a", "b"), "a", "b")
			shown := []*resourcev1.ResourceClaim{w.claims[ref("a")].DeepCopy(), w.claims[ref("b")].DeepCopy()}
			requests, updates, marked, late := 0, 0, false, false
			var before *resourcev1.ResourceClaim
			p := &process{w: w, before: func(request string) error {
				if request == "update" {
					updates++
				}
				if requests == n && w.claims[ref("a")].Status.Allocation != nil {
					claim := w.claims[ref("a")].DeepCopy()
					marked = AnnouncementOn(claim) != nil
					change.do(claim)
					w.claims[ref("a")], before = claim, claim.DeepCopy()
				} else if requests == n {
					late = true
				}
				requests++
				return nil
			}}
			_, err := p.committer("1").Deallocate(t.Context(), []inspect.ClaimRef{ref("a"), ref("b")}, shown...)
			if requests <= n || late {
				break
			}
			what := fmt.Sprintf("%s, before request %d", name, n)
			now := w.claims[ref("a")]
			harmless := change.want == "" || marked && slices.Contains([]string{"a label", "deallocated"}, name)
			switch {
			case harmless && (err != nil || now.Status.Allocation != nil):
				t.Errorf("%s: not cleared: %v", what, err)
			case !harmless && err == nil:
				t.Errorf("%s: no error, and the claim is %v", what, now.Status)
			case !harmless && !marked && !strings.Contains(err.Error(), change.want):
				t.Errorf("%s: want %q in %v", what, change.want, err)
			case !harmless && !marked && (now.ResourceVersion != before.ResourceVersion || w.claims[ref("b")].ResourceVersion != shown[1].ResourceVersion):
				t.Errorf("%s: something was written", what)
			case !harmless && before.Status.Allocation != nil && now.Status.Allocation == nil:
				t.Errorf("%s: it was cleared all the same", what)
			}
			if name != "another device" && name != "another claim of that name" && AnnouncementOn(now) != nil && now.UID == shown[0].UID {
				t.Errorf("%s: an announcement is left", what)
			}
		}
	}
	if cases < 50 {
		t.Errorf("only %d cases: the changes do not happen", cases)
	}
}

// TestUnconfirmedIsClearedByName: who was not asked gets the claim of that name cleared, whatever it holds.
func TestUnconfirmedIsClearedByName(t *testing.T) {
	w := allocated(newWorld(1, "a"), "a")
	w.claims[ref("a")].UID = "another"
	if _, err := (&process{w: w}).committer("1").Deallocate(t.Context(), []inspect.ClaimRef{ref("a")}); err != nil {
		t.Error(err)
	}
	inOrder(t, w, "")
}

// TestDeallocateWithoutList: who may not list all claims is told what that means, and is served; when the list fails
// otherwise, nothing is written.
func TestDeallocateWithoutList(t *testing.T) {
	for _, failure := range []error{ErrForbidden, errors.New("fault 500")} {
		w := allocated(newWorld(1, "a"), "a")
		p := &process{w: w, before: func(request string) error {
			if request == "list" {
				return failure
			}
			return nil
		}}
		var told []string
		c := p.committer("1")
		c.Observe = func(e Event) { told = append(told, e.String()) }
		_, err := c.Deallocate(t.Context(), []inspect.ClaimRef{ref("a")})
		text := strings.Join(told, "\n")
		if errors.Is(failure, ErrForbidden) {
			if err != nil || w.allocated() != "" || !strings.Contains(text, "it is not known whether other claims hold") {
				t.Errorf("allocated %q, told %q: %v", w.allocated(), text, err)
			}
		} else if err == nil || w.allocated() != "a" || !strings.Contains(err.Error(), "nothing is written") {
			t.Errorf("allocated %q, told %q: %v", w.allocated(), text, err)
		}
	}
}
