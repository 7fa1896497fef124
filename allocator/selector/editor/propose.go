package editor

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/allocator/selector"
	"github.com/kubectl-dra/kubectl-dra/allocator/selector/bench"
)

// keys proposes domains or names behind an opening bracket, in a string or before one.
func (c *Completer) keys(p *place) []Item {
	end := len(p.before) - 1
	for end > 0 && p.before[end].text != "[" {
		end--
	}
	path := chainBefore(p.before, end)
	var items []Item
	closing := "]"
	if p.after == ']' || p.closed {
		closing = ""
	}
	if !path.inDevice() {
		return nil
	}
	switch len(path.steps) {
	case 2:
		for _, domain := range c.inv.Domains(path.steps[1].name) {
			of := c.of(path.steps[1].name, domain)
			item := Item{Label: domain, Insert: p.literal(domain) + closing, Kind: DomainKind, Devices: of[0].Total()}
			item.Help = fmt.Sprintf("%s of %s", someNames(of), bench.DeviceCount(item.Devices))
			items = append(items, item)
		}
		return byDevices(items)
	case 3:
		for _, f := range c.of(path.steps[1].name, path.steps[2].name) {
			items = append(items, Item{Label: f.Field.Name, Insert: p.literal(f.Field.Name) + closing, Kind: FieldKind, Devices: f.Total(), Help: describe(f)})
		}
	}
	return items
}

