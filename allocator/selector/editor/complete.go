package editor

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
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
	fields    []*bench.FieldInfo
	functions []selector.Function
	sharing   bool // devices have allowMultipleAllocations
}

// NewCompleter returns a completer that proposes what devices have.
func NewCompleter(inv *bench.Inventory, features selector.Features) *Completer {
	c := &Completer{inv: inv, fields: inv.Fields(), sharing: features.ConsumableCapacity}
	c.functions = selector.NewCache(features).Functions()
	slices.SortStableFunc(c.fields, func(a, b *bench.FieldInfo) int { return b.Devices - a.Devices })
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
	items := rank(c.items(&p), p.typed)
	return Completion{From: p.from, To: p.to, Items: items[:min(len(items), maxItems)]}
}

// place is where the cursor is.
type place struct {
	// from and to are what is replaced, typed is what is written there up to the cursor.
	from, to int
	typed    string
	// quote is the quote of the string in which the cursor is, or ""; closed says that it is closed.
	quote  string
	closed bool
	// before is the source before what is replaced, without blanks and comments, and with strings in double
	// quotes. value says that a value ends there, so that an operator has to follow.
	before string
	value  bool
	// after is the byte behind what is replaced, or 0.
	after byte
	// silent says that nothing is proposed, as in a comment.
	silent bool
}

