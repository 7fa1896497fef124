package manifest

import (
	"errors"
	"fmt"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// failures are what could not be read although the rest was.
type failures struct {
	survived bool // what is read now may fail
	list     []*Error
	lost     map[inspect.Resource]bool // of which an object was left out
	anything bool                      // something was left out of which not even the kind is known
}

// survive records a failure of which at most the resource is known. It returns false if reading has to end:
// what is too large would be so for everything that follows.
func (f *failures) survive(err error, of inspect.Resource) bool {
	var e *Error
	if !f.survived || !errors.As(err, &e) || e.Code == TooLarge {
		return false
	}
	f.list = append(f.list, e)
	if of == "" {
		f.anything = true
		return true
	}
	if f.lost == nil {
		f.lost = map[inspect.Resource]bool{}
	}
	f.lost[of] = true
	return true
}

// all reports whether nothing but failures was read.
func (f *failures) all(read int) bool { return read == 0 && len(f.list) > 0 }

// mark marks the resources of which objects may be missing.
func (f *failures) mark(health map[inspect.Resource]inspect.Health) {
	for _, resource := range inspect.Resources() {
		if f.anything || f.lost[resource] {
			h := health[resource]
			h.State, h.Message = inspect.Incomplete, f.message()
			health[resource] = h
		}
	}
}

func (f *failures) message() string {
	first := f.list[0]
	where := place(first.Source, first.Line)
	if len(f.list) == 1 {
		return where + " could not be read"
	}
	return fmt.Sprintf("%s and %d more files or documents could not be read", where, len(f.list)-1)
}
