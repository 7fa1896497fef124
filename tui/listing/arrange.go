package listing

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/inspect/quantity"
	"github.com/kubectl-dra/kubectl-dra/styled"
	"github.com/kubectl-dra/kubectl-dra/tui/widget"
)

// arranged are rows in the order in which they are shown. It is made in the background and not written
// afterwards.
type arranged[T any] struct {
	config  *Config[T]
	rows    []T
	columns []Column[T]
	order   order
	items   []item
	heads   []styled.Line
	shown   int
	natural []int
	// hint says why a filter that lets nothing pass may not be what was meant; empty otherwise.
	hint string
}

// item is a line of the table: a row, or, with row -1, a heading.
type item struct{ row, head int }

// Len implements widget.Rows.
func (a *arranged[T]) Len() int { return len(a.items) }

// firstRow is where the cursor is best at the beginning: not on a heading.
func (a *arranged[T]) firstRow() int {
	for i, item := range a.items {
		if item.row >= 0 {
			return i
		}
	}
	return 0
}

// Row implements widget.Rows.
func (a *arranged[T]) Row(i int) widget.Row {
	if at := a.items[i]; at.row < 0 {
		return widget.Row{Heading: a.heads[at.head]}
	}
	row := &a.rows[a.items[i].row]
	cells := make([]styled.Line, len(a.columns))
	for j := range cells {
		cells[j] = a.columns[j].Cell(row)
	}
	if a.order.grouping >= 0 {
		return widget.Row{Cells: cells, Mark: a.branch(i)}
	}
	return widget.Row{Cells: cells}
}

// branch draws how a row hangs below the heading of its group.
func (a *arranged[T]) branch(i int) string {
	if i+1 < len(a.items) && a.items[i+1].row >= 0 {
		return "├"
	}
	return "└"
}

// text is what filters and sorting see of a row in a column.
func (c *Column[T]) text(row *T) string {
	if c.Text != nil {
		return c.Text(row)
	}
	return c.Cell(row).String()
}

func arrange[T any](config *Config[T], rows []T, o order) arranged[T] {
	a := arranged[T]{config: config, rows: rows, order: o, columns: config.Columns}
	if config.Adapt != nil {
		a.columns = config.Adapt(rows)
	}
	index := a.filter()
	if a.shown = len(index); a.shown == 0 {
		a.hint = a.misread()
	}
	a.sort(index)
	a.group(index)
	a.natural = widget.Measure(widgetColumns(a.columns), &a)
	return a
}

// filter returns the rows that match.
func (a *arranged[T]) filter() []int {
	index := make([]int, 0, len(a.rows))
	match := a.matcher(a.order.filter)
	for i := range a.rows {
		if match == nil || match(&a.rows[i]) {
			index = append(index, i)
		}
	}
	return index
}

func (a *arranged[T]) sort(index []int) {
	if a.order.sort < 0 || a.order.sort >= len(a.columns) {
		return
	}
	column := &a.columns[a.order.sort]
	compare := column.Compare
	if compare == nil {
		compare = func(x, y *T) int { return compareTexts(column.text(x), column.text(y)) }
	}
	slices.SortStableFunc(index, func(x, y int) int {
		c := compare(&a.rows[x], &a.rows[y])
		if a.order.desc {
			return -c
		}
		return c
	})
}

// group puts headings between rows. Groups are sorted by name; in them, rows keep their order.
func (a *arranged[T]) group(index []int) {
	a.items = make([]item, 0, len(index))
	if a.order.grouping < 0 {
		for _, i := range index {
			a.items = append(a.items, item{row: i})
		}
		return
	}
	g := a.config.Groupings[a.order.grouping]
	members := map[string][]int{}
	var names []string
	for _, i := range index {
		name := g.Of(&a.rows[i])
		if members[name] == nil {
			names = append(names, name)
		}
		members[name] = append(members[name], i)
	}
	slices.SortFunc(names, compareTexts)
	for _, name := range names {
		rows := make([]*T, len(members[name]))
		for i, at := range members[name] {
			rows[i] = &a.rows[at]
		}
		a.items = append(a.items, item{row: -1, head: len(a.heads)})
		a.heads = append(a.heads, g.heading(name, rows))
		for _, i := range members[name] {
			a.items = append(a.items, item{row: i})
		}
	}
}

func (g *Grouping[T]) heading(name string, rows []*T) styled.Line {
	if g.Heading != nil {
		return g.Heading(name, rows)
	}
	if name == "" {
		name = "none"
	}
	return styled.Line{{Text: name, Role: styled.Strong}, {Text: "  " + strconv.Itoa(len(rows)), Role: styled.Dim}}
}

// matcher turns a filter into a test; nil lets everything pass. A filter has words that must all match:
// "column=value" looks into one column, "column>number" (or <, >=, <=) compares what it shows, any other word
// may match anywhere. A "!" before a word turns it round.
func (a *arranged[T]) matcher(filter string) func(*T) bool {
	var tests []func(*T) bool
	for _, word := range strings.Fields(filter) {
		word, not := strings.CutPrefix(word, "!")
		if word == "" {
			continue
		}
		test := a.wordTest(word, !not)
		tests = append(tests, func(row *T) bool { return test(row) != not })
	}
	if tests == nil {
		return nil
	}
	return func(row *T) bool {
		for _, test := range tests {
			if !test(row) {
				return false
			}
		}
		return true
	}
}