func placeAt(text string, cursor int) place {
	p := place{from: cursor, to: cursor}
	for _, s := range Highlight(text) {
		source := text[s.Start:s.End]
		switch {
		case s.End < cursor || s.End == cursor && !endsWithCursor(s, text):
			p.pass(s.Role, source)
			continue
		case s.Start >= cursor:
		case s.Role == Comment || s.Role == Number || s.Role == Text && strings.ContainsAny(source[:1], "rRbB"):
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

// pass adds what is before the cursor.
func (p *place) pass(role Role, source string) {
	switch role {
	case Space, Comment:
		return
	case Text:
		source = strconv.Quote(strings.Trim(source, `"'`))
	case Keyword:
		source = " " + source + " "
	default:
	}
	p.before += source
	p.value = source == ")" || source == "]" || role == Name || role == Member || role == Constant || role == Number || role == Text
}

// endsWithCursor reports whether a cursor just behind a span is still in it.
func endsWithCursor(s Span, text string) bool {
	switch s.Role {
	case Text:
		return s.Open && (s.End == len(text) || text[s.End] == '\n')
	case Comment, Name, Member, Function, Constant, Keyword, Number:
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

// literal writes a string: with its quotes, unless the cursor is in a string.
func (p *place) literal(s string) string {
	quoted := strconv.Quote(s)
	inner := quoted[1 : len(quoted)-1]
	switch p.quote {
	case "":
		return quoted
	case "'":
		inner = strings.ReplaceAll(inner, "'", `\'`)
	}
	if p.closed {
		return inner
	}
	return inner + p.quote
}

// key writes a string in brackets of which the first is there already.
func (p *place) key(s string) string {
	if p.after == ']' || p.closed {
		return p.literal(s)
	}
	return p.literal(s) + "]"
}

// Patterns of what is before the cursor. A call may have another one among its arguments.
const (
	literal = `"((?:[^"\\]|\\.)*)"`
	domain  = `\bdevice\.(attributes|capacity)\[\??` + literal + `\]`
	field   = domain + `(?:\.(\??)(\w+)|\[(\??)` + literal + `\])`
	args    = `\((?:[^()]|\([^()]*\))*\)`
)

var (
	beforeDomain   = regexp.MustCompile(`\bdevice\.(attributes|capacity)\[\??$`)
	beforeName     = regexp.MustCompile(domain + `(\.|\[)\??$`)
	beforeValue    = regexp.MustCompile(`(?:` + field + `|device\.driver)(?:\.\w+` + args + `)*(?:[=!]=|[<>]=?|\.\w+\()((?:quantity|semver)\()?$`)
	endOfField     = regexp.MustCompile(field + `$`)
	endOfCall      = regexp.MustCompile(`\.?(\w+)` + args + `$`)
	namespace      = regexp.MustCompile(`(?:^|[^.\w])(\w+\.)$`)
	afterComparing = regexp.MustCompile(`(?:[=!<>]=|[<>])[^=<>&|?:]*$`)
)

// fieldOf is the field in a match of the pattern field, and whether it is read as an optional one.
func fieldOf(match []string) (f selector.Field, optional bool) {
	return selector.Field{Kind: match[1], Domain: match[2], Name: cmp.Or(match[4], match[6])}, match[3]+match[5] != ""
}

// items returns what goes here, not sorted.
func (c *Completer) items(p *place) []Item {
	if m := beforeDomain.FindStringSubmatch(p.before); m != nil {
		return c.domains(p, m[1])
	}
	if m := beforeName.FindStringSubmatch(p.before); m != nil && (p.quote == "" || m[3] == "[") {
		return c.names(p, m[1], m[2], m[3] == "[")
	}
	values := c.values(p)
	switch {
	case p.quote != "":
		return values
	case p.before == "device.":
		return c.deviceFields(p)
	case strings.HasSuffix(p.before, "."):
		return c.members(strings.TrimSuffix(p.before, "."))
	case p.value:
		return c.operators(p)
	}
	return append(values, c.starts(p)...)
}

// of returns the fields of a domain, the most frequent first.
func (c *Completer) of(kind, domain string) []*bench.FieldInfo {
	return slices.DeleteFunc(slices.Clone(c.fields), func(f *bench.FieldInfo) bool { return f.Field.Kind != kind || f.Field.Domain != domain })
}

func (c *Completer) domains(p *place, kind string) []Item {
	var items []Item
	for _, domain := range c.inv.Domains(kind) {
		const some = 4
		of := c.of(kind, domain)
		var names []string
		for _, f := range of {
			names = append(names, f.Field.Name)
		}
		if len(names) > some {
			names = append(names[:some], "…")
		}
		help := fmt.Sprintf("%s of %s", strings.Join(names, ", "), bench.DeviceCount(of[0].Devices))
		items = append(items, Item{Label: domain, Insert: p.key(domain), Kind: DomainKind, Devices: of[0].Devices, Help: help})
	}
	return byDevices(items)
}

// names proposes the names of a domain; behind a dot those that can stand there.
func (c *Completer) names(p *place, kind, domain string, brackets bool) []Item {
	var items []Item
	for _, f := range c.of(kind, domain) {
		item := Item{Label: f.Field.Name, Insert: f.Field.Name, Kind: FieldKind, Devices: f.Devices, Help: f.Describe()}
		if brackets {
			item.Insert = p.key(f.Field.Name)
		} else if !selector.IsIdentifier(f.Field.Name) {
			continue
		}
		items = append(items, item)
	}
	return items
}

func byDevices(items []Item) []Item {
	slices.SortStableFunc(items, func(a, b Item) int { return b.Devices - a.Devices })
	return items
}

// values proposes what devices have in the field that is compared here. In a string that may be the
// argument of quantity or semver.
func (c *Completer) values(p *place) []Item {
	m := beforeValue.FindStringSubmatch(p.before)
	if m == nil {
		return nil
	}
	var items []Item
	if m[1] == "" {
		for _, driver := range slices.Sorted(maps.Keys(c.inv.Drivers)) {
			n := c.inv.Drivers[driver]
			items = append(items, Item{Label: driver, Insert: p.literal(driver), Kind: ValueKind, Devices: n, Help: bench.DeviceCount(n)})
		}
		return byDevices(items)
	}
	f, _ := fieldOf(m)
	info := c.inv.Field(f)
	if info == nil {
		return nil
	}
	for _, value := range info.Common(maxItems) {
		item := Item{Label: value, Insert: value, Kind: ValueKind, Devices: info.Values[value]}
		item.Help = "of " + bench.DeviceCount(item.Devices)
		bare, err := strconv.Unquote(strings.TrimSuffix(strings.TrimPrefix(value, "semver("), ")"))
		wrapped := p.quote != "" || m[7] != ""
		switch {
		case f.Kind == "capacity" && wrapped:
			item.Insert = p.literal(value)
		case f.Kind == "capacity":
			item.Insert = fmt.Sprintf("quantity(%q)", value)
		case wrapped && err != nil:
			continue // no string
		case wrapped:
			item.Label, item.Insert = bare, p.literal(bare)
		}
		items = append(items, item)
	}
	return items
}

var deviceFields = []Item{
	{Label: "attributes", Insert: "attributes[\"", Kind: FieldKind, Help: "what a device is, by domain: device.attributes[\"gpu.example.com\"].model"},
	{Label: "capacity", Insert: "capacity[\"", Kind: FieldKind, Help: "how much of something it has, a quantity: device.capacity[\"gpu.example.com\"].memory"},
	{Label: "driver", Insert: "driver", Kind: FieldKind, Help: "the name of its driver, a string"},
	{Label: "allowMultipleAllocations", Insert: "allowMultipleAllocations", Kind: FieldKind, Help: "true when several claims can share it"},
}

// deviceFields are what can be selected from the device.
func (c *Completer) deviceFields(p *place) []Item {
	items := slices.Clone(deviceFields)
	if !c.sharing {
		items = items[:3]
	}
	for i := range items {
		if p.after == '[' {
			items[i].Insert = items[i].Label
		}
	}
	return items
}

// members proposes the functions that go with a value, all when its type is not known, or those of a
// namespace.
func (c *Completer) members(of string) []Item {
	kind, space := c.typeOf(of), ""
	if m := namespace.FindStringSubmatch(of + "."); m != nil {
		space = m[1]
	}
	var members, inSpace []Item
	for i := range c.functions {
		f := &c.functions[i]
		switch short, ok := strings.CutPrefix(f.Name, space); {
		case f.On != "" && (kind == "" || f.On == kind || f.On == "dyn" && kind == "list"):
			members = append(members, call(f, f.Name))
		case f.On == "" && space != "" && ok:
			inSpace = append(inSpace, call(f, short))
		}
	}
	if len(inSpace) > 0 {
		return inSpace
	}
	return members
}

// call is a function up to the place of its first argument.
func call(f *selector.Function, name string) Item {
	item := Item{Label: name, Insert: name + "(", Kind: FunctionKind, Help: f.Signature}
	switch f.Takes {
	case "":
		item.Insert += ")"
	case "quantity":
		item.Insert += `quantity("`
	case "version":
		item.Insert += `semver("`
	}
	return item
}

// typeOf is the type of the value that a source ends with, as functions have it; "" when it is not known.
func (c *Completer) typeOf(source string) string {
	if strings.HasSuffix(source, `"`) || strings.HasSuffix(source, "device.driver") {
		return "string"
	}
	called := endOfCall.FindStringSubmatch(source)
	defaulted := called != nil && called[1] == "orValue"
	if defaulted {
		source = strings.TrimSuffix(source, called[0])
	}
	if m := endOfField.FindStringSubmatch(source); m != nil {
		f, optional := fieldOf(m)
		switch info := c.inv.Field(f); {
		case optional && !defaulted:
			return "optional"
		case f.Kind == "capacity":
			return "quantity"
		case info != nil && strings.HasPrefix(info.Type, "list"):
			return "list"
		case info != nil:
			return info.Type
		}
		return ""
	}
	if called != nil {
		for i := range c.functions {
			if c.functions[i].Name == called[1] && c.functions[i].Gives != "dyn" {
				return c.functions[i].Gives
			}
		}
	}
	return ""
}

// starts proposes what an expression can begin with: the device, fields by their names alone, functions.
func (c *Completer) starts(p *place) []Item {
	items := []Item{{Label: "device", Insert: "device.", Kind: FieldKind, Help: "the device that is looked at"}}
	if p.after == '.' {
		items[0].Insert = "device"
	}
	for i := range c.functions {
		if c.functions[i].On == "" {
			items = append(items, call(&c.functions[i], c.functions[i].Name))
		}
	}
	if p.typed == "" {
		return items
	}
	for _, f := range c.fields {
		items = append(items, Item{
			Label: f.Field.Name, Insert: f.Field.Expression(), Kind: FieldKind, Devices: f.Devices, Help: f.Field.Domain + ", " + f.Describe(),
		})
	}
	return items
}

// operators proposes what can follow a value.
func (c *Completer) operators(p *place) []Item {
	operator := func(name, help string) Item {
		return Item{Label: name, Insert: name + " ", Kind: OperatorKind, Help: help}
	}
	if p.typed != "" { // a name behind a value is no operator, only "in" is
		return []Item{operator("in", "true when a list or map contains it")}
	}
	and := []Item{operator("&&", "and"), operator("||", "or")}
	compare := []Item{operator("==", "equal"), operator("!=", "not equal")}
	switch kind := c.typeOf(p.before); {
	case kind == "bool" || afterComparing.MatchString(p.before):
		return append(and, compare...)
	case kind == "int" || kind == "double":
		order := []Item{operator(">=", "at least"), operator("<=", "at most"), operator(">", "more than"), operator("<", "less than")}
		return slices.Concat(order, compare, and)
	}
	return append(compare, and...)
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
