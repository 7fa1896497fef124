package output

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect/quantity"
)

// Sort sorts the items by the field that a JSONPath names, as --sort-by does. Where all are numbers,
// quantities or durations they sort by value, else as text, in which numbers count as numbers as in kubectl:
// gpu-2 before gpu-10. Items without the field come first; equal ones keep their order.
func (l *List) Sort(expression string) error {
	if strings.Trim(expression, "{}.") == "age" {
		slices.SortStableFunc(l.Items, func(a, b Item) int { return b.Meta().Created.Compare(a.Meta().Created.Time) })
		return nil
	}
	path, err := fieldPath(expression)
	if err != nil {
		return err
	}
	texts := make(map[Item]string, len(l.Items))
	for _, item := range l.Items {
		tree, err := toTree(item)
		if err != nil {
			return err
		}
		values, err := lookup(path, tree)
		if err != nil {
			return fmt.Errorf("sorting by %s: %w", expression, err)
		}
		if len(values) > 0 {
			texts[item] = fmt.Sprint(values[0])
		}
	}
	if len(texts) == 0 && len(l.Items) > 0 {
		return fmt.Errorf("sorting by %s: no item has such a field", expression)
	}
	compare := comparison(texts)
	slices.SortStableFunc(l.Items, func(a, b Item) int {
		first, has := texts[a]
		second, hasToo := texts[b]
		if !has || !hasToo {
			return cmp.Compare(words.Btoi(has), words.Btoi(hasToo))
		}
		return compare(first, second)
	})
	return nil
}

// comparison returns how values compare that are written like all of these. It depends on all of them: else
// "2" < "10" as numbers, "10" < "1a" and "1a" < "2" as text would be no order.
func comparison(texts map[Item]string) func(a, b string) int {
	quantities, durations := map[string]resource.Quantity{}, map[string]time.Duration{}
	allQuantities, allDurations := true, true
	for _, text := range texts {
		q, err := quantity.Parse(text)
		quantities[text], allQuantities = q, allQuantities && err == nil
		d, err := time.ParseDuration(text)
		durations[text], allDurations = d, allDurations && err == nil
	}
	switch {
	case allQuantities:
		return func(a, b string) int { q := quantities[a]; return q.Cmp(quantities[b]) }
	case allDurations:
		return func(a, b string) int { return cmp.Compare(durations[a], durations[b]) }
	}
	return words.CompareNames
}
