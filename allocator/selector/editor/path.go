package editor

import (
	"strconv"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/allocator/selector"
)

// token is a span without white space and comments.
type token struct {
	Span
	text string
}

// chain is a value and what is selected from it, as device, attributes, gpu.example.com, model. It is
// empty when the tokens do not end with a value.
type chain struct {
	steps []step
	// start is the number of its first token.
	start int
}

// step is a name, a key in brackets, or a call.
type step struct {
	name     string
	call     bool
	literal  bool // a string, at the beginning of a chain
	optional bool
}

// chainBefore reads the chain that ends before the token end, backwards.
func chainBefore(tokens []token, end int) chain {
	c := chain{start: end}
	for c.start > 0 {
		n, s, more := stepBefore(tokens[:c.start])
		if n == 0 {
			return chain{start: end}
		}
		c.start -= n
		c.steps = append([]step{s}, c.steps...)
		if !more {
			break
		}
	}
	return c
}

// stepBefore reads the last step of some tokens: of how many it is, and whether something is before it
// from which it is selected.
func stepBefore(tokens []token) (n int, s step, more bool) {
	last := tokens[len(tokens)-1]
	switch {
	case last.text == ")":
		return callBefore(tokens)
	case last.text == "]":
		return keyBefore(tokens)
	case last.Role == Text && !last.Open:
		return 1, step{literal: true}, false
	case last.Role == Name || last.Role == Member || last.Role == Function:
		n, optional := dotBefore(tokens[:len(tokens)-1])
		return 1 + n, step{name: last.text, optional: optional}, n > 0
	}
	return 0, step{}, false
}

// dotBefore is how many tokens the dot, or .?, is of that some tokens end with.
func dotBefore(tokens []token) (n int, optional bool) {
	k := len(tokens)
	switch {
	case k > 0 && tokens[k-1].text == ".":
		return 1, false
	case k > 1 && tokens[k-1].text == "?" && tokens[k-2].text == ".":
		return 2, true
	}
	return 0, false
}

func callBefore(tokens []token) (n int, s step, more bool) {
	open := opening(tokens, "(", ")")
	if open < 0 {
		return 0, step{}, false
	}
	if open == 0 || tokens[open-1].Role != Function {
		return len(tokens) - open, step{}, false // in parentheses
	}
	dot, _ := dotBefore(tokens[:open-1])
	return len(tokens) - open + 1 + dot, step{name: tokens[open-1].text, call: true}, dot > 0
}

func keyBefore(tokens []token) (n int, s step, more bool) {
	open := opening(tokens, "[", "]")
	if open < 1 {
		return 0, step{}, false
	}
	key := tokens[open+1 : len(tokens)-1]
	optional := len(key) > 0 && key[0].text == "?"
	if optional {
		key = key[1:]
	}
	if len(key) != 1 || key[0].Role != Text {
		return 0, step{}, false
	}
	return len(tokens) - open, step{name: content(key[0].text), optional: optional}, true
}

// opening finds the bracket that the last token closes, or -1.
func opening(tokens []token, open, closing string) int {
	depth := 0
	for i := len(tokens) - 1; i >= 0; i-- {
		switch tokens[i].text {
		case closing:
			depth++
		case open:
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// content is what a string literal stands for; of one that is written in a rare way, what is between its
// quotes.
func content(literal string) string {
	inner := strings.Trim(literal, `"'`)
	if s, err := strconv.Unquote(`"` + inner + `"`); err == nil {
		return s
	}
	return inner
}

// field is the attribute or capacity that a chain ends with.
func (c chain) field() (selector.Field, bool) {
	if len(c.steps) != 4 || !c.inDevice() || c.steps[3].call {
		return selector.Field{}, false
	}
	return selector.Field{Kind: c.steps[1].name, Domain: c.steps[2].name, Name: c.steps[3].name}, true
}

// inDevice reports whether a chain goes into the attributes or the capacity of the device.
func (c chain) inDevice() bool {
	return len(c.steps) >= 2 && c.is(0, "device") && (c.is(1, "attributes") || c.is(1, "capacity"))
}

// is reports whether a step is a name.
func (c chain) is(i int, name string) bool {
	return i < len(c.steps) && c.steps[i].name == name && !c.steps[i].call
}
