package explain

import (
	"time"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Triage is everything in a cluster that is stuck, by its cause.
type Triage struct {
	// At is the moment that all times are measured from. It is zero if that is not known.
	At time.Time
	// Node is the only node that was asked why it refuses what is stuck. If it is "", all nodes were.
	Node inspect.NodeName
	// Causes are the worst first: those that keep most from running, and what is held back on purpose last.
	Causes []Cause
	// Waiting is the number of pods that wait to be scheduled, and Ready those of them that the scheduler can
	// place now, in the order of its queue.
	Waiting int
	Ready   []Subject
	// Binding are the pods for which the scheduler has chosen a node, and which wait there for their volumes
	// to be made.
	Binding []Subject
	// NotLookedInto are those that may be stuck too, and of which the cause was not looked for, since there
	// are so many different ones, or since the question takes too long.
	NotLookedInto []Subject
	// Depends are those that are placed or left waiting by which nodes kube-scheduler chooses for others, or
	// in which order it takes pods.
	Depends []Subject
	// Unsure says that others than Ready may be placed, and Partial why.
	Unsure bool
	// OtherSchedulers are the pods that wait for a scheduler that is not decided about here, by its name.
	OtherSchedulers map[string][]Subject
	// SchedulerPods are pods, as namespace/name, that run and are called as these schedulers, by the name of
	// the scheduler.
	SchedulerPods map[string]string
	// Unseen says that pods or claims were not read that may be stuck.
	Unseen bool
	// Partial says what could not be read or tried, and what that means.
	Partial []string
	Basis   Basis
}

// Stuck is the number of subjects that are known to be stuck.
func (t *Triage) Stuck() int { return t.count(func(c *Cause) bool { return c.Verdict != Unknown }) }

// Undecided is the number of subjects of which it is not known whether they are stuck.
func (t *Triage) Undecided() int {
	return len(t.NotLookedInto) + len(t.Depends) + t.count(func(c *Cause) bool { return c.Verdict == Unknown })
}

func (t *Triage) count(of func(*Cause) bool) int {
	n := 0
	for i := range t.Causes {
		if of(&t.Causes[i]) {
			n += len(t.Causes[i].Subjects)
		}
	}
	return n
}

// Best is the change that frees more than any other that was tried, under the cause with that index. It is
// nil if there is none that frees several and takes room from nobody, or if others may free as many. What a
// class would have to select is not known, so that to create one is not it.
func (t *Triage) Best() (cause int, fix *CauseFix) {
	for i := range t.Causes {
		for j := range t.Causes[i].Fixes {
			if f := &t.Causes[i].Fixes[j]; f.Kind != CreateClass && (fix == nil || f.Net() > fix.Net()) {
				cause, fix = i, f
			}
		}
	}
	if fix == nil || fix.Net() < 2 || len(fix.Loses) > 0 {
		return 0, nil
	}
	for i := range t.Causes {
		for j := range t.Causes[i].Fixes {
			if f := &t.Causes[i].Fixes[j]; f != fix && f.Kind != CreateClass && (f.AtLeast || f.Net() == fix.Net()) {
				return 0, nil
			}
		}
	}
	return cause, fix
}

// Cause is what keeps some subjects from running.
type Cause struct {
	// Key tells causes apart, however they are worded.
	Key string
	// Message is the cause in a sentence without a subject.
	Message string
	// Told says that the message tells all that there is to say about each of the subjects, and Wants that it
	// says of all of them together what they want, in the plural if there are several: "want 9 devices".
	Told, Wants bool
	// Verdict is Unsatisfiable or Invalid for what cannot be scheduled, Unknown for what may or may not be,
	// and Allocated for what has been scheduled and does not run.
	Verdict Verdict
	// OnPurpose says that somebody holds the subjects back, with scheduling gates.
	OnPurpose bool
	Actor     Actor
	// Subjects are those that are stuck because of it, in the order of the scheduler's queue.
	Subjects []StuckSubject
	// Since is when the first of them began to wait. It is zero if that is not known.
	Since time.Time
	// Advice is what to see to first, since no fix that is tried can stand for it.
	Advice []Advice
	// Fixes are changes that free some of the subjects, those first that free most.
	Fixes []CauseFix
	// Commands look for more. None of them changes anything.
	Commands []string
}

// StuckSubject is a pod or a claim that is stuck.
type StuckSubject struct {
	Subject
	// Owner is the kind and name of what made the pod, such as "StatefulSet workers". It is empty if nothing
	// did.
	Owner string
	// Since is when it began to wait. It is zero if that is not known.
	Since time.Time
	// Message is why, in a sentence without the name.
	Message string
	// Brief is the same in a few words, for a column of a table. It is empty if the message is brief enough.
	Brief string
	// Alike is the same number for subjects of a cause of which the same is to be said, since they ask for
	// the same.
	Alike int
	// Behind says that it would fit if nothing before it in the queue took what it needs.
	Behind bool
}

// CauseFix is a change that frees some of what is stuck.
type CauseFix struct {
	Fix
	// Of is the subject for which the fix was found. A change of its spec is made to all subjects that ask
	// for the same: to Alike too, of which each has objects of its own. The commands are for Of alone until
	// package remedy writes them for all.
	Of    Subject
	Alike []Subject
	// Frees are the subjects, of whichever cause, that the scheduler can place once the change is made and
	// everything that waits was scheduled again in the order of the queue, and that it could not before.
	Frees []Subject
	// AtLeast says that there may be more of them: not all that waits was scheduled again.
	AtLeast bool
	// Loses are those that it could place before and not then, since others come before them.
	Loses []Subject
}

// Net is by how many more are placed.
func (f *CauseFix) Net() int { return len(f.Frees) - len(f.Loses) }

// SchedulerSeen says whether a pod was seen, as namespace/name, that is called as a scheduler.
func SchedulerSeen(pod string) string {
	if pod == "" {
		return "no running pod of that name was seen"
	}
	return "a pod of that name runs: " + pod
}
