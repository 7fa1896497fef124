package editor

// function is a function of CEL that selectors can call.
type function struct {
	name string
	// on is the type of what is before the dot, "" when the function stands alone.
	on string
	// gives is the type of the result, "" when it depends.
	gives string
	// insert is what is written, up to the place of the first argument.
	insert string
	help   string
	// example is a selector that calls it.
	example string
	// lists says that it exists only with the feature gate DRAListTypeAttributes.
	lists bool
}

const attr = `device.attributes["d"]`

// functions are those that are of use in selectors; CEL has more. A test compiles the examples.
var functions = []function{
	{name: "has", gives: "bool", insert: "has(", help: "true when the device has the attribute or capacity", example: `has(` + attr + `.x)`},
	{name: "quantity", gives: "quantity", insert: `quantity("`, help: "a quantity, as quantity(\"40Gi\")", example: `quantity("1Gi") == quantity("1Gi")`},
	{name: "semver", gives: "version", insert: `semver("`, help: "a version, as semver(\"1.2.3\")", example: `semver("1.2.3") == semver("1.2.3")`},
	{name: "size", gives: "int", insert: "size(", help: "the length of a string or list", example: `size(device.driver) > 1`},
	{name: "int", gives: "int", insert: "int(", help: "a string as a number", example: `int("1") == 1`},
	{name: "string", gives: "string", insert: "string(", help: "a value as a string", example: `string(1) == "1"`},
	{name: "isQuantity", gives: "bool", insert: "isQuantity(", help: "true when a string is a quantity", example: `isQuantity("1Gi")`},
	{name: "isSemver", gives: "bool", insert: "isSemver(", help: "true when a string is a version", example: `isSemver("1.2.3")`},
	{name: "cel.bind", insert: "cel.bind(", help: "names a value: cel.bind(d, VALUE, EXPRESSION that uses d)", example: `cel.bind(d, ` + attr + `, has(d.x))`},

	{name: "startsWith", on: "string", gives: "bool", insert: "startsWith(", help: "true when the string begins with another", example: `"ab".startsWith("a")`},
	{name: "endsWith", on: "string", gives: "bool", insert: "endsWith(", help: "true when the string ends with another", example: `"ab".endsWith("b")`},
	{name: "contains", on: "string", gives: "bool", insert: "contains(", help: "true when another string is in it", example: `"ab".contains("a")`},
	{name: "matches", on: "string", gives: "bool", insert: "matches(", help: "true when a regular expression (RE2) finds something in it", example: `"ab".matches("^a")`},
	{name: "lowerAscii", on: "string", gives: "string", insert: "lowerAscii()", help: "in lower case, to compare without case", example: `"AB".lowerAscii() == "ab"`},
	{name: "upperAscii", on: "string", gives: "string", insert: "upperAscii()", help: "in upper case", example: `"ab".upperAscii() == "AB"`},
	{name: "split", on: "string", gives: "list", insert: "split(", help: "a list of what is between separators", example: `"a,b".split(",")[0] == "a"`},
	{name: "replace", on: "string", gives: "string", insert: "replace(", help: "replaces a string in it", example: `"ab".replace("a", "b") == "bb"`},
	{name: "substring", on: "string", gives: "string", insert: "substring(", help: "from a place on, or between two", example: `"ab".substring(1) == "b"`},
	{name: "trim", on: "string", gives: "string", insert: "trim()", help: "without white space around", example: `" a".trim() == "a"`},
	{name: "find", on: "string", gives: "string", insert: "find(", help: "what a regular expression finds first", example: `"a1".find("[0-9]") == "1"`},
	{name: "size", on: "string", gives: "int", insert: "size()", help: "the number of characters", example: `"ab".size() == 2`},

	{name: "isGreaterThan", on: "version", gives: "bool", insert: `isGreaterThan(semver("`, help: "true when it is a later version", example: `semver("1.0.0").isGreaterThan(semver("0.1.0"))`},
	{name: "isLessThan", on: "version", gives: "bool", insert: `isLessThan(semver("`, help: "true when it is an earlier version", example: `semver("1.0.0").isLessThan(semver("2.1.0"))`},
	{name: "compareTo", on: "version", gives: "int", insert: `compareTo(semver("`, help: "-1 earlier, 0 the same, 1 later: compareTo(…) >= 0 is at least", example: `semver("1.0.0").compareTo(semver("1.0.0")) >= 0`},
	{name: "major", on: "version", gives: "int", insert: "major()", help: "the first number", example: `semver("1.0.0").major() == 1`},
	{name: "minor", on: "version", gives: "int", insert: "minor()", help: "the second number", example: `semver("1.2.0").minor() == 2`},
	{name: "patch", on: "version", gives: "int", insert: "patch()", help: "the third number", example: `semver("1.2.3").patch() == 3`},

	{name: "compareTo", on: "quantity", gives: "int", insert: `compareTo(quantity("`, help: "-1 less, 0 equal, 1 more: compareTo(…) >= 0 is at least", example: `quantity("1Gi").compareTo(quantity("1Gi")) >= 0`},
	{name: "isGreaterThan", on: "quantity", gives: "bool", insert: `isGreaterThan(quantity("`, help: "true when it is more, not equal", example: `quantity("1Gi").isGreaterThan(quantity("1Mi"))`},
	{name: "isLessThan", on: "quantity", gives: "bool", insert: `isLessThan(quantity("`, help: "true when it is less, not equal", example: `quantity("1Gi").isLessThan(quantity("1Ti"))`},
	{name: "asInteger", on: "quantity", gives: "int", insert: "asInteger()", help: "as a whole number; fails when it is none", example: `quantity("1").asInteger() == 1`},
	{name: "asApproximateFloat", on: "quantity", gives: "double", insert: "asApproximateFloat()", help: "as a number, perhaps rounded", example: `quantity("1").asApproximateFloat() > 0.5`},

	{name: "includes", on: "list", gives: "bool", insert: "includes(", help: "true when a value is in the list, or is the only value", example: attr + `.l.includes("a")`, lists: true},
	{name: "exists", on: "list", gives: "bool", insert: "exists(v, v ", help: "true when a condition holds for some value", example: `[1].exists(v, v == 1)`},
	{name: "all", on: "list", gives: "bool", insert: "all(v, v ", help: "true when a condition holds for every value", example: `[1].all(v, v == 1)`},
	{name: "exists_one", on: "list", gives: "bool", insert: "exists_one(v, v ", help: "true when a condition holds for exactly one value", example: `[1].exists_one(v, v == 1)`},
	{name: "filter", on: "list", gives: "list", insert: "filter(v, v ", help: "the values for which a condition holds", example: `[1].filter(v, v == 1).size() == 1`},
	{name: "map", on: "list", gives: "list", insert: "map(v, v", help: "a list of what an expression gives for each value", example: `[1].map(v, v + 1)[0] == 2`},
	{name: "size", on: "list", gives: "int", insert: "size()", help: "the number of values", example: `[1].size() == 1`},

	{name: "orValue", on: "optional", insert: "orValue(", help: "the value, or this one when it is missing", example: attr + `.?x.orValue("") == "a"`},
	{name: "hasValue", on: "optional", gives: "bool", insert: "hasValue()", help: "true when it is there", example: attr + `.?x.hasValue()`},
}

// deviceFields are what can be selected from the device.
var deviceFields = []Item{
	{Label: "attributes", Insert: "attributes[\"", Kind: FieldKind, Help: "what a device is, by domain: device.attributes[\"gpu.example.com\"].model"},
	{Label: "capacity", Insert: "capacity[\"", Kind: FieldKind, Help: "how much of something it has, a quantity: device.capacity[\"gpu.example.com\"].memory"},
	{Label: "driver", Insert: "driver", Kind: FieldKind, Help: "the name of its driver, a string"},
	{Label: "allowMultipleAllocations", Insert: "allowMultipleAllocations", Kind: FieldKind, Help: "true when several claims can share it"},
}
