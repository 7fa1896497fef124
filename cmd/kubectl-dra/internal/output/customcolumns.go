package output

import (
	"fmt"
	"io"
	"reflect"
	"strings"

	"k8s.io/client-go/util/jsonpath"

	"github.com/kubectl-dra/kubectl-dra/explain/words"
)

// customColumns are columns that the user defined, as "NAME:.name,STATE:.state".
type customColumns []customColumn

type customColumn struct {
	header string
	path   *jsonpath.JSONPath
}

// parseCustomColumns reads the argument of custom-columns.
func parseCustomColumns(spec string) (customColumns, error) {
	var columns customColumns
	for part := range strings.SplitSeq(spec, ",") {
		header, expression, ok := strings.Cut(part, ":")
		if !ok || header == "" || expression == "" {
			return nil, fmt.Errorf("custom column %q: want HEADER:.field", part)
		}
		path, err := fieldPath(expression)
		if err != nil {
			return nil, err
		}
		columns = append(columns, customColumn{header, path})
	}
	return columns, nil
}

// fieldPath parses a JSONPath of an item. Like kubectl it accepts x.y, .x.y and {.x.y}.
func fieldPath(expression string) (*jsonpath.JSONPath, error) {
	inner := expression
	if strings.HasPrefix(inner, "{") && strings.HasSuffix(inner, "}") {
		inner = inner[1 : len(inner)-1]
	}
	inner = strings.TrimPrefix(inner, ".")
	path := jsonpath.New("field").AllowMissingKeys(true)
	if err := path.Parse("{." + inner + "}"); err != nil {
		return nil, fmt.Errorf("field %q: %w", expression, err)
	}
	return path, nil
}

// lookup returns the values that a path finds in an item.
func lookup(path *jsonpath.JSONPath, tree any) ([]any, error) {
	results, err := path.FindResults(tree)
	if err != nil && strings.Contains(err.Error(), "array index out of bounds") {
		return nil, nil // a shorter list than asked for is a missing value; jsonpath has no type for it
	}
	if err != nil {
		return nil, err
	}
	var values []any
	for _, result := range results {
		for _, v := range result {
			if v.IsValid() && (v.Kind() != reflect.Interface || !v.IsNil()) {
				values = append(values, v.Interface())
			}
		}
	}
	return values, nil
}

func (c customColumns) print(w io.Writer, list *List, opts TableOptions) error {
	columns := make([]Column, len(c))
	for i := range c {
		columns[i].Header = c[i].header
	}
	var rows [][]string
	for _, item := range list.Items {
		tree, err := toTree(item)
		if err != nil {
			return err
		}
		row := make([]string, len(c))
		for i := range c {
			values, err := lookup(c[i].path, tree)
			if err != nil {
				return fmt.Errorf("custom column %s: %w", c[i].header, err)
			}
			texts := words.Each(values, func(v any) string { return fmt.Sprint(v) })
			row[i] = OrNone(strings.Join(texts, ","))
		}
		rows = append(rows, row)
	}
	return WriteTable(w, columns, rows, TableOptions{NoHeaders: opts.NoHeaders, Layout: opts.Layout})
}
