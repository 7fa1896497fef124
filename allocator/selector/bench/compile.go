package bench

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/allocator/selector"
)

// What the compiler says, as far as it is understood.
var (
	undeclared   = regexp.MustCompile(`^undeclared reference to '([^']*)'`)
	undefined    = regexp.MustCompile(`^undefined field '([^']*)'`)
	noOverload   = regexp.MustCompile(`^found no matching overload for '([^']*)' applied to '(.*)'$`)
	notBoolean   = regexp.MustCompile(`^must evaluate to bool or the unknown type, not (.*)$`)
	expectedBool = regexp.MustCompile(`^expected type 'bool' but found '(.*)'$`)
	unrecognized = regexp.MustCompile(`^Syntax error: token recognition error at: '(.*)`)
	unexpected   = regexp.MustCompile(`^Syntax error: (?:mismatched|extraneous) input '(.*?)' expecting`)
	missing      = regexp.MustCompile(`^Syntax error: missing '(.)' at '(.*)'`)
)

// compileFinding explains why the selector does not compile.
func compileFinding(d *diagnosis, e *selector.CompileError) Finding {
	f := Finding{Code: CodeCompile, Severity: SeverityError, Place: e.Place}
	switch {
	case strings.HasPrefix(e.Message, "Syntax error:"):
		syntaxError(d, &f, e.Message)
	case undeclared.MatchString(e.Message):
		unknownName(d, &f, undeclared.FindStringSubmatch(e.Message)[1])
	case undefined.MatchString(e.Message):
		unknownField(d, &f, undefined.FindStringSubmatch(e.Message)[1])
	case noOverload.MatchString(e.Message):
		m := noOverload.FindStringSubmatch(e.Message)
		wrongTypes(d, &f, m[1], m[2])
	case notBoolean.MatchString(e.Message):
		f.Code = CodeNotBoolean
		f.Message = fmt.Sprintf("A selector must say true or false; this gives %s. Compare it with something.", article(plainType(notBoolean.FindStringSubmatch(e.Message)[1])))
	case expectedBool.MatchString(e.Message):
		f.Code = CodeNotBoolean
		f.Message = fmt.Sprintf("Something true or false must stand here; this is %s. Compare it with something.", article(plainType(expectedBool.FindStringSubmatch(e.Message)[1])))
	default:
		f.Message = "CEL does not accept this: " + e.Message + "."
	}
	return f
}

// rest returns the source from a place on.
func rest(source string, p selector.Place) string { return source[selector.Offset(source, p):] }

// splice replaces n bytes of the source at a place.
func splice(source string, p selector.Place, n int, with string) string {
	at := selector.Offset(source, p)
	return source[:at] + with + source[min(at+n, len(source)):]
}

// syntaxError recognizes what people write who think of another language, and what is left open.
func syntaxError(d *diagnosis, f *Finding, message string) {
	f.Code = CodeSyntax
	left := rest(d.trial.Expression, f.Place)
	word := regexp.MustCompile(`^\S+`).FindString(left)
	swap := func(n int, with, text string) {
		f.Message = text
		f.Suggestions = d.suggest(1, "with "+with, splice(d.trial.Expression, f.Place, n, with))
	}
	switch m := missing.FindStringSubmatch(message); {
	case strings.TrimSpace(d.trial.Expression) == "":
		f.Message = "There is no expression."
	case m != nil && m[2] == "<EOF>":
		f.Message = fmt.Sprintf("A %s is missing at the end: one that is opened is never closed.", m[1])
		f.Suggestions = d.suggest(1, "closed at the end", strings.TrimSpace(d.trial.Expression)+m[1])
	case m != nil:
		f.Message = fmt.Sprintf("A %s is missing before %s.", m[1], selector.Quote(m[2]))
	case strings.HasPrefix(left, "= "), regexp.MustCompile(`^=[^=]`).MatchString(left):
		swap(1, "==", "One = means nothing in CEL: equality is ==.")
	case word == "and", word == "AND":
		swap(3, "&&", "\"and\" is written && in CEL.")
	case word == "or", word == "OR":
		swap(2, "||", "\"or\" is written || in CEL.")
	case strings.HasPrefix(left, "&") && !strings.HasPrefix(left, "&&"):
		swap(1, "&&", "A single & means nothing in CEL: \"and\" is &&.")
	case strings.HasPrefix(left, "|") && !strings.HasPrefix(left, "||"):
		swap(1, "||", "A single | means nothing in CEL: \"or\" is ||.")
	case strings.ContainsAny(left, "“”„‘’") && strings.ContainsAny(string([]rune(left)[:1]), "“”„‘’"):
		f.Message = "Typographic quotes do not begin a string: use \" or '."
		plain := strings.NewReplacer("“", `"`, "”", `"`, "„", `"`, "‘", "'", "’", "'").Replace(d.trial.Expression)
		f.Suggestions = d.suggest(1, "with plain quotes", plain)
	default:
		otherSyntaxError(d, f, message, left)
	}
}

