package explain

import (
	"fmt"
	"slices"

	"github.com/kubectl-dra/kubectl-dra/explain/words"
)

// Advice is what somebody has to see to before anything else helps, or helps as well. It is no fix: what
// comes of it is not known, so it was not tried.
type Advice struct {
	// Kind is the kind of the fix that it would be, and Actor who has to act.
	Kind  FixKind `json:"kind"`
	Actor Actor   `json:"actor"`
	// Driver is the driver that is to publish devices. It is empty where the advice is about something else.
	Driver string `json:"driver,omitempty"`
	// Classes are, sorted, the device classes of which requests can get nothing before that. There are none
	// if more than these requests, or less, may be in the way.
	Classes []string `json:"classes,omitempty"`
	// Message says what to do and why, to follow "can".
	Message string `json:"message"`
	// Commands look for more. None of them changes anything.
	Commands []string `json:"commands,omitempty"`
}

// Advise adds advice about drivers that publish nothing. What is said of the same driver is said once, for
// all classes.
func (c *Cause) Advise(more []Advice) {
	for i := range more {
		at := slices.IndexFunc(c.Advice, func(a Advice) bool { return a.Driver == more[i].Driver })
		switch {
		case len(more[i].Classes) == 0: // that devices are gone of which pods use some is a cause by itself
		case at < 0:
			c.Advice = append(c.Advice, more[i])
		default:
			c.Advice[at].Classes = AbsentClasses([]Advice{c.Advice[at], more[i]})
		}
	}
}

// AbsentClasses are, sorted, the device classes of which requests can get nothing since their drivers publish
// nothing.
func AbsentClasses(all []Advice) []string {
	var out []string
	for i := range all {
		out = append(out, all[i].Classes...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// NothingPublished says that no driver publishes devices of some classes.
func NothingPublished(classes []string) string {
	return fmt.Sprintf("no driver publishes devices of class %s", words.Or(classes))
}
