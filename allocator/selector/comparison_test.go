package selector

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-dra/kubectl-dra/internal/effort"
	"github.com/kubectl-dra/kubectl-dra/internal/randomselector"
)

// TestComparison takes terms apart. The last column is the term in normal form, with the literal "new" and
// the relation "or equal".
func TestComparison(t *testing.T) {
	const attribute, capacity = `device.attributes["d.io"].x`, `device.capacity["d.io"].x`
	for _, tt := range []struct{ expression, want, with string }{
		{attribute + ` == "A100"`, `attributes string == A100`, attribute + ` == "new"`},
		{attribute + ` == "NVIDIA A100"`, `attributes string == NVIDIA A100`, attribute + ` == "new"`},
		{attribute + ` == "a!b"`, `attributes string == a!b`, attribute + ` == "new"`},
		{attribute + ` == "ä ` + attribute[:6] + `"`, `attributes string == ä device`, attribute + ` == "new"`},
		{`device.attributes["ä"].x == "é"`, `attributes string == é`, `device.attributes["ä"].x == "new"`},
		{`device.attributes["d.io"]["x"] == "A100"`, `attributes string == A100`, `device.attributes["d.io"]["x"] == "new"`},
		{`device.attributes['d.io'].x == 'A100'`, `attributes string == A100`, attribute + ` == "new"`},
		{attribute + ` > 5`, `attributes int > 5`, attribute + ` >= new`},
		{attribute + ">5", `attributes int > 5`, attribute + " >= new"},
		{attribute + " // why\n\t<\n5", `attributes int < 5`, attribute + " <= new"},
		{attribute + ` >= 0`, `attributes int >= 0`, attribute + ` >= new`},
		{attribute + ` == -5`, `attributes int == -5`, attribute + ` == new`},
		{`5 < ` + attribute, `attributes int > 5`, `new <= ` + attribute},
		{`(` + attribute + `) == (5)`, `attributes int == 5`, attribute + ` == new`},
		{attribute + ` == true`, `attributes bool == true`, attribute + ` == new`},
		{`true == ` + attribute, `attributes bool == true`, `new == ` + attribute},
		{attribute + ` == quantity("1")`, `attributes quantity == 1`, attribute + ` == quantity("new")`},
		{capacity + `.compareTo(quantity("80Gi")) >= 0`, `capacity quantity >= 80Gi`, capacity + `.compareTo(quantity("new")) >= 0`},
		{capacity + `.compareTo(quantity("80Gi")) < 0`, `capacity quantity < 80Gi`, capacity + `.compareTo(quantity("new")) <= 0`},
		{`0 > ` + capacity + `.compareTo(quantity("80Gi"))`, `capacity quantity < 80Gi`, `0 >= ` + capacity + `.compareTo(quantity("new"))`},
		{`quantity("80Gi").compareTo(` + capacity + `) < 0`, `capacity quantity > 80Gi`, `quantity("new").compareTo(` + capacity + `) <= 0`},
		{`0 < quantity("80Gi").compareTo(` + capacity + `)`, `capacity quantity < 80Gi`, `0 <= quantity("new").compareTo(` + capacity + `)`},
		{attribute + `.isGreaterThan(semver("1.2.3"))`, `attributes semver > 1.2.3`, attribute + `.compareTo(semver("new")) >= 0`},
		{capacity + `.isGreaterThan(quantity("1")) // why`, `capacity quantity > 1`, capacity + `.compareTo(quantity("new")) >= 0`},
		{attribute + ` == 0x5`, `attributes int == 5`, attribute + ` == new`},
		{attribute + ` == r"A"`, `attributes string == A`, attribute + ` == "new"`},
		{attribute + ` == """A"""`, `attributes string == A`, attribute + ` == "new"`},
		{attribute + ` == """"""`, `attributes string == `, attribute + ` == "new"`},
		{attribute + `.isLessThan (semver("1.2.3") ) `, `attributes semver < 1.2.3`, attribute + `.compareTo(semver("new")) <= 0`},
		{`semver("1.2.3").isLessThan(` + attribute + `)`, `attributes semver > 1.2.3`, `semver("new").compareTo(` + attribute + `) <= 0`},

		// Something else is said of the field and the literal.
		{attribute + `.startsWith("A")`, `attributes string  A`, attribute + `.startsWith("new")`},
		{attribute + `.lowerAscii() == "a100"`, `attributes string  a100`, attribute + `.lowerAscii() == "new"`},
		{attribute + `.size() > 3`, `attributes int  3`, attribute + `.size() > new`},
		{attribute + `.string == "A"`, `attributes string  A`, attribute + `.string == "new"`},
		{attribute + ` in ["A"]`, `attributes string  A`, attribute + ` in ["new"]`},
		{`["A"].exists(v, v == ` + attribute + `)`, `attributes string  A`, `["new"].exists(v, v == ` + attribute + `)`},
		{`cel.bind(a, ` + attribute + `, a == "A")`, `attributes string  A`, `cel.bind(a, ` + attribute + `, a == "new")`},
		{capacity + `.compareTo(quantity("80Gi")) == 1`, `capacity quantity  80Gi`, capacity + `.compareTo(quantity("new")) == 1`},

		// These are none.
		{attribute, "", ""},
		{`!` + attribute, "", ""},
		{`has(` + attribute + `)`, "", ""},
		{attribute + ` != 5`, "", ""},
		{`!(` + attribute + ` == 5)`, "", ""},
		{attribute + ` == 5 && ` + attribute + ` > 3`, "", ""},
		{attribute + ` == 5 && true`, "", ""},
		{`cel.bind(a, ` + attribute + `, a.startsWith("A") && a.isSorted())`, "", ""},
		{attribute + ` % 2 == 0`, "", ""},
		{attribute + ` == 1.5`, "", ""},
		{attribute + ` == 5u`, "", ""},
		{attribute + ` == null`, "", ""},
		{attribute + ` == "a\"b"`, "", ""},
		{attribute + ` || true`, "", ""},
		{attribute + ` == device.driver || "A" == "A"`, "", ""},
		{`device.driver == "A"`, "", ""},
		{`device.attributes["d.io"].?x.orValue(true)`, "", ""},
		{`device.attributes["d.io"].?x == optional.of(1)`, "", ""},
		{`"x" in device.attributes["d.io"]`, "", ""},
		{`cel.bind(a, device.attributes["d.io"], a.x == "A")`, "", ""},
		{attribute + ` ==`, "", ""},
	} {
		t.Run(tt.expression, func(t *testing.T) {
			c, ok := NewCache(Features{}).Comparison(tt.expression)
			got, with := "", ""
			if ok {
				got = fmt.Sprintf("%s %s %s %s", c.Field.Kind, c.Form, c.Relation, c.Literal)
				with = c.With(c.Relation.OrEqual(), "new")
				if c.Field.Domain == "" || c.Field.Name != "x" {
					t.Errorf("field %+v", c.Field)
				}
			}
			if got != tt.want || with != tt.with {
				t.Errorf("got  %s: %s\nwant %s: %s", got, with, tt.want, tt.with)
			}
		})
	}
}