func otherSyntaxError(d *diagnosis, f *Finding, message, left string) {
	m, u := unexpected.FindStringSubmatch(message), unrecognized.FindStringSubmatch(message)
	switch {
	case m != nil && m[1] == "<EOF>":
		f.Message = "The expression ends too early: something is missing after this."
	case u != nil && (strings.HasPrefix(left, `"`) || strings.HasPrefix(left, "'")):
		f.Message = "The string that begins here is never closed."
		f.Suggestions = d.suggest(1, "closed at the end", strings.TrimSpace(d.trial.Expression)+left[:1])
	case m != nil && regexp.MustCompile(`^\s*not\s`).MatchString(d.trial.Expression):
		f.Message = "\"not\" is written ! in CEL."
	case m != nil && m[1] == ")":
		f.Message = "This ) closes nothing that was opened."
	case m != nil:
		f.Message = fmt.Sprintf("This does not belong here: %s. An operator such as && may be missing before it.", m[1])
	case u != nil:
		f.Message = fmt.Sprintf("CEL cannot read this: %s.", selector.Quote(strings.TrimSuffix(u[1], "'")))
	default:
		f.Message = "CEL cannot read this: " + strings.TrimPrefix(message, "Syntax error: ") + "."
	}
}

// unknownName explains a name that is neither a variable nor a function.
func unknownName(d *diagnosis, f *Finding, name string) {
	left := rest(d.trial.Expression, f.Place)
	if strings.HasPrefix(left, "(") { // calls are marked at their parenthesis
		unknownFunction(d, f, name)
		return
	}
	f.Code = CodeUnknownName
	before := strings.TrimRight(d.trial.Expression[:selector.Offset(d.trial.Expression, f.Place)], " ")
	dotted := regexp.MustCompile(`^[A-Za-z0-9_.-]+`).FindString(left)
	switch {
	case strings.HasSuffix(before, "["):
		domain := dotted
		f.Message = fmt.Sprintf("A domain or name in brackets is a string and needs quotes: [%s].", selector.Quote(domain))
		f.Suggestions = d.suggest(1, "with quotes", splice(d.trial.Expression, f.Place, len(domain), selector.Quote(domain)))
		return
	case slices.Contains(deviceFields, name):
		f.Message = fmt.Sprintf("%s belongs to the device: write device.%s.", selector.Quote(name), name)
		f.Suggestions = d.suggest(1, "with device.", splice(d.trial.Expression, f.Place, 0, "device."))
		return
	}
	for _, domain := range d.inv.Domains("") {
		field, ok := strings.CutPrefix(dotted, domain+".")
		if ok && unqualified(d, f, dotted, among(d.inv, field, domain)) {
			return
		}
	}
	if unqualified(d, f, name, d.inv.Named(name)) {
		return
	}
	f.Message = fmt.Sprintf("%s means nothing here. A selector can use the variable device, with %s; strings need quotes.", selector.Quote(name), orList(deviceFields))
	if near := nearest(name, []string{"device"}); near != "" {
		f.Message += " Did you mean \"device\"?"
		f.Suggestions = d.suggest(1, "with device", splice(d.trial.Expression, f.Place, len(name), near))
	}
}

// among returns the fields of a name in a domain.
func among(inv *Inventory, name, domain string) []selector.Field {
	return slices.DeleteFunc(inv.Named(name), func(f selector.Field) bool { return f.Domain != domain })
}

// unqualified explains a name that is one of the given fields; it reports whether there are any.
func unqualified(d *diagnosis, f *Finding, written string, fields []selector.Field) bool {
	if len(fields) == 0 {
		return false
	}
	f.Code = CodeUnqualifiedName
	var forms, fixed []string
	for _, field := range fields {
		forms = append(forms, field.Expression())
		fixed = append(fixed, splice(d.trial.Expression, f.Place, len(written), field.Expression()))
	}
	kind := "an attribute"
	if fields[0].Kind == "capacity" {
		kind = "a capacity"
	}
	f.Message = fmt.Sprintf("%s is %s of devices, which is reached through its domain: %s.", selector.Quote(written), kind, orList(forms[:min(3, len(forms))]))
	f.Suggestions = d.suggest(3, "with the domain", fixed...)
	return true
}

