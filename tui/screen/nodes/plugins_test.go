package nodes

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// TestPlugins: each resource of a device plugin has a column of its own, those of which there are most first,
// and nodes on which it has something else do not look alike.
func TestPlugins(t *testing.T) {
	const yaml = `
{apiVersion: v1, kind: Node, metadata: {name: a}, status: {capacity: {x.com/few: "2", x.com/many: "8", cpu: "4"}, allocatable: {x.com/few: "2", x.com/many: "6", cpu: "4"}}}
---
{apiVersion: v1, kind: Node, metadata: {name: b}, status: {capacity: {x.com/many: "8"}, allocatable: {x.com/many: "0"}}}
---
{apiVersion: v1, kind: Node, metadata: {name: c}}
---
{apiVersion: v1, kind: Node, metadata: {name: d}}
---
{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {nodeName: a, containers: [{name: c, resources: {limits: {x.com/many: "5"}}}]}}
`
	result, err := manifest.ReadBytes("nodes.yaml", []byte(yaml), manifest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		health map[inspect.Resource]inspect.Health
		want   map[string][]string
	}{
		"all is known": {nil, map[string][]string{"X.COM/MANY": {"1/8 (2 unhealthy)", "0/8 (8 unhealthy)", "", ""}, "X.COM/FEW": {"2/2", "", "", ""}}},
		"nobody may read pods": {
			map[inspect.Resource]inspect.Health{inspect.Pods: {State: inspect.Forbidden}},
			map[string][]string{"X.COM/MANY": {"?/8 (2 unhealthy)", "0/8 (8 unhealthy)", "", ""}, "X.COM/FEW": {"?/2", "", "", ""}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			rows, err := build(t.Context(), screen.NewWorld(t.Context(), 1, inspect.New(result.Objects, inspect.Config{Health: test.health})), byState, true, screen.Ref{})
			if err != nil {
				t.Fatal(err)
			}
			got := map[string][]string{}
			var titles []string
			for _, c := range pluginColumns(resources(rows)) {
				titles = append(titles, c.Title)
				for i := range rows {
					got[c.Title] = append(got[c.Title], c.Cell(&rows[i]).String())
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error("cells (-want +got):\n" + diff)
			}
			if diff := cmp.Diff([]string{"X.COM/MANY", "X.COM/FEW"}, titles); diff != "" {
				t.Error("order (-want +got):\n" + diff)
			}
			if kinds := merge(rows, ""); len(kinds) != 3 {
				t.Errorf("%d kinds of nodes, want a, b, and c with d", len(kinds))
			}
		})
	}
}
