package flip

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// versionField is what changes whenever anything else does.
const versionField = "metadata.resourceVersion"

// Fields are the fields in which an object changed, by their paths as in a manifest, sorted, and at most so
// many. There are none of an object that was made or deleted. Names in them are not sanitised.
func (c *Change) Fields(most int) (fields []string, more int) {
	if c.Change == nil || c.Before == nil || c.After == nil {
		return nil, 0
	}
	var found []string
	differences("", plain(c.Before), plain(c.After), &found)
	found = slices.DeleteFunc(found, func(f string) bool { return f == versionField })
	shown := min(most, len(found))
	return found[:shown], len(found) - shown
}

// plain is an object as JSON has it.
func plain(object any) (out any) {
	if o, ok := object.(metav1.Object); ok {
		if kept, err := inspect.WithNewer(o); err == nil {
			object = kept
		}
	}
	data, err := json.Marshal(object)
	if err == nil {
		err = json.Unmarshal(data, &out)
	}
	if err != nil {
		return nil
	}
	return out
}

// differences adds the paths at which two values differ: the shortest that say where something is only in
// one.
func differences(path string, a, b any, out *[]string) {
	switch x := a.(type) {
	case map[string]any:
		if y, ok := b.(map[string]any); ok {
			names := maps.Clone(x)
			maps.Copy(names, y)
			for _, name := range slices.Sorted(maps.Keys(names)) {
				differences(join(path, name), x[name], y[name], out)
			}
			return
		}
	case []any:
		if y, ok := b.([]any); ok && len(x) == len(y) {
			for i := range x {
				differences(fmt.Sprintf("%s[%d]", path, i), x[i], y[i], out)
			}
			return
		}
	default:
		if a == b && isPlain(b) {
			return
		}
	}
	*out = append(*out, path)
}

// isPlain reports whether a value of JSON is neither an object nor a list.
func isPlain(v any) bool {
	switch v.(type) {
	case map[string]any, []any:
		return false
	}
	return true
}

// join adds a name to a path. One that is no word is quoted.
func join(path, name string) string {
	for _, r := range name {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') {
			return path + "[" + strconv.Quote(name) + "]"
		}
	}
	if path == "" {
		return name
	}
	return path + "." + name
}