// TestComparisonQuotes: a value that is put into an expression is that value there, whatever is in it.
func TestComparisonQuotes(t *testing.T) {
	cache := NewCache(Features{})
	c, _ := cache.Comparison(`device.attributes["d.io"].x == "A"`)
	for _, value := range []string{`"`, `a"`, `"a"`, `\`, "a\nb", "ä", "\u202e", "\x7f", ""} {
		program := cache.Selector(c.With("", value))
		if _, parsed := program.parse(); parsed == nil {
			t.Fatalf("%q does not compile: %v", program.Expression(), program.CompileError())
		} else if got, _ := ConstantString(parsed.Expr().AsCall().Args()[1]); got != value {
			t.Errorf("%q became %q in %s", value, got, program.Expression())
		}
	}
}

// checkComparison checks what must hold of any expression: with its own literal and relation it is its normal
// form, and with others it is an expression that differs in just these.
func checkComparison(t *testing.T, cache *Cache, expression, literal string) (is bool) {
	t.Helper()
	c, ok := cache.Comparison(expression)
	if !ok {
		return false
	}
	tree, _ := cache.Tree(expression)
	normal := tree.Text(tree.Root)
	if same := c.With(c.Relation, c.Literal); same != normal {
		t.Errorf("%q became %q", expression, same)
	}
	method := c.operator != nil && c.operator.AsCall().IsMemberFunction()
	literal = map[LiteralForm]string{
		IntLiteral: "7", BoolLiteral: "false", StringLiteral: literal, VersionLiteral: literal, QuantityLiteral: literal,
	}[c.Form]
	relations := []Relation{""}
	if c.Relation != "" && c.Form != BoolLiteral {
		relations = append(relations, Equal, AtLeast, GreaterThan, AtMost, LessThan)
	}
	for _, relation := range relations {
		text := c.With(relation, literal)
		other, ok := cache.Comparison(text)
		if cache.Selector(text).CompileError() != nil {
			// Quantities and versions can be compared by ==, but have no other operators.
			plain := (c.Form == QuantityLiteral || c.Form == VersionLiteral) && !method && !strings.Contains(expression, "compareTo")
			if !plain || relation == "" || relation == Equal {
				t.Errorf("%q became %q, which does not compile: %v", expression, text, cache.Selector(text).CompileError())
			}
			continue
		}
		if Quote(literal) != `"`+literal+`"` && c.Form != IntLiteral && c.Form != BoolLiteral {
			continue // with escapes it is no Comparison
		}
		want := c
		want.Literal = literal
		if relation != "" {
			want.Relation = relation
		}
		if !ok || other.Field != want.Field || other.Form != want.Form || other.Literal != want.Literal || other.Relation != want.Relation {
			t.Errorf("%q with %s %q became %q, which is %+v", expression, relation, literal, text, other)
		}
		// Except for isGreaterThan and isLessThan there is a way back.
		if back := other.With(c.Relation, c.Literal); !method && back != normal {
			t.Errorf("%q became %q, and then %q", expression, text, back)
		}
	}
	return true
}

// TestRandomComparisons checks random selectors, their terms, and variations of plain comparisons.
func TestRandomComparisons(t *testing.T) {
	cache := NewCache(Features{ConsumableCapacity: true, ListTypeAttributes: true})
	n, found := effort.Of(400, 100), 0
	for seed := range uint64(n) {
		g := randomselector.New(seed, 0, false)
		expressions := []string{g.Boolean(3), g.Leaf(), comparison(g)}
		for _, part := range cache.Parts(expressions[0]) {
			expressions = append(expressions, part.Text)
		}
		for _, expression := range expressions {
			if checkComparison(t, cache, expression, "x y") {
				found++
			}
		}
	}
	if found < n {
		t.Errorf("only %d were comparisons", found)
	}
}

// comparison returns an expression that is most often a Comparison, spaced and written in many ways.
func comparison(g randomselector.Generator) string {
	blank := g.Pick(" ", "", "\n", "\t ", " // é\n")
	field := fmt.Sprintf(`device.%s["%s"].%s`, g.Pick("attributes", "capacity"), g.Domain(), g.Pick("model", "a_1"))
	operator := g.Pick("==", "<", "<=", ">", ">=")
	typed := g.Pick(`quantity("1Gi")`, `semver("1.2.3")`)
	sides := []string{field, typed}
	if g.IntN(2) == 0 {
		sides = []string{typed, field}
	}
	switch g.IntN(4) {
	case 0:
		return sides[0] + "." + g.Pick("isGreaterThan", "isLessThan") + blank + "(" + sides[1] + ")"
	case 1:
		return strings.Join([]string{sides[0] + ".compareTo(" + sides[1] + ")", operator, "0"}, blank)
	case 2:
		return strings.Join([]string{"0", operator, sides[0] + ".compareTo(" + sides[1] + ")"}, blank)
	}
	sides = []string{field, g.Pick("5", "-5", `"A"`, `'é'`, "true", `"a b"`)}
	if g.IntN(2) == 0 {
		sides[0], sides[1] = sides[1], sides[0]
	}
	return strings.Join([]string{sides[0], operator, sides[1]}, blank)
}

// FuzzComparison takes any text apart.
func FuzzComparison(f *testing.F) {
	for seed := range uint64(20) {
		g := randomselector.New(seed, 1, false)
		f.Add(comparison(g), "x")
		f.Add(g.Boolean(2), `"`)
	}
	f.Fuzz(func(t *testing.T, expression, literal string) {
		if len(expression) > 1000 {
			return
		}
		cache := NewCache(Features{})
		checkComparison(t, cache, expression, strings.ToValidUTF8(literal, ""))
		cache.WithoutDomains(expression)
	})
}

