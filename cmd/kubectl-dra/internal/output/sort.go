package output

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

// Sort sorts the items by the field that a JSONPath names, as --sort-by does. Numbers and quantities
// sort by value and text by its bytes; items without the field come first; equal ones keep their order.
func (l *List) Sort(expression string) error {
	if strings.Trim(expression, "{}.") == "age" {
		slices.SortStableFunc(l.Items, func(a, b Item) int { return b.Meta().Created.Compare(a.Meta().Created) })
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
	slices.SortStableFunc(l.Items, func(a, b Item) int { return compareValues(keys[a], keys[b]) })
	return nil
}

func compareValues(a, b any) int {
	if a == nil || b == nil {
		return cmp.Compare(present(a), present(b))
	}
	x, y := fmt.Sprint(a), fmt.Sprint(b)
	if p, err := resource.ParseQuantity(x); err == nil {
		if q, err := resource.ParseQuantity(y); err == nil {
			return p.Cmp(q)
		}
	}
	return strings.Compare(x, y)
}

func present(v any) int {
	if v == nil {
		return 0
	}
	return 1
}
