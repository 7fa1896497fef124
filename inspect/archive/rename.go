package archive

import (
	"fmt"
	"maps"
	"slices"
)

// Names are replaced by numbered ones, such as claim-07 or node-112, one row of numbers for each sort of
// name. The numbers follow the bytewise order of the names that they stand for, and have the same number
// of digits: the scheduler's choice depends on the order of nodes, pools and slices by name, so that the
// answers stay the same. The same name gets the same number wherever it occurs.
//
// The objects are walked twice: first to learn the names, then to replace them.

// names is a sort of name; its value is what the new names begin with.
type names string

const (
	namespaces      names = "ns"
	claims          names = "claim"
	templates       names = "template"
	pods            names = "pod"
	nodes           names = "node"
	pools           names = "pool"
	slicesOf        names = "slice"
	taintRules      names = "taintrule"
	containers      names = "container"
	podGroups       names = "podgroup"
	owners          names = "owner" // objects of other kinds
	volumes         names = "volume"
	volumeClaims    names = "volumeclaim"
	capacities      names = "capacity"
	users           names = "user"
	groups          names = "group"
	serviceAccounts names = "serviceaccount"
)

// renamer replaces names, or only learns them.
type renamer struct {
	learning bool
	known    map[names]map[string]string
}

func newRenamer() *renamer { return &renamer{learning: true, known: map[names]map[string]string{}} }

// name replaces one name; empty ones stay empty.
func (r *renamer) name(of names, name *string) {
	if name == nil || *name == "" {
		return
	}
	if r.learning {
		if r.known[of] == nil {
			r.known[of] = map[string]string{}
		}
		r.known[of][*name] = ""
		return
	}
	*name = r.known[of][*name]
}

// nameIf replaces text that happens to be a name of that sort.
func (r *renamer) nameIf(of names, text *string) {
	if renamed, ok := r.known[of][*text]; ok && !r.learning {
		*text = renamed
	}
}

// number ends the learning.
func (r *renamer) number() {
	for of, known := range r.known {
		digits := len(fmt.Sprint(len(known)))
		for i, name := range slices.Sorted(maps.Keys(known)) {
			known[name] = fmt.Sprintf("%s-%0*d", of, digits, i+1)
		}
	}
	r.learning = false
}