func TestWithoutDomains(t *testing.T) {
	for _, tt := range []struct{ expression, want string }{
		{`device.attributes["d"].a == "é" && device.capacity["d"]["b"] == device.attributes['d'].c`, `a == "é" && b == c`},
		{`device.attributes["d"].a == device.attributes["e"].a`, `device.attributes["d"].a == device.attributes["e"].a`},
		{`has(device.attributes["d"].?a.b)`, `has(a.b)`},
		{`has(device.attributes["d"].a)`, `has(a)`},
		{`device.attributes["d"][?"a-b"].orValue(1) == 1`, `a-b.orValue(1) == 1`},
		{`device . attributes ["d"] . a > 1`, `a > 1`},
		{`device.attributes["d"].aa.b == 1`, `aa.b == 1`},
		{`device.attributes["d"].l.exists(w, w == device.attributes["d"].a)`, `l.exists(w, w == a)`},
		{`cel.bind(v, device.attributes["d"].a, [1].exists(w, w == v))`, `cel.bind(v, a, [1].exists(w, w == v))`},
		{`"device.attributes[\"d\"].a" == device.driver`, `"device.attributes[\"d\"].a" == device.driver`},
		{`"a" in device.attributes["d"]`, `"a" in device.attributes["d"]`},
		{`device.attributes["d"].exists(k, k == "b")`, `device.attributes["d"].exists(k, k == "b")`},
		{`device.attributes["d"].a ==`, `device.attributes["d"].a ==`},
	} {
		if got := NewCache(Features{}).WithoutDomains(tt.expression); got != tt.want {
			t.Errorf("%s\ngot  %v\nwant %s", tt.expression, got, tt.want)
		}
	}
}

func TestParseField(t *testing.T) {
	for _, f := range []Field{{"attributes", "d.io", "x"}, {"capacity", `a"]b`, "memory"}, {"attributes", "d", "in"}, {"attributes", "d", `"]`}} {
		if got, ok := ParseField(f.Expression()); !ok || got != f {
			t.Errorf("%s is %+v, %t", f.Expression(), got, ok)
		}
	}
	for _, text := range []string{"", "device.driver", `device.attributes["d"]`, `device.attributes["d"].`, `attributes["d"].x`, `device.other["d"].x`,
		`device.attributes[""].x`, `device.attributes["d".x`, `device.attributes["d"]["x"].y`, `device.attributes[d].x`} {
		if got, ok := ParseField(text); ok {
			t.Errorf("%s is %+v", text, got)
		}
	}
}
