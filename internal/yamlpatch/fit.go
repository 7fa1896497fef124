package yamlpatch

import (
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
)

// Values returns the objects of a text with what they say. Documents that cannot be read are left out.
func Values(text []byte, each func(Object, any)) {
	for rest := text; len(rest) > 0; {
		var chunk []byte
		chunk, rest = cutDocument(rest)
		d, err := parse(chunk)
		if err != nil {
			continue
		}
		for _, at := range d.objects() {
			if value, err := (&document{root: at.node}).value(); err == nil {
				each(at.Object, value)
			}
		}
	}
}

// Fit makes operations for an object with all defaults ones for the object as it is written, which lacks what
// an API server fills in: what would be replaced there is added, with what it is in, and what would be
// removed is not there. A request that is to be what its limit is stays out.
func Fit(object any, operations []Operation) ([]Operation, error) {
	var out []Operation
	for _, op := range operations {
		fitted, needed := fit(object, op, operations)
		if !needed {
			continue
		}
		next, err := patchedValue(object, fitted)
		if err != nil {
			return nil, err
		}
		object, out = next, append(out, fitted)
	}
	return out, nil
}

// fit makes one operation fit. It is false if there is nothing to do.
func fit(object any, op Operation, all []Operation) (Operation, bool) {
	tokens := Tokens(op.Path)
	_, at := Lookup(object, tokens)
	missing := at < len(tokens)
	switch {
	case !missing:
		return op, true
	case op.Op == "remove":
		return op, false
	case op.Op == "replace" && limitedAlike(op, all):
		return op, false
	case op.Op == "replace" && at == len(tokens)-1:
		op.Op = "add"
		return op, true
	case at == len(tokens)-1:
		return op, true
	}
	value := op.Value
	for _, token := range slices.Backward(tokens[at+1:]) {
		if _, err := strconv.Atoi(token); err == nil || token == "-" {
			return op, true // a list is not made up
		}
		value = map[string]any{unescaped(token): value}
	}
	return Operation{Op: "add", Path: "/" + strings.Join(tokens[:at+1], "/"), Value: value}, true
}

// Lookup follows a JSON pointer, and says how many of its tokens lead to something. The value is what all of
// them lead to.
func Lookup(object any, tokens []string) (value any, found int) {
	for i, token := range tokens {
		switch in := object.(type) {
		case map[string]any:
			next, ok := in[unescaped(token)]
			if !ok {
				return nil, i
			}
			object = next
		case []any:
			index, err := strconv.Atoi(token)
			if err != nil || index < 0 || index >= len(in) {
				return nil, i
			}
			object = in[index]
		default:
			return nil, i
		}
	}
	return object, len(tokens)
}

// Tokens takes a JSON pointer apart.
func Tokens(pointer string) []string { return strings.Split(strings.TrimPrefix(pointer, "/"), "/") }

func unescaped(token string) string {
	return strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
}

// limitedAlike reports whether an operation makes a request what another one makes its limit, which is what a
// server fills in.
func limitedAlike(op Operation, all []Operation) bool {
	limit := strings.Replace(op.Path, "/resources/requests/", "/resources/limits/", 1)
	return limit != op.Path && slices.ContainsFunc(all, func(other Operation) bool { return other.Path == limit && reflect.DeepEqual(other.Value, op.Value) })
}

// patchedValue is an object after one operation.
func patchedValue(object any, op Operation) (any, error) {
	before, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	after, err := patchedJSON(before, op)
	if err != nil {
		return nil, err
	}
	return decodeJSON(after)
}

// patchedJSON is JSON after one operation.
func patchedJSON(before []byte, op Operation) ([]byte, error) {
	list, err := json.Marshal([]Operation{op})
	if err != nil {
		return nil, err
	}
	patch, err := jsonpatch.DecodePatch(list)
	if err != nil {
		return nil, err
	}
	return patch.Apply(before)
}
