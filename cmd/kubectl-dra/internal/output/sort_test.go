package output

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSortComparesAsTheValuesAre(t *testing.T) {
	tests := map[string]struct{ names, want string }{
		"numbers in names count":             {"gpu-10 gpu-9 gpu-2", "gpu-2 gpu-9 gpu-10"},
		"all numbers":                        {"10 9 -1 2", "-1 2 9 10"},
		"all quantities":                     {"1Gi 512Mi 1G 2k", "2k 512Mi 1G 1Gi"},
		"all durations":                      {"1.2s 900ms 1m30s", "900ms 1.2s 1m30s"},
		"numbers among names are text":       {"1a 10 2", "1a 2 10"},
		"quantities among names are text":    {"1Gi 512Mi all", "1Gi 512Mi all"},
		"leading zeros":                      {"x1a x01y x1 x01", "x01 x1 x1a x01y"},
		"longer than any number":             {"n18446744073709551617 n18446744073709551616", "n18446744073709551616 n18446744073709551617"},
		"what begins alike, the short first": {"n1-b n1 n10", "n1 n1-b n10"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			names := strings.Fields(test.names)
			for range len(names) { // from every rotation the same
				list := NewList("NodeList", "node", nodeTable)
				for _, n := range names {
					list.Items = append(list.Items, &Node{Name: n})
				}
				if err := list.Sort(".name"); err != nil {
					t.Fatal(err)
				}
				var got []string
				for _, item := range list.Items {
					got = append(got, item.(*Node).Name)
				}
				if diff := cmp.Diff(strings.Fields(test.want), got); diff != "" {
					t.Error("order (-want +got):\n" + diff)
				}
				names = slices.Concat(names[1:], names[:1])
			}
		})
	}
}
