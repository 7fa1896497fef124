package editor

import (
	"regexp"
	"slices"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/allocator/selector"
	"github.com/kubectl-dra/kubectl-dra/allocator/selector/bench"
)

// Kind is what an item of a completion is.
type Kind uint8

// The kinds.
const (
	DomainKind Kind = iota
	FieldKind
	ValueKind
	FunctionKind
	OperatorKind
)

// Item is something that can stand at the cursor.
type Item struct {
	// Label is shown, Insert is written. Both come from a cluster and are unsafe to print unless sanitized.
	Label, Insert string
	Kind          Kind
	// Help is one line.
	Help string
	// Devices is how many devices have it; 0 for what does not depend on devices.
	Devices int
}

// Completion is what can stand at a place: an item replaces the bytes from From up to To. The best item
// is the first.
type Completion struct {
	From, To int
	Items    []Item
}

// Apply returns the text with an item in its place, and the cursor behind it.
func (c *Completion) Apply(text string, item int) (out string, cursor int) {
	insert := c.Items[item].Insert
	return text[:c.From] + insert + text[c.To:], c.From + len(insert)
}

// Completer completes selectors. It may be used by several goroutines at once.
type Completer struct {
	inv *bench.Inventory
	// fields are sorted, the most frequent first.
	fields   []*bench.FieldInfo
	features selector.Features
}

// NewCompleter returns a completer that proposes what devices have.
func NewCompleter(inv *bench.Inventory, features selector.Features) *Completer {
	c := &Completer{inv: inv, fields: inv.Fields(), features: features}
	slices.SortStableFunc(c.fields, func(a, b *bench.FieldInfo) int { return b.Total() - a.Total() })
	return c
}

// maxItems is how many items a completion has at most.
const maxItems = 50

// Complete proposes what can stand at the cursor, an offset in bytes.
func (c *Completer) Complete(text string, cursor int) Completion {
	cursor = min(max(cursor, 0), len(text))
	p := placeAt(text, cursor)
	if p.silent {
		return Completion{From: cursor, To: cursor}
	}
	out := Completion{From: p.from, To: p.to, Items: c.items(&p)}
	out.Items = rank(out.Items, p.typed)
	out.Items = out.Items[:min(len(out.Items), maxItems)]
	return out
}

// place is where the cursor is.
type place struct {
	// from and to are what is replaced, typed is what is written there up to the cursor.
	from, to int
	typed    string
	// quote is the quote of the string in which the cursor is, or ""; closed says that it is closed.
	quote  string
	closed bool
	// before are the tokens before what is replaced.
	before []token
	// after is the byte behind what is replaced, or 0.
	after byte
	// silent says that nothing is proposed, as in a comment.
	silent bool
}

func placeAt(text string, cursor int) place {
	p := place{from: cursor, to: cursor}
	for _, s := range Highlight(text) {
		switch {
		case s.End < cursor || s.End == cursor && !endsWithCursor(s, text):
			if s.Role != Space && s.Role != Comment {
				p.before = append(p.before, token{s, text[s.Start:s.End]})
			}
			continue
		case s.Start >= cursor:
		case s.Role == Comment || s.Role == Number || strings.ContainsAny(text[s.Start:s.Start+1], "rRbB") && s.Role == Text:
			p.silent = true
		case s.Role == Text:
			p.inString(text, s, cursor)
		case s.Role == Space || s.Role == Punctuation || s.Role == Operator || s.Role == Unknown:
		default:
			p.from, p.to = s.Start, s.End
			p.typed = text[s.Start:cursor]
		}
		break
	}
	if p.to < len(text) {
		p.after = text[p.to]
	}
	return p
}

// endsWithCursor reports whether a cursor just behind a span is still in it.
func endsWithCursor(s Span, text string) bool {
	switch s.Role {
	case Text:
		return s.Open && (s.End == len(text) || text[s.End] == '\n')
	case Comment:
		return true
	case Name, Member, Function, Constant, Keyword, Number:
		return true
	default:
		return false
	}
}

func (p *place) inString(text string, s Span, cursor int) {
	p.quote = text[s.Start : s.Start+1]
	if strings.HasPrefix(text[s.Start:s.End], strings.Repeat(p.quote, 3)) {
		p.silent = true
		return
	}
	p.from, p.closed = s.Start+1, !s.Open
	p.to = cursor // of one that is not closed, what follows is hardly meant to be in it
	if p.closed {
		p.to = s.End - 1
	}
	p.typed = text[p.from:cursor]
}

// items returns what goes here, not sorted.
func (c *Completer) items(p *place) []Item {
	k := len(p.before)
	last := ""
	if k > 0 {
		last = p.before[k-1].text
	}
	dot, optional := dotBefore(p.before)
	switch {
	case p.quote != "" && (last == "[" || k > 1 && last == "?" && p.before[k-2].text == "["):
		return c.keys(p)
	case p.quote != "":
		return c.values(p)
	case optional:
		return c.names(chainBefore(p.before, k-dot))
	case dot > 0:
		return c.members(chainBefore(p.before, k-dot), p)
	case last == "[":
		return c.keys(p)
	case k > 0 && ends(p.before[k-1]):
		return c.operators(p)
	}
	return append(c.values(p), c.starts(p)...)
}

// ends reports whether a value ends with a token, so that an operator has to follow.
func ends(t token) bool {
	switch t.Role {
	case Name, Member, Constant, Number, Text:
		return true
	default:
		return t.text == ")" || t.text == "]"
	}
}

// rank leaves those that go with what is typed, the best first: those that begin with it, then those of
// which a word begins with it, then those that contain it.
func rank(items []Item, typed string) []Item {
	typed = strings.ToLower(typed)
	score := func(i Item) int {
		label := strings.ToLower(strings.Trim(i.Label, `"`))
		at := strings.Index(label, typed)
		switch {
		case at > 0 && !word.MatchString(label[at-1:at]):
			return 1
		case at > 0:
			return 2
		}
		return at
	}
	items = slices.DeleteFunc(slices.Clone(items), func(i Item) bool { return score(i) < 0 })
	slices.SortStableFunc(items, func(a, b Item) int { return score(a) - score(b) })
	return items
}

var word = regexp.MustCompile(`^\w`)
