package cycle

import (
	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
)

// Tally sums up the answers of nodes.
type Tally struct {
	// Allocatable is the number of nodes on which the question can be allocated.
	Allocatable int
	// Doubtful is the number of nodes that have the devices, and which something could still refuse that is
	// not known.
	Doubtful int
	// Undecided says that a search reached no answer, or that there is no answer at all.
	Undecided bool
	// First is the first answer that is yes, and abort the first whose search was aborted. Either may be nil.
	First, Abort *whatif.Answer
	// Timeout says whether the scheduler's own search may time out, so that "yes" is not certain. dropsNodes
	// says that it would then do without the node, instead of giving up.
	Timeout    explain.TimeoutRisk
	DropsNodes bool
}

// Slow reports whether the answer would be yes if the scheduler had time for it.
func (o Tally) Slow() bool {
	return o.Abort == nil && o.First != nil && (o.Timeout == explain.MayTimeOut || o.Timeout == explain.WouldTimeOut)
}

// TallyOf sums up answers.
func TallyOf(answers []whatif.Answer) Tally {
	o := Tally{Undecided: len(answers) == 0}
	for i := range answers {
		a := &answers[i]
		switch {
		case a.Abort != nil && o.Abort == nil:
			o.Abort = a
		case a.Allocatable():
			o.Allocatable += len(a.Nodes)
			if o.First == nil || a.Risk.OrWorse(o.First.Risk) != a.Risk {
				o.First = a
			}
		case a.Doubtful():
			o.Doubtful += len(a.Nodes)
			o.Undecided = true
		case a.Refused():
		case a.Result != nil && a.Result.Outcome == allocator.Undecided:
			o.Undecided = true
		}
	}
	return o
}

// Aborted is the first abort, or nil if there is none.
func (o Tally) Aborted() *allocator.AbortError {
	if o.Abort == nil {
		return nil
	}
	return o.Abort.Abort
}

// Verdict is the answer for the whole cluster. It is Unknown if what could not be read might change it.
func (o Tally) Verdict(limits Limits) explain.Verdict {
	switch {
	case o.Abort != nil && (limits.MayGoOn || o.Abort.Abort.Undecided()):
		return explain.Unknown
	case o.Abort != nil:
		return explain.Invalid
	case o.Slow() && o.Timeout == explain.WouldTimeOut && o.DropsNodes:
		return explain.Unsatisfiable
	case o.Slow() && o.Timeout == explain.WouldTimeOut:
		return explain.Invalid
	case o.Slow():
		return explain.Unknown
	case o.First != nil && limits.MayBeTaken:
		return explain.Unknown
	case o.First != nil:
		return explain.Allocatable
	case o.Undecided, limits.MayBeMore:
		return explain.Unknown
	default:
		return explain.Unsatisfiable
	}
}
