package archive

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Texts in CEL expressions. What an expression compares with an attribute is replaced as the attribute is:
//
//	device.attributes["gpu.acme.com"].model == "X9"     device.attributes["driver-1"].id_4 == "value-07"
//
// What it searches in an attribute cannot be: "value-07" does not begin with what begins "X9". There the
// search is replaced by one for the values of the archive that are found:
//
//	….model.startsWith("X")                             ….id_4.matches("^(?:value-07|value-12)$")
//
// That is exact for the devices of the archive. Expressions that compute with text in other ways (split,
// substring, size, <) are counted in Header.InexactSelectors. Comments are dropped.

// expression replaces the texts of an expression.
func (r *renamer) expression(s string) string {
	tokens, ok := lex(s)
	if !ok {
		return "invalid(" // does not compile either
	}
	e := &rewriting{renamer: r, exact: true}
	for _, t := range tokens {
		switch {
		case t.kind != space:
			e.tokens = append(e.tokens, t)
			e.after = append(e.after, "")
		case len(e.after) > 0 && !strings.HasPrefix(t.text, "//"): // kept, so that lines stay lines
			e.after[len(e.after)-1] += strings.Map(onlySpace, t.text)
		}
	}
	out := e.rewrite()
	if !e.exact && !r.learning {
		r.inexact++
	}
	return out
}

func onlySpace(c rune) rune {
	if c == ' ' || c == '\n' {
		return c
	}
	return -1
}

// rewriting is one expression that is written anew.
type rewriting struct {
	*renamer
	tokens []token
	after  []string // the space after each token
	exact  bool
}

func (e *rewriting) rewrite() string {
	var b strings.Builder
	for i := 0; i < len(e.tokens); i++ {
		text, used := e.search(i)
		if used == 0 {
			text, used = e.token(i), 1
		}
		b.WriteString(text)
		i += used - 1
		b.WriteString(e.after[i])
		this, next := e.at(i), e.at(i+1)
		if e.after[i] == "" && (this.isWord() && next.isWord() || this.is("/") && next.is("/")) {
			b.WriteByte(' ') // a tab or a comment was there, or nothing, in a text that does not compile
		}
	}
	return b.String()
}

// at returns a token; one that is nothing beyond the ends.
func (e *rewriting) at(i int) token {
	if i < 0 || i >= len(e.tokens) {
		return token{}
	}
	return e.tokens[i]
}

// token is what one token becomes.
func (e *rewriting) token(i int) string {
	t := e.at(i)
	switch t.kind {
	case identifier:
		if arithmetic[t.text] && e.at(i+1).is("(") || t.text == "size" {
			e.exact = false
		}
		return e.name(identifiers, strings.Trim(t.text, "`"))
	case quoted:
		return strconv.Quote(e.literal(i))
	}
	return t.text
}

// arithmetic are the functions that compute with text in ways that replaced texts do not follow.
var arithmetic = words(`split replace substring charAt indexOf lastIndexOf find findAll join format reverse
	startsWith endsWith contains matches lowerAscii upperAscii trim`)

// literal is what a text in quotes becomes. What is around it says what it is.
func (e *rewriting) literal(i int) string {
	t, before, beforeThat := e.at(i), e.at(i-1), e.at(i-2)
	e.exact = e.exact && !e.computed(i)
	switch {
	case before.is("(") && (beforeThat.is("quantity") || beforeThat.is("isQuantity")) && amount.MatchString(t.value):
		return t.value
	case before.is("(") && (beforeThat.is("semver") || beforeThat.is("isSemver")):
		return e.version(t.value)
	case e.namesDomain(i):
		return e.name(drivers, t.value)
	case before.is("[") && beforeThat.is("]"), e.at(i+1).is("in") && e.isFields(i+4):
		return e.name(identifiers, t.value)
	}
	return e.text(t.value)
}

// computed reports whether another text is made of this one, or it is compared by order.
func (e *rewriting) computed(i int) bool {
	before, after := e.at(i-1), e.at(i+1)
	if before.is("=") && !e.at(i-2).is("=") && !e.at(i-2).is("!") { // <= or >=
		before = e.at(i - 2)
	}
	return after.is(".") || slices.ContainsFunc([]string{"+", "<", ">"}, func(s string) bool { return before.is(s) || after.is(s) })
}

// isFields reports whether the token is the attributes or the capacity of a device.
func (e *rewriting) isFields(i int) bool { return e.at(i).is("attributes") || e.at(i).is("capacity") }

