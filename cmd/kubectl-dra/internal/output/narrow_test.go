package output

import (
	"bytes"
	"strings"
	"testing"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/internal/clusters"
)

// TestNarrowTables prints the demo cluster for 80 columns. Names stay whole, what tells things apart and what
// a reader looks for is there, and only a name may make its own row wider.
func TestNarrowTables(t *testing.T) {
	s := clusters.Demo(t)
	claims := &List{Table: claimTable}
	for _, c := range []Claim{
		{Name: "legacy-train-extended-resources-k4v7q", State: "Reserved", Node: "gpu-a-03", Age: "21h", Listed: Listed{Meta{Namespace: "infer"}}},
		{Name: "train-0", State: "Pending", Age: "12m", Reason: "gpus: 5 devices needed, 4 can be had on one NUMA node", Listed: Listed{Meta{Namespace: "ml"}}},
		{Name: "some-name-that-is-long", State: "Pending", Age: "12m", Reason: "gpus: 5 devices needed, 4 can be had on one NUMA node", Listed: Listed{Meta{Namespace: "ml"}}},
	} {
		claims.Items = append(claims.Items, &c)
	}
	for name, test := range map[string]struct {
		list *List
		has  []string
	}{
		"claims": {claims, []string{"REASON", "NODE", "legacy-train-extended-resources-k4v7q Reserved gpu-a-03", "gpus: 5 devices neede..."}},
		"pools":  {Pools(s), []string{"DRIVER", "FREE", "PoolIncomplete: gene", "gpu-a-01   nic.example.com    2         2", "4 (1 at once)"}},
		"nodes":  {Nodes(s), []string{"FREE", "mig.example.com 4/20 (1 at once)", "gpu.example.com 4/8, nic.example.com 2/2"}},
	} {
		var b bytes.Buffer
		if err := PrintTable(&b, test.list, TableOptions{Width: 80, Namespace: true}); err != nil {
			t.Fatal(err)
		}
		for _, text := range test.has {
			if !strings.Contains(b.String(), text) {
				t.Errorf("%s: %q is not in\n%s", name, text, b.String())
			}
		}
		for line := range strings.Lines(b.String()) {
			if n := styled.Width(strings.TrimRight(line, "\n")); n > 80 {
				t.Errorf("%s: a line has %d columns: %s", name, n, line)
			}
		}
	}
}
