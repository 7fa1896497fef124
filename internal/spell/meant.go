package spell

import (
	"cmp"
	"slices"
	"strings"
)

// maxMeant is the number of names that [Meant] returns at most.
const maxMeant = 3

// Meant returns, of the names that there are, those that may be meant by one that there is not, the likeliest
// first. A name may have a domain, as "dra.cpu/cpu". Names that differ in the domain only come first, then
// those of which one contains the other, then those that may be misspelt.
func Meant[Name ~string](wanted Name, names []Name) []Name {
	type match struct {
		name Name
		rank int
	}
	var matches []match
	for _, name := range names {
		if rank, ok := likeness(withoutDomain(string(wanted)), withoutDomain(string(name))); ok && name != wanted {
			matches = append(matches, match{name, rank})
		}
	}
	slices.SortFunc(matches, func(a, b match) int { return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.name, b.name)) })
	var out []Name
	for _, m := range slices.Compact(matches) {
		out = append(out, m.name)
	}
	return out[:min(len(out), maxMeant)]
}

// likeness ranks two names without domains, from 0 for equal ones. It returns false if they have nothing in
// common.
func likeness(a, b string) (rank int, ok bool) {
	a, b = strings.ToLower(a), strings.ToLower(b)
	switch {
	case a == "" || b == "":
		return 0, false
	case a == b:
		return 0, true
	case min(len(a), len(b)) > 2 && (strings.Contains(a, b) || strings.Contains(b, a)):
		return 1, true
	}
	distance, ok := Within(a, b, min(Limit(a), Limit(b)))
	return 1 + distance, ok
}

func withoutDomain(name string) string { return name[strings.LastIndexByte(name, '/')+1:] }
