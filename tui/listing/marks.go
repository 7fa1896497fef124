package listing

import (
	"fmt"
	"maps"

	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// Marked are the objects of the marked rows, in the order of the rows. Rows that a filter hides count; those that are
// gone do not. It is empty if no row is marked.
func (l *List[T]) Marked() []screen.Ref { return l.marked }

// Unmark takes all marks away.
func (l *List[T]) Unmark() { l.setMarks(nil) }

// setMarks marks rows by their keys, and no others.
func (l *List[T]) setMarks(marks map[string]bool) {
	l.marks, l.now.marks, l.marked = marks, marks, nil
	for i := range l.now.rows {
		if len(marks) == 0 {
			return
		}
		if l.now.tree.leaf(i) && marks[l.config.Key(&l.now.rows[i])] {
			l.marked = append(l.marked, l.config.Ref(&l.now.rows[i]))
		}
	}
}

// bulk says what marks are for.
func (l *List[T]) bulk() string { return "questions about several (e, w, y, C)" }

func (l *List[T]) markOff() string {
	if l.built && len(l.now.rows) == 0 {
		return fmt.Sprintf("there are no %s to mark", l.config.Noun)
	}
	return ""
}

// toggleMark marks the row at the cursor, or takes its mark away, and goes on to the next one.
func (l *List[T]) toggleMark() {
	l.moved = true
	row := l.Row()
	if row == nil || l.onBranch() { // a heading
		l.table.Move(1)
		return
	}
	key := l.config.Key(row)
	marks := maps.Clone(l.marks)
	if marks == nil {
		marks = map[string]bool{}
	}
	if marks[key] {
		delete(marks, key)
	} else {
		marks[key] = true
	}
	l.setMarks(marks)
	l.table.Move(1)
}

// toggleMarks marks all rows that the filter lets pass; if all of them are marked, it takes their marks away.
func (l *List[T]) toggleMarks() {
	marks := maps.Clone(l.marks)
	if marks == nil {
		marks = map[string]bool{}
	}
	before := len(marks)
	for row := range l.Shown() {
		marks[l.config.Key(row)] = true
	}
	if len(marks) == before {
		for row := range l.Shown() {
			delete(marks, l.config.Key(row))
		}
	}
	l.setMarks(marks)
}
