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
	keys := make(map[Item]any, len(l.Items))
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
			keys[item] = values[0]
		}
	}
	if len(keys) == 0 && len(l.Items) > 0 {
		return fmt.Errorf("sorting by %s: no item has such a field", expression)
	}
	ranks := rank(keys)
	slices.SortStableFunc(l.Items, func(a, b Item) int { return cmp.Compare(ranks[a], ranks[b]) })
	return nil
}

// rank numbers the values from 1 in their order, equal ones alike. How two values compare depends on all of
// them: else "2" < "10" as numbers, "10" < "1a" and "1a" < "2" as text would be no order.
func rank(keys map[Item]any) map[Item]int {
	texts := make(map[Item]string, len(keys))
	for item, key := range keys {
		texts[item] = fmt.Sprint(key)
	}
	compare := comparison(texts)
	items := make([]Item, 0, len(keys))
	for item := range keys {
		items = append(items, item)
	}
	slices.SortFunc(items, func(a, b Item) int { return compare(texts[a], texts[b]) })
	ranks := make(map[Item]int, len(items))
	for i, item := range items {
		ranks[item] = i + 1
		if i > 0 && compare(texts[items[i-1]], texts[item]) == 0 {
			ranks[item] = ranks[items[i-1]]
		}
	}
	return ranks
}

// comparison returns how values compare that are written like all of these.
func comparison(texts map[Item]string) func(a, b string) int {
	quantities := make(map[string]resource.Quantity, len(texts))
	durations := make(map[string]time.Duration, len(texts))
	for _, text := range texts {
		if q, err := quantity.Parse(text); err == nil {
			quantities[text] = q
		}
		if d, err := time.ParseDuration(text); err == nil {
			durations[text] = d
		}
	}
	all := func(n int) bool { return n == distinct(texts) }
	switch {
	case all(len(quantities)):
		return func(a, b string) int { q := quantities[a]; return q.Cmp(quantities[b]) }
	case all(len(durations)):
		return func(a, b string) int { return cmp.Compare(durations[a], durations[b]) }
	}
	return words.CompareNames
}

func distinct(texts map[Item]string) int {
	seen := make(map[string]bool, len(texts))
	for _, text := range texts {
		seen[text] = true
	}
	return len(seen)
}
