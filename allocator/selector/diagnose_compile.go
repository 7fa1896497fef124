package selector

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apiserver/pkg/cel/environment"
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

// compileError explains why the selector does not compile.
func (d *diagnosis) compileError(e *CompileError) {
	f := Finding{Code: CodeCompile, Severity: SeverityError, Place: e.Place}
	switch {
	case strings.HasPrefix(e.Message, "Syntax error:"):
		d.syntaxError(&f, e.Message)
	case undeclared.MatchString(e.Message):
		d.unknownName(&f, undeclared.FindStringSubmatch(e.Message)[1])
	case undefined.MatchString(e.Message):
		d.unknownField(&f, undefined.FindStringSubmatch(e.Message)[1])
	case noOverload.MatchString(e.Message):
		m := noOverload.FindStringSubmatch(e.Message)
		d.wrongTypes(&f, m[1], m[2])
	case notBoolean.MatchString(e.Message):
		f.Code = CodeNotBoolean
		f.Message = fmt.Sprintf("A selector must say true or false; this gives %s. Compare it with something.", article(plainType(notBoolean.FindStringSubmatch(e.Message)[1])))
	case expectedBool.MatchString(e.Message):
		f.Code = CodeNotBoolean
		f.Message = fmt.Sprintf("Something true or false must stand here; this is %s. Compare it with something.", article(plainType(expectedBool.FindStringSubmatch(e.Message)[1])))
	default:
		f.Message = "CEL does not accept this: " + e.Message + "."
	}
	d.add(f)
}

// rest returns the source from the place of a finding on.
func (d *diagnosis) rest(p Place) string { return d.trial.Expression[d.offset(p):] }

// offset turns a place into an offset in bytes.
func (d *diagnosis) offset(p Place) int { return Offset(d.trial.Expression, p) }

// splice replaces n bytes of the source at a place.
func (d *diagnosis) splice(p Place, n int, with string) string {
	at := d.offset(p)
	return d.trial.Expression[:at] + with + d.trial.Expression[min(at+n, len(d.trial.Expression)):]
}

// syntaxError recognizes what people write who think of another language, and what is left open.
func (d *diagnosis) syntaxError(f *Finding, message string) {
	f.Code = CodeSyntax
	rest := d.rest(f.Place)
	word := regexp.MustCompile(`^\S+`).FindString(rest)
	swap := func(n int, with, text string) {
		f.Message = text
		f.Suggestions = d.suggest(1, "with "+with, d.splice(f.Place, n, with))
	}
	switch m := missing.FindStringSubmatch(message); {
	case strings.TrimSpace(d.trial.Expression) == "":
		f.Message = "There is no expression."
	case m != nil && m[2] == "<EOF>":
		f.Message = fmt.Sprintf("A %s is missing at the end: one that is opened is never closed.", m[1])
		f.Suggestions = d.suggest(1, "closed at the end", strings.TrimSpace(d.trial.Expression)+m[1])
	case m != nil:
		f.Message = fmt.Sprintf("A %s is missing before %s.", m[1], quote(m[2]))
	case strings.HasPrefix(rest, "= "), regexp.MustCompile(`^=[^=]`).MatchString(rest):
		swap(1, "==", "One = means nothing in CEL: equality is ==.")
	case word == "and", word == "AND":
		swap(3, "&&", "\"and\" is written && in CEL.")
	case word == "or", word == "OR":
		swap(2, "||", "\"or\" is written || in CEL.")
	case strings.HasPrefix(rest, "&") && !strings.HasPrefix(rest, "&&"):
		swap(1, "&&", "A single & means nothing in CEL: \"and\" is &&.")
	case strings.HasPrefix(rest, "|") && !strings.HasPrefix(rest, "||"):
		swap(1, "||", "A single | means nothing in CEL: \"or\" is ||.")
	case strings.ContainsAny(rest, "“”„‘’") && strings.ContainsAny(string([]rune(rest)[:1]), "“”„‘’"):
		f.Message = "Typographic quotes do not begin a string: use \" or '."
		plain := strings.NewReplacer("“", `"`, "”", `"`, "„", `"`, "‘", "'", "’", "'").Replace(d.trial.Expression)
		f.Suggestions = d.suggest(1, "with plain quotes", plain)
	default:
		d.otherSyntaxError(f, message, rest)
	}
}

