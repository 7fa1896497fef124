package console

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/spell"
)

// DidYouMean returns `; did you mean "a" or "b"?`, with at most three names, or "" when nothing is near.
func DidYouMean(word string, candidates []string) string {
	names := spell.Nearest(word, candidates)
	if len(names) == 0 {
		names = beginningWith(word, candidates)
	}
	if len(names) == 0 {
		return ""
	}
	names = names[:min(3, len(names))]
	for i, name := range names {
		names[i] = fmt.Sprintf("%q", name)
	}
	return "; did you mean " + strings.Join(names, " or ") + "?"
}

// beginningWith returns the candidates that begin with a word of three letters or more, as the names that a
// controller makes of one do; the shortest first.
func beginningWith(word string, candidates []string) []string {
	if len(word) < 3 {
		return nil
	}
	found := map[string]bool{}
	for _, c := range candidates {
		if strings.HasPrefix(strings.ToLower(c), strings.ToLower(word)) {
			found[c] = true
		}
	}
	return slices.SortedFunc(maps.Keys(found), func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
}

// WhatExists says what exists in place of a name that does not: the same name elsewhere, which are
// namespaces, or what there is here.
func WhatExists(name, namespace string, here, elsewhere []string) string {
	of, plain, both := strings.Cut(name, "/")
	switch hint := DidYouMean(name, here); {
	case both && namespace != "" && of != "" && plain != "" && inspect.Sanitize(name) == name:
		return fmt.Sprintf("; the namespace is given apart: %s -n %s", plain, of)
	case len(elsewhere) > 0:
		return fmt.Sprintf("; there is one in namespace %q: use -n %s", elsewhere[0], elsewhere[0])
	case hint != "":
		return hint
	case len(here) == 0 && namespace != "":
		return "; there is none at all in that namespace"
	case len(here) == 0:
		return "; there is none at all"
	case len(here) == 1:
		return "; there is only " + here[0]
	case len(here) <= MaxNamesListed:
		return "; there are " + CommaList(here)
	}
	return fmt.Sprintf("; there are %s and %d more", CommaList(here[:MaxNamesListed]), len(here)-MaxNamesListed)
}

// MaxNamesListed is how many names are listed in place of one that does not exist.
const MaxNamesListed = 5
