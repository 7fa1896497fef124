package listing

import (
	"maps"
)

// setMarks marks rows by their keys, and no others.
func setMarks[T any](l *List[T], marks map[string]bool) {
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

// toggleMark marks the row at the cursor, or takes its mark away, and goes on to the next one.
func toggleMark[T any](l *List[T]) {
	l.moved = true
	row := l.Row()
	if row == nil || onBranch(l) { // a heading
		l.table.Move(1)
		return
	}
	key := l.config.Key(row)
	marks := copyOfMarks(l)
	if marks[key] {
		delete(marks, key)
	} else {
		marks[key] = true
	}
	setMarks(l, marks)
	l.table.Move(1)
}

// toggleMarks marks all rows that the filter lets pass; if all of them are marked, it takes their marks away.
func toggleMarks[T any](l *List[T]) {
	marks := copyOfMarks(l)
	before := len(marks)
	for row := range l.Shown() {
		marks[l.config.Key(row)] = true
	}
	if len(marks) == before {
		for row := range l.Shown() {
			delete(marks, l.config.Key(row))
		}
	}
	setMarks(l, marks)
}

// copyOfMarks is a copy of the marks that can be written.
func copyOfMarks[T any](l *List[T]) map[string]bool {
	marks := map[string]bool{}
	maps.Copy(marks, l.marks)
	return marks
}
