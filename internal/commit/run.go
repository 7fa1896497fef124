package commit

import (
	"context"
	"errors"
	"fmt"
	"time"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/commit/requests"
)

const (
	// DefaultSettle is how long a run watches before it believes that nobody else takes its devices. A
	// scheduler writes what it decided within milliseconds, unless something before it in its queue of
	// writes takes longer.
	DefaultSettle = 5 * time.Second
	// MaxAttempts is how often a run decides before it gives up.
	MaxAttempts = 12
	// maxConflicts is how often one write is tried again on a claim that keeps changing.
	maxConflicts = 10
	// leastPatience is how long an announcement must have stayed the same, at least, before its run is
	// taken for dead. Safety does not depend on it: a run that only was slow decides again.
	leastPatience = 2 * time.Second
	// undoTime bounds how long a run that was interrupted or failed tries to clear up: it
	// may have to wait for fences (see fenceWait), up to fenceRounds times.
	undoTime = 15 * time.Second
)

// ErrDeclined says that the user did not want what was decided.
var ErrDeclined = errors.New("declined: nothing was written")

// Committer writes allocations to a cluster and clears them. It is used for one run at a time.
type Committer struct {
	Server requests.Server
	Clock  Clock
	// Read reads everything that a decision needs. A snapshot in which something decisive is missing (see
	// Complete) ends the run.
	Read func(ctx context.Context) (*inspect.Snapshot, error)
	// Needs are resources that matter to this decision beside those that matter to every one.
	Needs []inspect.Resource
	// Settle is how long to watch after writing; see DefaultSettle.
	Settle time.Duration
	// By names the user and the machine, for people who find the announcement.
	By string
	// Confirm, if not nil, is asked before a decision is written that it was not asked about yet; false
	// ends the run with ErrDeclined.
	Confirm func(ctx context.Context, d *Decision) (bool, error)
	// Rules, if not nil, makes and removes the DeviceTaintRules that keep a scheduler off devices that it
	// forgets (see fence.go). NoRules says why there is none; it is told where that leaves a gap.
	Rules   requests.RuleServer
	NoRules error
	// Observe, if not nil, is told what happens, in the goroutine of the run.
	Observe func(Event)

	number func() string // of a run, in place of a random one: for tests
}

// run is one call of Allocate or Deallocate.
type run struct {
	*Committer
	id string
	// seen are the announcements of other runs, as they were first seen in their present form.
	seen map[inspect.ClaimRef]observation
	// touched are the claims that may carry the announcement of this run, in the order of the writes, and
	// intended what they were to get; nil for claims whose allocation was not tried to write.
	touched  []inspect.ClaimRef
	intended map[inspect.ClaimRef]*resourcev1.AllocationResult
	// claims are the newest states that this run knows of the claims that it writes.
	claims map[inspect.ClaimRef]*resourcev1.ResourceClaim
	// kept are claims whose allocation should have been taken back but is reserved.
	kept []inspect.ClaimRef
	// fenced are the names of the fences that this run made, found, or could not make.
	fenced map[string]bool
	agreed *Decision // what was confirmed

	// begun is when the run began, asked for how long the user was asked, waited for how long it waited for
	// others, and polls how often.
	begun         time.Time
	asked, waited time.Duration
	polls         int
	// What this run found out about the announcements of other runs, by the UID of the claim: that it was
	// told to wait for it, how often it tried to remove it, that it may not, and that it no longer heeds it.
	named, stays, ignored map[types.UID]bool
	revokes               map[types.UID]int
}

// observation is when a claim was first seen with an announcement at a resource version.
type observation struct {
	uid     types.UID
	version string
	at      time.Time
}

func (c *Committer) newRun() (*run, error) {
	id, err := c.newNumber()
	if err != nil {
		return nil, err
	}
	return &run{
		Committer: c, id: id, begun: c.Clock.Now(), seen: map[inspect.ClaimRef]observation{}, fenced: map[string]bool{},
		named: map[types.UID]bool{}, stays: map[types.UID]bool{}, ignored: map[types.UID]bool{}, revokes: map[types.UID]int{},
		intended: map[inspect.ClaimRef]*resourcev1.AllocationResult{}, claims: map[inspect.ClaimRef]*resourcev1.ResourceClaim{},
	}, nil
}

func (c *Committer) newNumber() (string, error) {
	if c.number != nil {
		return c.number(), nil
	}
	id, err := randomUUID()
	return string(id), err
}

func (r *run) tell(e Event) {
	if r.Observe != nil {
		r.Observe(e)
	}
}

// observe notes the announcements of other runs. Only times of this machine are compared.
func (r *run) observe(claims []*resourcev1.ResourceClaim) {
	for _, claim := range claims {
		ref := inspect.RefOf(claim)
		if a := AnnouncementOn(claim); a == nil || a.Run == r.id {
			delete(r.seen, ref)
			continue
		}
		if was, ok := r.seen[ref]; !ok || was.uid != claim.UID || was.version != claim.ResourceVersion {
			r.seen[ref] = observation{claim.UID, claim.ResourceVersion, r.Clock.Now()}
		}
	}
}

// expired reports whether the announcement on a claim has stayed the same for so long that its run may be
// taken for killed.
func (r *run) expired(claim *resourcev1.ResourceClaim) bool {
	was, ok := r.seen[inspect.RefOf(claim)]
	return ok && was.uid == claim.UID && was.version == claim.ResourceVersion && r.Clock.Now().Sub(was.at) >= r.patience()
}

// announcedByOther returns the announcement of another run that is to allocate the claim and has not yet, and
// is not ignored.
func (r *run) announcedByOther(claim *resourcev1.ResourceClaim) *Announcement {
	a := AnnouncementOn(claim)
	if a == nil || a.Run == r.id || a.Action != Allocating || claim.Status.Allocation != nil || r.ignored[claim.UID] {
		return nil
	}
	return a
}

// conflictError makes a run begin again.
type conflictError struct {
	conflicts []DeviceConflict
	err       error
}

func (e *conflictError) Error() string {
	if len(e.conflicts) > 0 {
		return conflictText(e.conflicts)
	}
	return e.err.Error()
}

func (e *conflictError) Unwrap() error { return e.err }

// conflict makes a conflictError of an error that says that a claim was changed meanwhile.
func conflict(doing string, ref inspect.ClaimRef, err error) error {
	err = fmt.Errorf("%s claim %s: %w", doing, ref, err)
	if errors.Is(err, requests.ErrConflict) || errors.Is(err, requests.ErrNotFound) {
		return &conflictError{err: err}
	}
	return err
}
