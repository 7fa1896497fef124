package manifest

import (
	"fmt"
	"regexp"
	"strings"
)

// saidEach is how often the same mistake in an object is said place by place.
const saidEach = 3

// listIndex is what tells the same mistake in several items of a list apart.
var listIndex = regexp.MustCompile(`\[\d+\]`)

// folded says a mistake that is made in many places of an object once, with the number of the others.
func folded(all []Warning) []Warning {
	type mistake struct{ path, message string }
	mistakeOf := func(w Warning) mistake {
		return mistake{listIndex.ReplaceAllString(w.Path, "[]"), w.Message}
	}
	places := map[mistake][]string{}
	for _, w := range all {
		places[mistakeOf(w)] = append(places[mistakeOf(w)], w.Path)
	}
	var out []Warning
	for _, w := range all {
		at := places[mistakeOf(w)]
		switch {
		case len(at) <= saidEach:
			out = append(out, w)
		case at[0] == w.Path:
			w.Message += fmt.Sprintf(" (and in %d more %s)", len(at)-1, listThatDiffers(at[0], at[1]))
			out = append(out, w)
		}
	}
	return out
}

// listThatDiffers names the outermost list of whose items two paths lead to different ones, as "devices".
func listThatDiffers(a, b string) string {
	x, y := listIndex.FindAllStringIndex(a, -1), listIndex.FindAllStringIndex(b, -1)
	for i := range min(len(x), len(y)) {
		if a[x[i][0]:x[i][1]] != b[y[i][0]:y[i][1]] {
			before := a[:x[i][0]]
			return before[strings.LastIndexByte(before, '.')+1:]
		}
	}
	return "places"
}