// deviceFields are what a device has in CEL.
var deviceFields = []string{"driver", "attributes", "capacity", "allowMultipleAllocations"}

// unknownField explains device.x where there is no x.
func unknownField(d *diagnosis, f *Finding, name string) {
	f.Code = CodeUnknownField
	f.Message = fmt.Sprintf("A device has no field %s, only %s.", selector.Quote(name), orList(deviceFields))
	dot := "device." + name
	at := strings.LastIndex(d.trial.Expression[:min(selector.Offset(d.trial.Expression, f.Place)+len(name)+1, len(d.trial.Expression))], dot)
	if near := nearest(name, deviceFields); near != "" && at >= 0 {
		f.Message += fmt.Sprintf(" Did you mean %s?", selector.Quote(near))
		f.Suggestions = d.suggest(1, "with "+near, splice(d.trial.Expression, selector.PlaceAt(d.trial.Expression, at), len(dot), "device."+near))
		return
	}
	if at >= 0 && unqualifiedAt(d, f, at, dot, name) {
		return
	}
	switch name {
	case "name", "pool", "node", "nodeName", "taints", "slice":
		f.Message += " A selector cannot see the name, pool, node or taints of a device."
	}
}

func unqualifiedAt(d *diagnosis, f *Finding, at int, written, name string) bool {
	place := f.Place
	f.Place = selector.PlaceAt(d.trial.Expression, at)
	if unqualified(d, f, written, d.inv.Named(name)) {
		return true
	}
	f.Place = place
	return false
}

// unknownFunction explains a call of what does not exist.
func unknownFunction(d *diagnosis, f *Finding, name string) {
	f.Code = CodeUnknownFunction
	f.Message = fmt.Sprintf("There is no function %s.", selector.Quote(name))
	at := selector.Offset(d.trial.Expression, f.Place) - len(name)
	if at < 0 || d.trial.Expression[at:at+len(name)] != name {
		at = -1
	}
	if near := nearest(name, d.bench.cache.Functions()); near != "" {
		f.Message += fmt.Sprintf(" Did you mean %s?", selector.Quote(near))
		if at >= 0 {
			f.Place = selector.PlaceAt(d.trial.Expression, at)
			f.Suggestions = d.suggest(1, "with "+near, splice(d.trial.Expression, f.Place, len(name), near))
		}
	}
}

// operators as they are written.
var written = strings.NewReplacer("_", "", "@in", "in", "@not_strictly_false", "")

// wrongTypes explains a function or operator that does not go with its operands.
func wrongTypes(d *diagnosis, f *Finding, function, types string) {
	operator := written.Replace(function)
	operands := strings.FieldsFunc(types, func(r rune) bool { return strings.ContainsRune("(), ", r) })
	for i := range operands {
		operands[i] = plainType(strings.TrimSuffix(operands[i], "."))
	}
	method := strings.Contains(types, ".(")
	switch {
	case slices.ContainsFunc(operands, func(o string) bool { return strings.HasPrefix(o, "map") }) && !method:
		wholeDomain(d, f)
	case slices.Contains(operands, "quantity") && slices.Contains(operands, "attribute") && !method:
		f.Code = CodeType
		f.Message = fmt.Sprintf("An attribute is never a quantity, and %s does not compare quantities. Only capacities are quantities: device.capacity[\"domain\"].name.", operator)
	case slices.Contains(operands, "quantity") && !method:
		f.Code = CodeQuantity
		f.Message = fmt.Sprintf("A capacity is a quantity. It cannot be compared by %s, only with the functions of quantities: .compareTo(quantity(\"40Gi\")) >= 0, .isGreaterThan(…), .isLessThan(…).", operator)
		f.Suggestions = d.suggest(1, "compared as a quantity", rewriteQuantities(d.trial.Expression))
	case method && len(operands) == 2 && operands[0] == "quantity":
		f.Code = CodeQuantity
		f.Message = fmt.Sprintf("%s compares a quantity with another one, not with %s: write quantity(\"40Gi\").", operator, article(operands[1]))
		f.Suggestions = d.suggest(1, "compared with a quantity", rewriteArguments(d.trial.Expression, "quantity"))
	case method && len(operands) == 2 && slices.Contains([]string{"isGreaterThan", "isLessThan", "compareTo"}, operator) && operands[1] == "string":
		f.Code = CodeVersion
		f.Message = fmt.Sprintf("%s compares versions or quantities, not strings: write semver(\"1.2.3\") for a version.", operator)
		f.Suggestions = d.suggest(1, "compared with a version", rewriteArguments(d.trial.Expression, "semver"))
	case method && len(operands) >= 1:
		f.Code = CodeType
		f.Message = fmt.Sprintf("%s cannot be used on %s like this.", operator, article(operands[0]))
		if len(operands) > 1 {
			f.Message = fmt.Sprintf("%s cannot be used on %s with %s.", operator, article(operands[0]), article(strings.Join(operands[1:], ", ")))
		}
	default:
		f.Code = CodeType
		f.Message = fmt.Sprintf("%s does not work on %s.", operator, strings.Join(operands, " and "))
	}
}

