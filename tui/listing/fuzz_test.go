package listing

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzFilter: any filter gives some of the rows, each once and in order, and "!" before a word gives the
// others.
func FuzzFilter(f *testing.F) {
	for _, seed := range []string{"", "fast", "!fs1", "size>=100Gi", "size<1e-2000000000", "name=", "=", "!", "size>", "!!x", "NAME=fast-1 !size>1", ">=<"} {
		f.Add(seed)
	}
	shown := func(filter string) []int {
		a := arrange(diskConfig(), disks, order{filter: filter, sort: -1, grouping: -1})
		_ = a.misread()
		var rows []int
		for _, item := range a.items {
			rows = append(rows, item.row)
		}
		return rows
	}
	f.Fuzz(func(t *testing.T, filter string) {
		rows := shown(filter)
		if !slices.IsSorted(rows) || len(slices.Compact(slices.Clone(rows))) != len(rows) {
			t.Errorf("%q shows the rows %v", filter, rows)
		}
		words := strings.Fields(filter)
		if len(words) != 1 || strings.HasPrefix(filter, "!") || !utf8.ValidString(filter) {
			return
		}
		exact := !slices.ContainsFunc(rows, func(row int) bool {
			return !strings.Contains(strings.ToLower(disks[row].name+" "+disks[row].size), strings.ToLower(words[0]))
		})
		if others := shown("!" + words[0]); exact && len(rows)+len(others) != len(disks) {
			t.Errorf("%q shows %v, and turned round %v", filter, rows, others)
		}
	})
}
