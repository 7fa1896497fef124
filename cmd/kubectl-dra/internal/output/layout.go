package output

import (
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
)

// Layout keeps the columns of a table in their places while rows are added by further prints. The zero
// value is that of a table that was not started yet; a Layout is for one table.
type Layout struct {
	widths []int // 0 is a column that was left out
}

func (l *Layout) started() bool { return l != nil && l.widths != nil }

// keep makes the widths of further rows those of the rows before. A column becomes wider for a name, and
// for text as far as the limit allows or the text would say too little; limit 0 is any width.
func (l *Layout) keep(columns []Column, rows [][]string, widths []int, limit int) {
	least := make([]int, len(widths))
	for i, c := range columns {
		if l.widths[i] == 0 {
			widths[i] = 0
			continue
		}
		least[i] = max(l.widths[i], c.least(rows, i, widths[i], i == len(columns)-1))
		widths[i] = max(l.widths[i], widths[i])
	}
	for i := len(widths) - 1; i >= 0 && limit > 0; i-- {
		if excess := styled.ColumnsWidth(widths, gap) - limit; excess > 0 && widths[i] > 0 {
			widths[i] = max(least[i], widths[i]-excess)
		}
	}
}

// PrintStream prints items that belong to no closed list, because more may follow: as further rows of a
// table, or each as a document of its own, which in JSON takes one line.
func (f Format) PrintStream(w io.Writer, list *List, opts TableOptions) error {
	switch f.Name {
	case "", "wide", "name", "custom-columns":
		return f.PrintList(w, list, opts)
	}
	for _, item := range list.Items {
		if f.Name == "json" {
			if err := printItemLine(w, list, item); err != nil {
				return err
			}
			continue
		}
		if f.Name == "yaml" {
			if _, err := io.WriteString(w, "---\n"); err != nil {
				return err
			}
		}
		if err := f.PrintValue(w, item); err != nil {
			return err
		}
	}
	return nil
}

// printItemLine prints an item as JSON on a line of its own, with its kind.
func printItemLine(w io.Writer, list *List, item Item) error {
	tree, err := json.Marshal(item)
	if err != nil {
		return fmt.Errorf("encoding JSON: %w", err)
	}
	head, err := json.Marshal(HeadOf(strings.TrimSuffix(list.Kind, "List")))
	if err != nil {
		return fmt.Errorf("encoding JSON: %w", err)
	}
	line, err := encodeJSON(json.RawMessage(append(append(head[:len(head)-1], ','), tree[1:]...)), "")
	if err != nil {
		return err
	}
	_, err = w.Write(line)
	return err
}

// Changed reports whether two items of one kind say different things, their age apart: it changes all the
// time without anything happening.
func Changed(a, b Item) bool { return !reflect.DeepEqual(ageless(a), ageless(b)) }

// ageless returns a copy of an item without its field Age, where it has one.
func ageless(item Item) any {
	from := reflect.ValueOf(item)
	if from.Kind() != reflect.Pointer || !from.Elem().FieldByName("Age").IsValid() {
		return item
	}
	to := reflect.New(from.Elem().Type())
	to.Elem().Set(from.Elem())
	to.Elem().FieldByName("Age").SetString("")
	return to.Interface()
}
