package inquiry

import (
	"slices"
	"strings"
	"testing"
)

// FuzzArguments: TYPE NAME… and TYPE/NAME… mean the same, whatever the names are, and no name is lost or
// empty.
func FuzzArguments(f *testing.F) {
	for _, seed := range []string{"claim\x00a", "claims/a\x00claims/b", "pod", "rc.resource.k8s.io/x", "/", "a/b/c", "", "\x00", "CLAIM\x00-"} {
		f.Add(seed)
	}
	kinds := []Kind{Claim, Pod, Template}
	f.Fuzz(func(t *testing.T, joined string) {
		args := strings.Split(joined, "\x00")
		if asked, err := splitNamed(args, append(OwnerKinds(), kinds...)); err == nil {
			for _, n := range asked {
				if n.Name == "" || (n.Kind.Kind == "") != (n.Unknown != nil) {
					t.Fatalf("%q is %+v", args, n)
				}
			}
		}
		k, names, err := SplitArguments(args, kinds)
		if err != nil {
			return
		}
		if len(names) == 0 || slices.Contains(names, "") || !slices.ContainsFunc(kinds, func(known Kind) bool { return known.Kind == k.Kind }) {
			t.Fatalf("%q is %s %q", args, k.Kind, names)
		}
		typed := make([]string, len(names))
		for i := range names {
			typed[i] = k.Names[0] + "/" + names[i]
		}
		if again, same, err := SplitArguments(typed, kinds); err != nil || again.Kind != k.Kind || !slices.Equal(same, names) {
			t.Errorf("%q is %s %q, but %q is %s %q, %v", args, k.Kind, names, typed, again.Kind, same, err)
		}
	})
}