func (d *diagnosis) otherSyntaxError(f *Finding, message, rest string) {
	m, u := unexpected.FindStringSubmatch(message), unrecognized.FindStringSubmatch(message)
	switch {
	case m != nil && m[1] == "<EOF>":
		f.Message = "The expression ends too early: something is missing after this."
	case u != nil && (strings.HasPrefix(rest, `"`) || strings.HasPrefix(rest, "'")):
		f.Message = "The string that begins here is never closed."
		f.Suggestions = d.suggest(1, "closed at the end", strings.TrimSpace(d.trial.Expression)+rest[:1])
	case m != nil && regexp.MustCompile(`^\s*not\s`).MatchString(d.trial.Expression):
		f.Message = "\"not\" is written ! in CEL."
	case m != nil && m[1] == ")":
		f.Message = "This ) closes nothing that was opened."
	case m != nil:
		f.Message = fmt.Sprintf("This does not belong here: %s. An operator such as && may be missing before it.", m[1])
	case u != nil:
		f.Message = fmt.Sprintf("CEL cannot read this: %s.", quote(strings.TrimSuffix(u[1], "'")))
	default:
		f.Message = "CEL cannot read this: " + strings.TrimPrefix(message, "Syntax error: ") + "."
	}
}

// unknownName explains a name that is neither a variable nor a function.
func (d *diagnosis) unknownName(f *Finding, name string) {
	rest := d.rest(f.Place)
	if strings.HasPrefix(rest, "(") { // calls are marked at their parenthesis
		d.unknownFunction(f, name)
		return
	}
	f.Code = CodeUnknownName
	before := strings.TrimRight(d.trial.Expression[:d.offset(f.Place)], " ")
	dotted := regexp.MustCompile(`^[A-Za-z0-9_.-]+`).FindString(rest)
	switch {
	case strings.HasSuffix(before, "["):
		domain := dotted
		f.Message = fmt.Sprintf("A domain or name in brackets is a string and needs quotes: [%s].", quote(domain))
		f.Suggestions = d.suggest(1, "with quotes", d.splice(f.Place, len(domain), quote(domain)))
		return
	case slices.Contains(deviceFields, name):
		f.Message = fmt.Sprintf("%s belongs to the device: write device.%s.", quote(name), name)
		f.Suggestions = d.suggest(1, "with device.", d.splice(f.Place, 0, "device."))
		return
	}
	for _, domain := range d.inv.Domains("") {
		field, ok := strings.CutPrefix(dotted, domain+".")
		if ok && d.unqualified(f, dotted, d.among(field, domain)) {
			return
		}
	}
	if d.unqualified(f, name, d.inv.Named(name)) {
		return
	}
	f.Message = fmt.Sprintf("%s means nothing here. A selector can use the variable device, with %s; strings need quotes.", quote(name), orList(deviceFields))
	if near := nearest(name, []string{"device"}); near != "" {
		f.Message += " Did you mean \"device\"?"
		f.Suggestions = d.suggest(1, "with device", d.splice(f.Place, len(name), near))
	}
}

// among returns the fields of a name in a domain.
func (d *diagnosis) among(name, domain string) []Field {
	return slices.DeleteFunc(d.inv.Named(name), func(f Field) bool { return f.Domain != domain })
}

// unqualified explains a name that is one of the given fields; it reports whether there are any.
func (d *diagnosis) unqualified(f *Finding, written string, fields []Field) bool {
	if len(fields) == 0 {
		return false
	}
	f.Code = CodeUnqualifiedName
	var forms, fixed []string
	for _, field := range fields {
		forms = append(forms, field.Expression())
		fixed = append(fixed, d.splice(f.Place, len(written), field.Expression()))
	}
	kind := "an attribute"
	if fields[0].Kind == "capacity" {
		kind = "a capacity"
	}
	f.Message = fmt.Sprintf("%s is %s of devices, which is reached through its domain: %s.", quote(written), kind, orList(forms[:min(3, len(forms))]))
	f.Suggestions = d.suggest(3, "with the domain", fixed...)
	return true
}

