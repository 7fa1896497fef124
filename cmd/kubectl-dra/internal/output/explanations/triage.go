package explanations

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
)

// Triage is the wire form of an explain.Triage.
type Triage struct {
	output.Head
	// Node is the only node that was asked why it refuses what is stuck. If it is left out, all nodes were.
	Node   string  `json:"node,omitempty"`
	Causes []Cause `json:"causes"`
	// Stuck is the number of subjects that are known to be stuck, Undecided that of those of which it is not
	// known, and Waiting that of the pods that wait to be scheduled.
	Stuck     int `json:"stuck"`
	Undecided int `json:"undecided,omitempty"`
	Waiting   int `json:"waiting"`
	// Unseen: pods or claims could not be read that may be stuck.
	Unseen bool `json:"unseen,omitempty"`
	// Ready are the pods that the scheduler can place now, in the order of its queue.
	Ready []explain.Subject `json:"ready"`
	// Binding are the pods that have a node, and wait there for their volumes to be made.
	Binding []explain.Subject `json:"binding,omitempty"`
	// NotLookedInto are those of which the cause was not looked for.
	NotLookedInto []explain.Subject `json:"notLookedInto,omitempty"`
	// Depends are those that are placed or left waiting by which nodes kube-scheduler chooses for others, or
	// in which order it takes pods.
	Depends []explain.Subject `json:"depends,omitempty"`
	// Unsure: others than those of ready may be placed; partial says why.
	Unsure bool `json:"unsure,omitempty"`
	// OtherSchedulers are pods that wait for other schedulers, by the name of these.
	OtherSchedulers map[string][]explain.Subject `json:"otherSchedulers,omitempty"`
	// SchedulerPods are running pods, as namespace/name, that are called as these schedulers.
	SchedulerPods map[string]string `json:"schedulerPods,omitempty"`
	Partial       []string          `json:"partial"`
	Basis         explain.Basis     `json:"basis"`
}

// Cause is what keeps some subjects from running.
type Cause struct {
	Message string `json:"message"`
	// Key tells causes apart, and begins with what the cause is about: the kind of a requirement or the code
	// of a reason.
	Key     string `json:"key"`
	Verdict string `json:"verdict" enum:"explain.Verdict"`
	// OnPurpose: scheduling gates hold the subjects back.
	OnPurpose bool           `json:"onPurpose,omitempty"`
	Actor     string         `json:"actor" enum:"explain.Actor"`
	Subjects  []StuckSubject `json:"subjects"`
	// Since is when the first of them began to wait.
	Since *metav1.Time `json:"since,omitempty"`
	// Advice is what to see to first. It was not tried, since what comes of it is not known.
	Advice   []explain.Advice `json:"advice,omitempty"`
	Fixes    []CauseFix       `json:"fixes"`
	Commands []string         `json:"commands,omitempty"`
}

// StuckSubject is a pod or a claim that is stuck.
type StuckSubject struct {
	explain.Subject
	// Owner is the kind and name of what made the pod.
	Owner   string       `json:"owner,omitempty"`
	Since   *metav1.Time `json:"since,omitempty"`
	Message string       `json:"message"`
	// Behind: it would fit if those before it in the queue took nothing.
	Behind bool `json:"behind,omitempty"`
}

// CauseFix is a change that frees some of what is stuck.
type CauseFix struct {
	Fix
	// Subject is the one for which it was found; a change of its spec is made to all that ask for the same.
	Subject explain.Subject `json:"subject"`
	// Frees is how many more subjects are placed, of whichever cause, and FreesSubjects are these.
	Frees int `json:"frees"`
	// AtLeast: there may be more.
	AtLeast       bool              `json:"atLeast,omitempty"`
	FreesSubjects []explain.Subject `json:"freesSubjects"`
	// Loses are those that are placed without the change, and no longer with it.
	Loses []explain.Subject `json:"loses,omitempty"`
}

// NewTriage returns the wire form of a triage.
func NewTriage(t *explain.Triage) *Triage {
	return &Triage{
		Head: output.HeadOf("Triage"), Node: string(t.Node), Causes: words.Each(t.Causes, cause), Stuck: t.Stuck(), Undecided: t.Undecided(), Unseen: t.Unseen, Waiting: t.Waiting,
		Ready: output.OrEmpty(t.Ready), Binding: t.Binding, NotLookedInto: t.NotLookedInto, Depends: t.Depends, Unsure: t.Unsure,
		Partial: output.OrEmpty(t.Partial),
		Basis:   t.Basis, OtherSchedulers: t.OtherSchedulers, SchedulerPods: t.SchedulerPods,
	}
}

func cause(c explain.Cause) Cause {
	return Cause{
		Message: c.Message, Key: c.Key, Verdict: string(c.Verdict), OnPurpose: c.OnPurpose, Actor: string(c.Actor),
		Subjects: words.Each(c.Subjects, func(s explain.StuckSubject) StuckSubject {
			return StuckSubject{Subject: s.Subject, Owner: s.Owner, Since: output.OptionalTime(s.Since), Message: s.Message, Behind: s.Behind}
		}),
		Since: output.OptionalTime(c.Since), Advice: c.Advice,
		Fixes: words.Each(c.Fixes, func(f explain.CauseFix) CauseFix {
			return CauseFix{
				Fix: claimName{subject: f.Of}.fix(f.Fix), Subject: f.Of, Frees: len(f.Frees), AtLeast: f.AtLeast,
				FreesSubjects: output.OrEmpty(f.Frees), Loses: f.Loses,
			}
		}),
		Commands: c.Commands,
	}
}
