package nodeview_test

import (
	"strings"
	"testing"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output/nodeview"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/node"
)

// TestNodeAgrees: that a kubelet and the API server agree, and that it lists no containers, is said only
// where the kubelet was heard.
func TestNodeAgrees(t *testing.T) {
	const agree, none = "its kubelet and the API server agree", "the kubelet lists none"
	health := func(s inspect.HealthState) inspect.Health { return inspect.Health{State: s, Message: "m"} }
	synced := health(inspect.Synced)
	for name, test := range map[string]struct {
		sources map[node.Source]inspect.Health
		says    []string
		not     []string
	}{
		"all was read":      {map[node.Source]inspect.Health{node.PodResources: synced, node.ClaimCheckpoint: synced}, []string{agree, none}, nil},
		"an older kubelet":  {map[node.Source]inspect.Health{node.PodResources: synced, node.PodsAPI: health(inspect.NotServed)}, []string{agree, none}, nil},
		"it hangs":          {map[node.Source]inspect.Health{node.PodResources: health(inspect.Broken), node.ClaimCheckpoint: synced}, []string{"not all could be read", "not known"}, []string{agree, none}},
		"it has no socket":  {map[node.Source]inspect.Health{node.PodResources: health(inspect.NotServed), node.ClaimCheckpoint: synced}, []string{"not all could be read", "not known"}, []string{agree, none}},
		"a file is cut off": {map[node.Source]inspect.Health{node.PodResources: synced, node.ClaimCheckpoint: health(inspect.Broken)}, []string{"not all could be read", none}, []string{agree}},
		"no permission":     {map[node.Source]inspect.Health{node.PodResources: synced, node.Registry: health(inspect.Forbidden)}, []string{"not all could be read", none}, []string{agree}},
	} {
		var b strings.Builder
		wire := nodeview.NewNodeView(&node.Report{Node: "n1"}, &node.View{Health: test.sources}, nil, nil)
		if err := nodeview.PrintNodeView(&b, wire, 200, false); err != nil {
			t.Fatal(err)
		}
		for _, text := range test.says {
			if !strings.Contains(b.String(), text) {
				t.Errorf("%s: %q is missing in\n%s", name, text, b.String())
			}
		}
		for _, text := range test.not {
			if strings.Contains(b.String(), text) {
				t.Errorf("%s: %q is said:\n%s", name, text, b.String())
			}
		}
	}
}