// wholeDomain explains a comparison of all that is in a domain with one value.
func wholeDomain(d *diagnosis, f *Finding) {
	f.Code = CodeType
	f.Message = "The name is missing: device.attributes[\"domain\"] is everything in a domain, device.attributes[\"domain\"].name is one attribute."
	if apart := domainAndName.ReplaceAllString(d.trial.Expression, `device.$1["$2"].$3`); apart != d.trial.Expression {
		f.Code = CodeUnknownDomain
		f.Message = "A domain and a name in one string are taken for a domain. CEL wants them apart: device.attributes[\"domain\"].name."
		f.Suggestions = d.suggest(1, "domain and name apart", apart)
	}
}

// plainType writes a type of CEL as people say it.
func plainType(t string) string {
	switch {
	case t == "dyn" || t == "any":
		return "attribute"
	case strings.HasPrefix(t, "kubernetes."):
		t = strings.ToLower(strings.TrimPrefix(t, "kubernetes."))
		if t == "semver" {
			return "version"
		}
	case strings.HasPrefix(t, "map"):
		return "map"
	case strings.HasPrefix(t, "list"):
		return "list"
	case t == "int" || t == "uint" || t == "double":
		return "number"
	}
	return t
}

// stringSource is a string as people write it.
const stringSource = `("[^"]*"|'[^']*')`

var (
	quantityComparison = regexp.MustCompile(`(device\.capacity\[` + stringSource + `\](?:\.\w+|\[` + stringSource + `\]))\s*(==|!=|>=|<=|>|<)\s*(?:quantity\(\s*)?("[^"]*"|'[^']*'|[0-9.]+)\s*\)?`)
	domainAndName      = regexp.MustCompile(`device\.(attributes|capacity)\[["']([^/"']+)/(\w+)["']\]`)
	stringArgument     = regexp.MustCompile(`\.(isGreaterThan|isLessThan|compareTo)\(\s*("[^"]*"|'[^']*'|[0-9.]+)\s*\)`)
)

// rewriteQuantities compares capacities as quantities.
func rewriteQuantities(source string) string {
	return quantityComparison.ReplaceAllStringFunc(source, func(s string) string {
		m := quantityComparison.FindStringSubmatch(s)
		tail := ""
		if !strings.Contains(s, "quantity(") && strings.HasSuffix(strings.TrimSpace(s), ")") {
			tail = ")" // it closes something else
		}
		return fmt.Sprintf("%s.compareTo(quantity(%s)) %s 0%s", m[1], selector.Quote(strings.Trim(m[5], `"'`)), m[4], tail)
	})
}

// rewriteArguments wraps what is compared with into quantity() or semver().
func rewriteArguments(source, with string) string {
	return stringArgument.ReplaceAllStringFunc(source, func(s string) string {
		m := stringArgument.FindStringSubmatch(s)
		value := strings.Trim(m[2], `"'`)
		if with == "semver" {
			value = fullVersion(value)
		}
		return fmt.Sprintf(".%s(%s(%s))", m[1], with, selector.Quote(value))
	})
}

// fullVersion completes a version to major.minor.patch.
func fullVersion(v string) string {
	v = strings.TrimPrefix(v, "v")
	core, rest := v, ""
	if i := strings.IndexAny(v, "-+"); i >= 0 {
		core, rest = v[:i], v[i:]
	}
	for strings.Count(core, ".") < 2 {
		core += ".0"
	}
	return core + rest
}