// literal writes a string: with its quotes, unless the cursor is in a string.
func (p *place) literal(s string) string {
	quoted := fmt.Sprintf("%q", s)
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

// of returns the fields of a domain, the most frequent first.
func (c *Completer) of(kind, domain string) []*bench.FieldInfo {
	return slices.DeleteFunc(slices.Clone(c.fields), func(f *bench.FieldInfo) bool { return f.Field.Kind != kind || f.Field.Domain != domain })
}

// someNames returns the most frequent names of some fields.
func someNames(fields []*bench.FieldInfo) string {
	const some = 4
	var names []string
	for _, f := range fields[:min(some, len(fields))] {
		names = append(names, f.Field.Name)
	}
	if len(fields) > some {
		names = append(names, "…")
	}
	return strings.Join(names, ", ")
}

// receiver is the chain on which a function is called whose argument begins behind the tokens, as in
// device.capacity["d"].memory.compareTo( .
func receiver(tokens []token) (chain, bool) {
	k := len(tokens)
	if k < 3 || tokens[k-1].text != "(" || tokens[k-2].Role != Function {
		return chain{}, false
	}
	dot, _ := dotBefore(tokens[:k-2])
	path := chainBefore(tokens, k-2-dot)
	return path, len(path.steps) > 0
}

// comparedWith is the chain before a comparison that the tokens end with.
func comparedWith(tokens []token) (path chain, ok bool) {
	k := len(tokens)
	if k == 0 {
		return chain{}, false
	}
	switch tokens[k-1].text {
	case "==", "!=", "<", "<=", ">", ">=":
		path = chainBefore(tokens, k-1)
	}
	return path, len(path.steps) > 0
}

// base is the chain without the calls at its end.
func (c chain) base() chain {
	for len(c.steps) > 0 && c.steps[len(c.steps)-1].call {
		c.steps = c.steps[:len(c.steps)-1]
	}
	return c
}

// valuesOf proposes the values that a chain has on devices.
func (c *Completer) valuesOf(path chain, p *place) []Item {
	path = path.base()
	if len(path.steps) == 2 && path.is(0, "device") && path.is(1, "driver") {
		var items []Item
		for _, driver := range slices.Sorted(maps.Keys(c.inv.Drivers)) {
			n := c.inv.Drivers[driver]
			items = append(items, Item{Label: driver, Insert: p.literal(driver), Kind: ValueKind, Devices: n, Help: bench.DeviceCount(n)})
		}
		return byDevices(items)
	}
	f, ok := path.field()
	if !ok {
		return nil
	}
	info := c.inv.Field(f)
	if info == nil {
		return nil
	}
	var items []Item
	for _, value := range info.Common(maxItems) {
		if item, ok := c.value(value, info, p); ok {
			items = append(items, item)
		}
	}
	return items
}

func byDevices(items []Item) []Item {
	slices.SortStableFunc(items, func(a, b Item) int { return b.Devices - a.Devices })
	return items
}

var version = regexp.MustCompile(`^semver\((".*")\)$`)

// value is a value as it is written here: in a string only what is a string goes, or is given to quantity
// or semver as one.
func (c *Completer) value(value string, info *bench.FieldInfo, p *place) (Item, bool) {
	n := info.Values[value]
	item := Item{Label: value, Insert: value, Kind: ValueKind, Devices: n, Help: "of " + bench.DeviceCount(n)}
	quantity := info.Field.Kind == "capacity"
	switch {
	case quantity && p.quote == "":
		item.Insert = fmt.Sprintf("quantity(%q)", value)
	case quantity:
		item.Insert = p.literal(value)
	case p.quote == "":
	case version.MatchString(value):
		item.Label = content(version.FindStringSubmatch(value)[1])
		item.Insert = p.literal(item.Label)
	case strings.HasPrefix(value, `"`):
		item.Label = content(value)
		item.Insert = p.literal(item.Label)
	default:
		return Item{}, false
	}
	return item, true
}

// values proposes the values of the field that is compared, when the right side begins here. In a string that
// may be the argument of quantity or semver.
func (c *Completer) values(p *place) []Item {
	tokens := p.before
	if k := len(tokens); p.quote != "" && k > 1 && tokens[k-1].text == "(" && (tokens[k-2].text == "quantity" || tokens[k-2].text == "semver") {
		tokens = tokens[:k-2]
	} else if path, ok := comparedWith(tokens); ok {
		return c.valuesOf(path, p)
	}
	if path, ok := receiver(tokens); ok {
		return c.valuesOf(path, p)
	}
	return nil
}

// members proposes what can follow a dot.
func (c *Completer) members(path chain, p *place) []Item {
	switch {
	case len(path.steps) == 0:
		return nil
	case len(path.steps) == 1 && path.is(0, "device"):
		return c.deviceFields(p)
	case len(path.steps) == 1 && path.is(0, "cel"):
		return []Item{{Label: "bind", Insert: "bind(", Kind: FunctionKind, Help: functionNamed("cel.bind").help}}
	case path.inDevice() && len(path.steps) == 3 && !path.steps[2].call:
		return c.names(path)
	}
	return c.methods(c.typeOf(path))
}

func (c *Completer) deviceFields(p *place) []Item {
	var items []Item
	for _, item := range deviceFields {
		if item.Label == "allowMultipleAllocations" && !c.features.ConsumableCapacity {
			continue
		}
		if p.after == '[' {
			item.Insert = item.Label
		}
		items = append(items, item)
	}
	return items
}

// names proposes the names of a domain, as far as they can stand behind a dot.
func (c *Completer) names(path chain) []Item {
	if !path.inDevice() || len(path.steps) != 3 {
		return nil
	}
	var items []Item
	for _, f := range c.of(path.steps[1].name, path.steps[2].name) {
		if selector.IsIdentifier(f.Field.Name) {
			items = append(items, Item{Label: f.Field.Name, Insert: f.Field.Name, Kind: FieldKind, Devices: f.Total(), Help: describe(f)})
		}
	}
	return items
}

// describe says the type of a field, on how many devices it is, and its most frequent values.
func describe(f *bench.FieldInfo) string {
	const some = 3
	kind := f.Type()
	if kind == "" {
		kind = "of several types"
	}
	text := fmt.Sprintf("%s on %s: %s", kind, bench.DeviceCount(f.Total()), strings.Join(f.Common(some), ", "))
	if len(f.Values) > some {
		text += ", …"
	}
	return text
}

// typeOf is the type of a chain as functions name it, or "" when it is not known.
func (c *Completer) typeOf(path chain) string {
	last := path.steps[len(path.steps)-1]
	switch {
	case last.literal:
		return "string"
	case last.call && last.name == "orValue":
		return c.typeOf(withoutOptional(path.base()))
	case last.call:
		return functionNamed(last.name).gives
	case path.is(1, "driver") && len(path.steps) == 2:
		return "string"
	}
	f, ok := path.field()
	switch {
	case ok && last.optional:
		return "optional"
	case ok && f.Kind == "capacity":
		return "quantity"
	case !ok || c.inv.Field(f) == nil:
		return ""
	}
	kind := c.inv.Field(f).Type()
	if strings.HasPrefix(kind, "list") {
		return "list"
	}
	return kind
}

func withoutOptional(path chain) chain {
	if len(path.steps) == 0 {
		return chain{steps: []step{{}}}
	}
	path.steps = slices.Clone(path.steps)
	path.steps[len(path.steps)-1].optional = false
	return path
}

func functionNamed(name string) function {
	for _, f := range functions {
		if f.name == name {
			return f
		}
	}
	return function{}
}

// methods proposes the functions that go with a type, all when it is not known.
func (c *Completer) methods(kind string) []Item {
	var items []Item
	for _, f := range functions {
		if f.on != "" && (kind == "" || f.on == kind) && (!f.lists || c.features.ListTypeAttributes) {
			items = append(items, f.item())
		}
	}
	return items
}

func (f *function) item() Item {
	return Item{Label: f.name, Insert: f.insert, Kind: FunctionKind, Help: f.help}
}

// starts proposes what an expression can begin with: the device, fields by their names alone, functions.
func (c *Completer) starts(p *place) []Item {
	items := []Item{{Label: "device", Insert: "device.", Kind: FieldKind, Help: "the device that is looked at"}}
	if p.after == '.' {
		items[0].Insert = "device"
	}
	for _, f := range functions {
		if f.on == "" {
			items = append(items, f.item())
		}
	}
	if p.typed == "" {
		return items
	}
	for _, f := range c.fields {
		items = append(items, Item{Label: f.Field.Name, Insert: f.Field.Expression(), Kind: FieldKind, Devices: f.Total(),
			Help: f.Field.Domain + ", " + describe(f)})
	}
	return items
}

// operators proposes what can follow a value.
func (c *Completer) operators(p *place) []Item {
	if p.typed != "" { // a name behind a value is no operator, only "in" is
		return []Item{{Label: "in", Insert: "in ", Kind: OperatorKind, Help: "true when a list or map contains it"}}
	}
	path := chainBefore(p.before, len(p.before))
	and := []Item{
		{Label: "&&", Insert: "&& ", Kind: OperatorKind, Help: "and"},
		{Label: "||", Insert: "|| ", Kind: OperatorKind, Help: "or"},
	}
	compare := []Item{
		{Label: "==", Insert: "== ", Kind: OperatorKind, Help: "equal"},
		{Label: "!=", Insert: "!= ", Kind: OperatorKind, Help: "not equal"},
	}
	order := []Item{
		{Label: ">=", Insert: ">= ", Kind: OperatorKind, Help: "at least"}, {Label: "<=", Insert: "<= ", Kind: OperatorKind, Help: "at most"},
		{Label: ">", Insert: "> ", Kind: OperatorKind, Help: "more than"}, {Label: "<", Insert: "< ", Kind: OperatorKind, Help: "less than"},
	}
	kind := ""
	if len(path.steps) > 0 {
		kind = c.typeOf(path)
	}
	_, right := comparedWith(p.before[:min(len(p.before), path.start)])
	switch {
	case right || kind == "bool":
		return append(and, compare...)
	case kind == "int" || kind == "double":
		return append(append(order, compare...), and...)
	}
	return append(compare, and...)
}
