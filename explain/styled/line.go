package styled

import "strings"

// Role says what a piece of text is.
type Role int

// The roles.
const (
	Plain    Role = iota
	Strong        // answers and headings
	Good          // works, free
	Bad           // does not work
	Warn          // works partly, deserves a look
	Dim           // of little weight
	Name          // names of objects
	Accent        // what the eye should find: the active view, a key that can be pressed
	Title         // column titles
	Used          // taken devices and capacity
	Shared        // partly taken devices and capacity
	Supposed      // what is only supposed: answers under a what-if
	Keyword       // words of a language that is edited
	Literal       // literals of a language that is edited

	// Roles is the number of roles.
	Roles = iota
)

// Filled is the role of what stands on an area of the colour that the role has as text. There are as many of
// them as Roles.
func Filled(r Role) Role { return r + Roles }

// Span is a piece of text with a role.
type Span struct {
	Text string
	Role Role
	// Link names what the text leads to, for a program in which it can be followed. Whoever makes spans and
	// whoever follows them agree on what it means; it is never shown. It is empty if the text leads nowhere.
	Link string
}

// Line is a line of text.
type Line []Span

// Text is a line in one role.
func Text(role Role, s string) Line { return Line{{Text: s, Role: role}} }

// Width returns the number of columns that the line takes.
func (l Line) Width() int {
	n := 0
	for _, span := range l {
		n += Width(span.Text)
	}
	return n
}

// String returns the text without roles.
func (l Line) String() string {
	if len(l) == 1 {
		return l[0].Text
	}
	var b strings.Builder
	for _, span := range l {
		b.WriteString(span.Text)
	}
	return b.String()
}

// With adds a span. One that has the role and the link of the span before it becomes part of that. The line
// itself must not be used any more.
func (l Line) With(s Span) Line {
	if n := len(l); n > 0 && l[n-1].Role == s.Role && l[n-1].Link == s.Link {
		l[n-1].Text += s.Text
		return l
	}
	return append(l, s)
}