// wordTest is the test of a word; what is only like it counts if that is wanted and nothing has it as it was typed.
func (a *arranged[T]) wordTest(word string, alike bool) func(*T) bool {
	if test := a.columnTest(word); test != nil {
		return test
	}
	word = strings.ToLower(word)
	exact := func(row *T) bool { return a.has(row, word, strings.Contains) }
	if !alike {
		return exact
	}
	for i := range a.rows {
		if exact(&a.rows[i]) {
			return exact
		}
	}
	return func(row *T) bool { return a.has(row, word, fuzzy) }
}

// has reports whether a column of a row, or what filters see besides, has a word.
func (a *arranged[T]) has(row *T, word string, contains func(text, word string) bool) bool {
	for i := range a.columns {
		if contains(strings.ToLower(a.columns[i].text(row)), word) {
			return true
		}
	}
	return a.config.Extra != nil && strings.Contains(strings.ToLower(a.config.Extra(row)), word)
}

// misread says of the first word of the filter that looks as if it were about a column why it is not.
func (a *arranged[T]) misread() string {
	for _, word := range strings.Fields(a.order.filter) {
		title, operator, value := parse(strings.TrimPrefix(word, "!"))
		if title == "" {
			continue
		}
		column := a.column(title)
		switch {
		case column == nil:
			titles := make([]string, len(a.columns))
			for i := range titles {
				titles[i] = strings.ToLower(a.columns[i].Title)
			}
			return "; columns are " + strings.Join(titles, ", ")
		case operator != "=" && column.Amount == nil:
			return "; " + title + " has no numbers"
		case operator != "=" && amountTest(column, operator, value) == nil:
			return "; " + strconv.Quote(value) + " is no number"
		}
	}
	return ""
}

// parse takes a word such as free>=4 apart; title is empty when it is not of that form.
func parse(word string) (title, operator, value string) {
	at := strings.IndexAny(word, "=<>")
	if at < 0 {
		return "", "", ""
	}
	title, operator, value = word[:at], word[at:at+1], word[at+1:]
	if rest, ok := strings.CutPrefix(value, "="); ok && operator != "=" {
		operator, value = operator+"=", rest
	}
	return title, operator, value
}

// column is the column with a title, or nil.
func (a *arranged[T]) column(title string) *Column[T] {
	i := slices.IndexFunc(a.columns, func(c Column[T]) bool { return strings.EqualFold(c.Title, title) })
	if i < 0 {
		return nil
	}
	return &a.columns[i]
}

// columnTest is the test of a word that is about one column, or nil.
func (a *arranged[T]) columnTest(word string) func(*T) bool {
	title, operator, value := parse(word)
	column := a.column(title)
	switch {
	case column == nil:
		return nil
	case operator != "=":
		return amountTest(column, operator, value)
	}
	value = strings.ToLower(value)
	return func(row *T) bool { return strings.Contains(strings.ToLower(column.text(row)), value) }
}

// quantityOf reads a number as Kubernetes writes quantities.
func quantityOf(text string) (float64, bool) {
	q, err := quantity.Parse(text)
	return q.AsApproximateFloat64(), err == nil
}

// amountTest compares the number that a column shows with one that was typed; nil when one of the two is no number.
func amountTest[T any](column *Column[T], operator, value string) func(*T) bool {
	number := column.Number
	if number == nil {
		number = quantityOf
	}
	limit, ok := number(value)
	if !ok || column.Amount == nil {
		return nil
	}
	return func(row *T) bool {
		amount, ok := column.Amount(row)
		switch {
		case !ok:
			return false
		case operator == ">":
			return amount > limit
		case operator == ">=":
			return amount >= limit
		case operator == "<":
			return amount < limit
		}
		return amount <= limit
	}
}

// fuzzy reports whether a text contains a word, or, for words of three characters and more, whether it
// has the characters of the word in their order and near to each other.
func fuzzy(text, word string) bool {
	if strings.Contains(text, word) {
		return true
	}
	if len(word) < 3 {
		return false
	}
	for start := strings.IndexByte(text, word[0]); start >= 0; {
		at, end := 0, min(len(text), start+2*len(word)+2)
		for i := start; i < end && at < len(word); i++ {
			if text[i] == word[at] {
				at++
			}
		}
		if at == len(word) {
			return true
		}
		next := strings.IndexByte(text[start+1:], word[0])
		if next < 0 {
			return false
		}
		start += next + 1
	}
	return false
}

// compareTexts orders texts so that numbers in them count by value: gpu-2 comes before gpu-10.
func compareTexts(a, b string) int {
	x, y := a, b
	for x != "" && y != "" {
		if digit(x[0]) && digit(y[0]) {
			var m, n string
			m, x = number(x)
			n, y = number(y)
			if c := cmp.Or(cmp.Compare(len(m), len(n)), strings.Compare(m, n)); c != 0 {
				return c
			}
			continue
		}
		if x[0] != y[0] {
			return cmp.Compare(x[0], y[0])
		}
		x, y = x[1:], y[1:]
	}
	return cmp.Or(cmp.Compare(len(x), len(y)), strings.Compare(a, b))
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

// number takes the digits at the beginning of a text, without leading zeros.
func number(s string) (digits, rest string) {
	end := 0
	for end < len(s) && digit(s[end]) {
		end++
	}
	return strings.TrimLeft(s[:end], "0"), s[end:]
}
