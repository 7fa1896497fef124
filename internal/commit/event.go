package commit

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Step is what a run did or saw.
type Step string

// The steps.
const (
	Announced    Step = "Announced"    // the claim carries the announcement of this run
	Allocated    Step = "Allocated"    // the allocation is written, but may have to be taken back
	Settling     Step = "Settling"     // the run begins to watch, for Wait
	Waiting      Step = "Waiting"      // another run has announced what this one wants and goes first
	Conflicted   Step = "Conflicted"   // others hold what this run announced or wrote
	Revoked      Step = "Revoked"      // the announcement of another run, which has to decide again, was removed
	Ignored      Step = "Ignored"      // the announcement of another run cannot be removed, because of Err, and is no longer heeded
	Withdrawn    Step = "Withdrawn"    // the announcement of this run is removed
	TakenBack    Step = "TakenBack"    // the allocation of this run is removed
	Kept         Step = "Kept"         // the allocation of this run cannot be taken back: it is reserved
	Retrying     Step = "Retrying"     // the run begins again, because of Err
	Reserved     Step = "Reserved"     // the claim is reserved for the pod
	Done         Step = "Done"         // the claim is as it is to stay
	Deallocated  Step = "Deallocated"  // the allocation is cleared
	Suspected    Step = "Suspected"    // another run is at work on the claim, or was killed: the run watches for Wait
	FinishedLeft Step = "FinishedLeft" // what a killed run left was complete; its announcement is removed
	UndoneLeft   Step = "UndoneLeft"   // what a killed run left was incomplete and is undone
	Fenced       Step = "Fenced"       // Rule taints Device, which others hold too, before an allocation is cleared
	Unfenced     Step = "Unfenced"     // that was not possible, because of Err; Device is not set when the claims could not be read
	Lifted       Step = "Lifted"       // Rule is removed: nobody holds Device any more
	LiftFailed   Step = "LiftFailed"   // rules that are no longer needed could not be removed, because of Err
	NotRecovered Step = "NotRecovered" // what killed runs left could not be looked for, because of Err
	Failed       Step = "Failed"       // the claim could not be put in order, because of Err
)

// Event is a step of a run, for whoever shows its progress.
type Event struct {
	Step      Step
	Claim     inspect.ClaimRef // not set for Settling and Retrying
	Conflicts []DeviceConflict // of Conflicted
	// Device, the claims that hold it, and the name of a DeviceTaintRule: of Fenced, Unfenced and Lifted.
	Device inspect.DeviceID
	With   []inspect.ClaimRef
	Rule   string
	By     string        // whose announcement it is, as it says: Waiting, Revoked, Ignored, Suspected, FinishedLeft, UndoneLeft
	Wait   time.Duration // of Settling and Suspected; of Waiting how long at most
	Err    error         // of Retrying, Ignored, Unfenced, LiftFailed, NotRecovered and Failed
}

// texts say a step in words; %s is the claim.
var texts = map[Step]string{
	Announced:    "%s: announced",
	Allocated:    "%s: allocated",
	Withdrawn:    "%s: the announcement is withdrawn, nothing was allocated",
	TakenBack:    "%s: the allocation is taken back",
	Kept:         "%s: the allocation stays, because the claim is reserved already",
	Reserved:     "%s: reserved",
	Done:         "%s: done",
	Deallocated:  "%s: deallocated",
	Waiting:      "%s: waiting for another run that goes first",
	Ignored:      "%s: the announcement of another run cannot be removed and is ignored from now on",
	Revoked:      "%s: the announcement of another run for the same device is revoked, so that run has to decide again",
	Suspected:    "%s: another run is at work, or was killed",
	FinishedLeft: "%s: finished what a killed run left: the allocation stays",
	UndoneLeft:   "%s: undid what a killed run left",
	Failed:       "%s: could not be put in order",
}

// String says the event in one line. Names in it are as the cluster has them.
func (e Event) String() string {
	switch e.Step {
	case Settling:
		return fmt.Sprintf("watching for %s whether anybody else takes the same devices", e.Wait)
	case Retrying:
		if retry := (*conflictError)(nil); errors.As(e.Err, &retry) && len(retry.conflicts) > 0 {
			return "beginning again" // why was told
		}
		return fmt.Sprintf("beginning again: %v", e.Err)
	case NotRecovered:
		return fmt.Sprintf("looking for what killed runs left: %v", e.Err)
	case Conflicted:
		return conflictText(e.Conflicts)
	case Fenced, Unfenced, Lifted, LiftFailed:
		return e.fenceText()
	}
	text := fmt.Sprintf(texts[e.Step], e.Claim)
	if e.By != "" {
		text += fmt.Sprintf(" (begun by %s)", e.By)
	}
	switch {
	case e.Wait > 0 && e.Step == Waiting:
		text += fmt.Sprintf(", for at most %s", e.Wait)
	case e.Wait > 0:
		text += fmt.Sprintf("; watching it for %s", e.Wait)
	}
	if e.Err != nil {
		text += fmt.Sprintf(": %v", e.Err)
	}
	return text
}

func (e Event) fenceText() string {
	switch {
	case e.Step == Fenced:
		return fmt.Sprintf("%s stays tainted by DeviceTaintRule %s until no claim holds it (now %s does), because kube-scheduler forgets devices that were held twice; "+
			"the next allocate or deallocate after that removes the rule, or \"kubectl delete devicetaintrule %s\"", e.Device, e.Rule, joinRefs(e.With), e.Rule)
	case e.Step == Lifted:
		return fmt.Sprintf("DeviceTaintRule %s is removed: no claim holds %s any more", e.Rule, e.Device)
	case e.Step == LiftFailed:
		return fmt.Sprintf("looking for DeviceTaintRules of earlier runs: %v", e.Err)
	case e.Device == (inspect.DeviceID{}):
		return fmt.Sprintf("no device is fenced off, because it is not known whether other claims hold what is cleared; kube-scheduler may then give away once more what they hold: %v", e.Err)
	}
	return fmt.Sprintf("kube-scheduler may give %s away once more although %s holds it, because it could not be tainted: %v", e.Device, joinRefs(e.With), e.Err)
}

func conflictText(conflicts []DeviceConflict) string {
	var parts []string
	for _, c := range conflicts {
		parts = append(parts, fmt.Sprintf("%s is also taken by %s", c.Device, joinRefs(c.With)))
	}
	return strings.Join(parts, "; ")
}

func joinRefs(refs []inspect.ClaimRef) string { return strings.Join(namesOf(refs), ", ") }

// namesOf names claims as announcements do.
func namesOf(refs []inspect.ClaimRef) []string {
	var names []string
	for _, ref := range refs {
		names = append(names, ref.String())
	}
	return names
}