// deviceFields are what a device has in CEL.
var deviceFields = []string{"driver", "attributes", "capacity", "allowMultipleAllocations"}

// unknownField explains device.x where there is no x.
func (d *diagnosis) unknownField(f *Finding, name string) {
	f.Code = CodeUnknownField
	f.Message = fmt.Sprintf("A device has no field %s, only %s.", quote(name), orList(deviceFields))
	dot := "device." + name
	at := strings.LastIndex(d.trial.Expression[:min(d.offset(f.Place)+len(name)+1, len(d.trial.Expression))], dot)
	if near := nearest(name, deviceFields); near != "" && at >= 0 {
		f.Message += fmt.Sprintf(" Did you mean %s?", quote(near))
		f.Suggestions = d.suggest(1, "with "+near, d.splice(placeOf(d.trial.Expression, at), len(dot), "device."+near))
		return
	}
	if at >= 0 && d.unqualifiedAt(f, at, dot, name) {
		return
	}
	switch name {
	case "name", "pool", "node", "nodeName", "taints", "slice":
		f.Message += " A selector cannot see the name, pool, node or taints of a device."
	}
}

func (d *diagnosis) unqualifiedAt(f *Finding, at int, written, name string) bool {
	place := f.Place
	f.Place = placeOf(d.trial.Expression, at)
	if d.unqualified(f, written, d.inv.Named(name)) {
		return true
	}
	f.Place = place
	return false
}

// unknownFunction explains a call of what does not exist.
func (d *diagnosis) unknownFunction(f *Finding, name string) {
	f.Code = CodeUnknownFunction
	f.Message = fmt.Sprintf("There is no function %s.", quote(name))
	at := d.offset(f.Place) - len(name)
	if at < 0 || d.trial.Expression[at:at+len(name)] != name {
		at = -1
	}
	var names []string
	if env := d.bench.cache.environment(environment.NewExpressions); env != nil {
		for known := range env.Functions() {
			if IsIdentifier(known) {
				names = append(names, known)
			}
		}
	}
	if near := nearest(name, names); near != "" {
		f.Message += fmt.Sprintf(" Did you mean %s?", quote(near))
		if at >= 0 {
			f.Place = placeOf(d.trial.Expression, at)
			f.Suggestions = d.suggest(1, "with "+near, d.splice(f.Place, len(name), near))
		}
	}
}

// operators as they are written.
var written = strings.NewReplacer("_", "", "@in", "in", "@not_strictly_false", "")

// wrongTypes explains a function or operator that does not go with its operands.
func (d *diagnosis) wrongTypes(f *Finding, function, types string) {
	operator := written.Replace(function)
	operands := strings.FieldsFunc(types, func(r rune) bool { return strings.ContainsRune("(), ", r) })
	for i := range operands {
		operands[i] = plainType(strings.TrimSuffix(operands[i], "."))
	}
	method := strings.Contains(types, ".(")
	switch {
	case slices.ContainsFunc(operands, func(o string) bool { return strings.HasPrefix(o, "map") }) && !method:
		d.wholeDomain(f)
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
func (d *diagnosis) wholeDomain(f *Finding) {
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

func article(noun string) string {
	if noun != "" && strings.ContainsRune("aeiou", rune(noun[0])) {
		return "an " + noun
	}
	return "a " + noun
}

func orList(words []string) string {
	if n := len(words); n > 1 {
		return strings.Join(words[:n-1], ", ") + " or " + words[n-1]
	}
	return strings.Join(words, ", ")
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
		return fmt.Sprintf("%s.compareTo(quantity(%s)) %s 0%s", m[1], quote(strings.Trim(m[5], `"'`)), m[4], tail)
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
		return fmt.Sprintf(".%s(%s(%s))", m[1], with, quote(value))
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
