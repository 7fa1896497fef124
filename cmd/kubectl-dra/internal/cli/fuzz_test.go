package cli

import (
	"slices"
	"strings"
	"testing"
)

// FuzzArguments: TYPE NAME… and TYPE/NAME… mean the same, whatever the names are, and no name is lost or empty.
func FuzzArguments(f *testing.F) {
	for _, seed := range []string{"claim\x00a", "claims/a\x00claims/b", "pod", "rc.resource.k8s.io/x", "/", "a/b/c", "", "\x00", "CLAIM\x00-"} {
		f.Add(seed)
	}
	kinds := []kind{kindClaim, kindPod, kindTemplate}
	f.Fuzz(func(t *testing.T, joined string) {
		args := strings.Split(joined, "\x00")
		if asked, err := splitNamed(args, append(ownerKinds(), kinds...)); err == nil {
			for _, n := range asked {
				if n.name == "" || (n.kind.kind == "") != (n.unknown != nil) {
					t.Fatalf("%q is %+v", args, n)
				}
			}
		}
		k, names, err := splitArguments(args, kinds)
		if err != nil {
			return
		}
		if len(names) == 0 || slices.Contains(names, "") || !slices.ContainsFunc(kinds, func(known kind) bool { return known.kind == k.kind }) {
			t.Fatalf("%q is %s %q", args, k.kind, names)
		}
		typed := make([]string, len(names))
		for i := range names {
			typed[i] = k.names[0] + "/" + names[i]
		}
		if again, same, err := splitArguments(typed, kinds); err != nil || again.kind != k.kind || !slices.Equal(same, names) {
			t.Errorf("%q is %s %q, but %q is %s %q, %v", args, k.kind, names, typed, again.kind, same, err)
		}
	})
}