// namesDomain reports whether the text is a driver, or the domain of attributes.
func (e *rewriting) namesDomain(i int) bool {
	isDriver := func(i int) bool { return e.at(i).is("device") && e.at(i+2).is("driver") }
	switch before, after := e.at(i-1), e.at(i+1); {
	case before.is("["):
		return e.isFields(i - 2)
	case after.is("in"):
		return e.isFields(i+4) && !e.at(i+5).is("[")
	case before.is("=") && isDriver(i-5), after.is("=") && isDriver(i+3):
		return true
	}
	return false
}

var amount = regexp.MustCompile(`^[+-]?([0-9]{1,18}(\.[0-9]{0,9})?|\.[0-9]{1,9})([eE][+-]?[0-9]{1,3}|[KMGTPE]i|[numkMGTPE])?$`)

// search recognises a search in an attribute, or a comparison that ignores case, and writes one for the
// values that are found. used is the number of tokens that it stands for, which is 0 if there is none here.
func (e *rewriting) search(i int) (text string, used int) {
	if !e.at(i).is(".") {
		return "", 0
	}
	var changes []string
	end := i
	for e.at(end).is(".") && changing[e.at(end+1).text] != nil && e.at(end+2).is("(") && e.at(end+3).is(")") {
		changes = append(changes, e.at(end+1).text)
		end += 4
	}
	var finds func(string) bool
	switch function := e.at(end + 1).text; {
	case e.at(end).is(".") && searching[function] != nil && e.at(end+2).is("(") && e.at(end+3).kind == quoted && e.at(end+4).is(")"):
		finds, end = searching[function](e.at(end+3).value), end+5
	case len(changes) > 0 && e.at(end).is("=") && e.at(end+1).is("=") && e.at(end+2).kind == quoted:
		wanted := e.at(end + 2).value
		finds, end = func(s string) bool { return s == wanted }, end+3
	default:
		return "", 0
	}
	if e.learning {
		return "", end - i
	}
	found := "("
	if finds != nil {
		found = "^(?i:" + strings.Join(e.found(i, changes, finds), "|") + ")$"
	} // else the regular expression is none, and shall stay none
	for _, change := range changes {
		text += "." + change + "()"
	}
	return text + ".matches(" + strconv.Quote(found) + ")", end - i
}

// changing are functions from text to text that make the new values no others, but for case.
var changing = map[string]func(string) string{
	"lowerAscii": func(s string) string { return shifted(s, 'A', 'a'-'A') },
	"upperAscii": func(s string) string { return shifted(s, 'a', 'A'-'a') },
	"trim":       strings.TrimSpace,
}

// shifted is a text with the 26 letters from first on moved by some places.
func shifted(s string, first, by rune) string {
	return strings.Map(func(c rune) rune {
		if c >= first && c < first+26 {
			return c + by
		}
		return c
	}, s)
}

// searching are functions that look for a text in a text; nil for what is no regular expression.
var searching = map[string]func(wanted string) func(string) bool{
	"startsWith": looking(strings.HasPrefix),
	"endsWith":   looking(strings.HasSuffix),
	"contains":   looking(strings.Contains),
	"matches": func(wanted string) func(string) bool {
		pattern, err := regexp.Compile(wanted)
		if err != nil {
			return nil
		}
		return pattern.MatchString
	},
}

// looking is a search that needs nothing but the text and what it looks for.
func looking(finds func(s, wanted string) bool) func(wanted string) func(string) bool {
	return func(wanted string) func(string) bool {
		return func(s string) bool { return finds(s, wanted) }
	}
}

// found are the new values, as regular expressions, of those that an attribute has and that are found.
func (e *rewriting) found(dot int, changes []string, finds func(string) bool) []string {
	var out []string
	add := func(old string, renamed func(string) string) {
		changed := old
		for _, change := range changes {
			changed = changing[change](changed)
		}
		if finds(changed) {
			out = append(out, regexp.QuoteMeta(renamed(old)))
		}
	}
	if e.at(dot-1).is("driver") && e.at(dot-3).is("device") {
		for old := range e.known[drivers] {
			add(old, func(s string) string { return e.name(drivers, s) })
		}
	} else {
		for old := range e.candidates(dot - 1) {
			add(old, e.text)
		}
	}
	slices.Sort(out)
	return append(slices.Compact(out), "nothing")
}

// candidates are the values of the attribute that is named by the token, of all attributes if it names none.
func (e *rewriting) candidates(i int) map[string]bool {
	id := strings.Trim(e.at(i).text, "`")
	if e.at(i).is("]") && e.at(i-1).kind == quoted {
		id = e.at(i - 1).value
	}
	if of, ok := e.strings[id]; ok {
		return of
	}
	all := map[string]bool{}
	for _, of := range e.strings {
		maps.Copy(all, of)
	}
	return all
}
