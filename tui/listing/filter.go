package listing

import (
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/inspect/quantity"
	"github.com/kubectl-dra/kubectl-dra/internal/spell"
)

// filter returns the rows that match. A filter has words that must all match: "column=value" looks into one
// column, "column>number" (or <, >=, <=) compares what it shows, any other word may match anywhere. A "!"
// before a word turns it round.
func (a *arranged[T]) filter() []int {
	var tests []func(*T) bool
	for _, word := range strings.Fields(a.order.filter) {
		word, not := strings.CutPrefix(word, "!")
		if word == "" {
			continue
		}
		test := a.wordTest(word, !not)
		tests = append(tests, func(row *T) bool { return test(row) != not })
	}
	index := make([]int, 0, len(a.rows))
	for i := range a.rows {
		if !slices.ContainsFunc(tests, func(test func(*T) bool) bool { return !test(&a.rows[i]) }) {
			index = append(index, i)
		}
	}
	return index
}

// wordTest is the test of a word; what is only like it counts if that is wanted and nothing has it as it was
// typed.
func (a *arranged[T]) wordTest(word string, alike bool) func(*T) bool {
	if test := a.columnTest(word); test != nil {
		return test
	}
	unknown := a.unknownColumn(word)
	word = strings.ToLower(word)
	exact := func(row *T) bool { return a.has(row, word, strings.Contains) }
	if !alike {
		return exact
	}
	if unknown != "" || a.anyRow(exact) {
		return exact // what is like column=value is nothing that anybody means
	}
	a.alike = true
	return func(row *T) bool { return a.has(row, word, spell.Loosely) }
}

// anyRow reports whether there is a row of which a test is true.
func (a *arranged[T]) anyRow(test func(*T) bool) bool {
	for i := range a.rows {
		if test(&a.rows[i]) {
			return true
		}
	}
	return false
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

// misread says of the first word of the filter that looks as if it were about a column why it is not. One
// that is somewhere as it stands needs no column.
func (a *arranged[T]) misread() string {
	for _, word := range strings.Fields(a.order.filter) {
		word = strings.TrimPrefix(word, "!")
		title, operator, value := parse(word)
		if title == "" {
			continue
		}
		column := a.column(title)
		switch {
		case column == nil:
			text, key := strings.ToLower(word), strings.ToLower(title)+"=" // of an attribute of devices, for one
			if !a.anyRow(func(row *T) bool { return a.has(row, text, strings.Contains) || a.has(row, key, strings.Contains) }) {
				return a.unknownColumn(word)
			}
		case operator != "=" && column.Amount == nil:
			return title + " has no numbers"
		case operator != "=" && amountTest(column, operator, value) == nil:
			return strconv.Quote(value) + " is no number"
		}
	}
	return ""
}

// unknownColumn says of a word that is about a column that there is none, which one may be meant, and which
// there are. It is empty if the word is about none, or there is one.
func (a *arranged[T]) unknownColumn(word string) string {
	title, _, _ := parse(word)
	if title == "" || a.column(title) != nil {
		return ""
	}
	var all, titles []string
	for i := range a.columns {
		if c := &a.columns[i]; c.Title != "" && !strings.Contains(c.name(), " ") { // it can be typed
			titles = append(titles, c.name())
			all = append(append(all, c.name()), c.Names...)
		}
	}
	text := "no column is called " + strconv.Quote(title)
	if meant := spell.Meant(strings.ToLower(title), all); len(meant) > 0 {
		text += " (did you mean " + meant[0] + "?)"
	}
	return text + "; columns are " + strings.Join(titles, ", ")
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
	i := slices.IndexFunc(a.columns, func(c Column[T]) bool {
		return title != "" && (strings.EqualFold(c.Title, title) || strings.EqualFold(c.Short, title)) || slices.Contains(c.Names, strings.ToLower(title))
	})
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

// amountTest compares the number that a column shows with one that was typed. It is nil if either is not a
// number.
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
