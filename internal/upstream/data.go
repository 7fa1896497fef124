package main

import (
	"os"
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// listed is what files.txt says of a folder or file of Kubernetes. Of several that hold a file, the
// longest path counts.
type listed struct {
	module, path string
	mirrors      []string // what does the same here; "-" if nothing here rests on it
}

// readList reads lines such as "k8s.io/kubernetes pkg/features/kube_features.go inspect/features.go".
func readList(file string) ([]listed, error) {
	text, err := os.ReadFile(file)
	var list []listed
	for line := range strings.Lines(string(text)) {
		line, _, _ = strings.Cut(line, "#")
		if fields := strings.Fields(line); len(fields) > 2 {
			list = append(list, listed{fields[0], fields[1], fields[2:]})
		}
	}
	return list, err
}

// holding returns the line of the list that counts for a file of a module, nil if nothing here rests on
// it.
func holding(list []listed, module, file string) *listed {
	var longest *listed
	for i, l := range list {
		if l.module == module && strings.HasPrefix(file+"/", l.path+"/") && (longest == nil || len(longest.path) < len(l.path)) {
			longest = &list[i]
		}
	}
	if longest == nil || longest.mirrors[0] == "-" {
		return nil
	}
	return longest
}

// skipped reports whether a file does not count, whatever the list says of its folder.
func skipped(file string) bool {
	code := path.Base(file) == "go.mod" || slices.Contains([]string{".go", ".proto"}, path.Ext(file))
	return !code || strings.HasSuffix(file, "_test.go") || slices.Contains(strings.Split(file, "/"), "testdata")
}

// change is an entry of changes.yaml: a change of Kubernetes, and what it means here.
type change struct {
	Change string   `json:"change"` // what it is
	Rule   string   `json:"rule"`   // what carries it here: a file and a name in it; or
	None   string   `json:"none"`   // why nothing has to
	Hunks  []string `json:"hunks"`  // each begins with the id of a hunk, the rest is for the reader
}

func readChanges(file string) ([]*change, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var changes []*change
	err = yaml.UnmarshalStrict(text, &changes)
	return changes, err
}
