package commit

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/commit/requests"
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
// announcement is written nothing that changed is cleared; after that only what still is the same claim with
// the same devices.
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
			harmless := change.want == "" || marked && slices.Contains([]string{"a label", "deallocated"}, name)
			others := w.claims[ref("b")].ResourceVersion != shown[1].ResourceVersion
			for _, problem := range misdone(w.claims[ref("a")], before, err, harmless, marked, change.want, others) {
				t.Errorf("%s, before request %d: %s", name, n, problem)
			}
			if now := w.claims[ref("a")]; !strings.HasPrefix(name, "another") && AnnouncementOn(now) != nil {
				t.Errorf("%s, before request %d: an announcement is left", name, n)
			}
		}
	}
	if cases < 50 {
		t.Errorf("only %d cases: the changes do not happen", cases)
	}
}

// misdone says what is wrong with a claim that changed while it was deallocated: before is how it was after
// the change, marked that the announcement was on it by then, and others that another claim of the run was
// written.
func misdone(now, before *resourcev1.ResourceClaim, err error, harmless, marked bool, want string, others bool) []string {
	var out []string
	if harmless {
		if err != nil || now.Status.Allocation != nil {
			out = append(out, fmt.Sprintf("not cleared: %v", err))
		}
		return out
	}
	if err == nil {
		return append(out, fmt.Sprintf("no error, and it is %v", now.Status))
	}
	if !marked && !strings.Contains(err.Error(), want) {
		out = append(out, fmt.Sprintf("want %q in %v", want, err))
	}
	if !marked && (now.ResourceVersion != before.ResourceVersion || others) {
		out = append(out, "something was written")
	}
	if before.Status.Allocation != nil && now.Status.Allocation == nil {
		out = append(out, "it was cleared all the same")
	}
	return out
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

// TestDeallocateWithoutList: who may not list all claims is told what that means, and is served; when the
// list fails otherwise, nothing is written.
func TestDeallocateWithoutList(t *testing.T) {
	for _, failure := range []error{requests.ErrForbidden, errors.New("fault 500")} {
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
		if errors.Is(failure, requests.ErrForbidden) {
			if err != nil || w.allocated() != "" || !strings.Contains(text, "it is not known whether other claims hold") {
				t.Errorf("allocated %q, told %q: %v", w.allocated(), text, err)
			}
		} else if err == nil || w.allocated() != "a" || !strings.Contains(err.Error(), "nothing is written") {
			t.Errorf("allocated %q, told %q: %v", w.allocated(), text, err)
		}
	}
}
