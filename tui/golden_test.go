package tui

import (
	"fmt"
	"testing"

	testwork "github.com/kubectl-dra/kubectl-dra/internal/effort"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/screen/screentest"
)

// goldens are the screens that are pinned: a view, where the cursor is put, and what is pressed then.
var goldens = []struct {
	name, view string
	at         screen.Ref
	keys       []string
}{
	{"claims", "claims", screen.Ref{}, nil},
	{"claims-allocated", "claims", screen.Ref{Kind: screen.Claim, Namespace: "ml", Name: "pretrain-1"}, nil},
	{"claims-filter", "claims", screen.Ref{}, []string{"/", "state=stuck ml"}},
	{"claims-grouped", "claims", screen.Ref{}, []string{"b"}},
	{"claims-what-if", "claims", screen.Ref{Kind: screen.Claim, Namespace: "ml", Name: "pretrain-0"}, []string{"w"}},
	{"explain", "claims", screen.Ref{Kind: screen.Claim, Namespace: "ml", Name: "train-0"}, []string{"e"}},
	{"explain-search", "claims", screen.Ref{Kind: screen.Claim, Namespace: "ml", Name: "train-0"}, []string{"e", "/", "numa", "enter", "n"}},
	{"detail-claim", "claims", screen.Ref{Kind: screen.Claim, Namespace: "net", Name: "vpn-gateway"}, []string{"enter"}},
	{"fit", "claims", screen.Ref{Kind: screen.Claim, Namespace: "ml", Name: "sweep-3"}, []string{"f"}},
	{"yaml", "claims", screen.Ref{Kind: screen.Claim, Namespace: "ml", Name: "train-0"}, []string{"y"}},
	{"devices", "devices", screen.Ref{}, nil},
	{"devices-counters", "devices", screen.Ref{}, []string{"b", "b", "b", "b", "end"}},
	{"detail-device", "devices", screen.Ref{Kind: screen.Device, Name: "gpu.example.com/gpu-a-03/gpu-5"}, []string{"enter"}},
	{"devices-filter", "devices", screen.Ref{}, []string{"/", "tainted"}},
	{"detail-device-rule", "devices", screen.Ref{Kind: screen.Device, Name: "gpu.example.com/gpu-a-04/gpu-0"}, []string{"enter"}},
	{"detail-partition", "devices", screen.Ref{Kind: screen.Device, Name: "mig.example.com/mig-01/gpu-1"}, []string{"enter"}},
	{"detail-node-partitions", "nodes", screen.Ref{Kind: screen.Node, Name: "mig-01"}, []string{"enter"}},
	{"nodes", "nodes", screen.Ref{Kind: screen.Node, Name: "gpu-a-02"}, nil},
	{"nodes-alike", "nodes", screen.Ref{}, []string{"z"}},
	{"nodes-device", "nodes", screen.Ref{Kind: screen.Node, Name: "gpu-a-02"}, []string{"right", "right"}},
	{"nodes-about-claim", "claims", screen.Ref{Kind: screen.Claim, Namespace: "ml", Name: "train-0"}, []string{"m"}},
	{"nodes-partitions", "nodes", screen.Ref{Kind: screen.Node, Name: "mig-02"}, nil},
	{"nodes-racks", "nodes", screen.Ref{Kind: screen.Node, Name: "gpu-b-03"}, []string{"o", "L", "rack", "enter"}},
	{"detail-node", "nodes", screen.Ref{Kind: screen.Node, Name: "gpu-a-03"}, []string{"enter"}},
	{"detail-node-plugins", "nodes", screen.Ref{Kind: screen.Node, Name: "cpu-01"}, []string{"enter"}},
	{"explain-storage", "storage", screen.Ref{Kind: screen.StorageCapacity, Namespace: "storage", Name: "csisc-gc8dg"}, []string{"e"}},
	{"detail-pod", "claims", screen.Ref{}, []string{":", "pod train-0", "enter"}},
	{"help", "claims", screen.Ref{}, []string{"?"}},
	{"claims-marked", "claims", screen.Ref{}, []string{"space", "down", "space"}},
	{"explain-several", "claims", screen.Ref{}, []string{"/", "train-", "enter", "space", "space", "e"}},
	{"go-to", "claims", screen.Ref{}, []string{":", "gpu-b", "down"}},
	{"go-to-commands", "claims", screen.Ref{}, []string{":"}},
	{"load-selector", "cel", screen.Ref{}, []string{"l", "deviceclass"}},
	{"choose-namespace", "claims", screen.Ref{}, []string{"n", "down"}},
	{"checkup", "checkup", screen.Ref{}, nil},
	{"checkup-links", "checkup", screen.Ref{}, []string{"down", "down", "v"}},
	{"pods", "pods", screen.Ref{}, nil},
	{"classes", "classes", screen.Ref{}, nil},
	{"templates", "templates", screen.Ref{}, nil},
	{"rules", "rules", screen.Ref{}, nil},
	{"drivers", "drivers", screen.Ref{}, nil},
	{"pools", "pools", screen.Ref{}, nil},
	{"namespaces", "namespaces", screen.Ref{}, nil},
	{"detail-claim-link", "claims", screen.Ref{Kind: screen.Claim, Namespace: "ml", Name: "pretrain-1"}, []string{"enter", "down", "down", "down"}},
	{"detail-class", "classes", screen.Ref{Kind: screen.Class, Name: "gpu.example.com"}, []string{"enter"}},
	{"detail-template", "templates", screen.Ref{Kind: screen.Template, Namespace: "infer", Name: "chat-7b-gpu"}, []string{"enter"}},
	{"detail-rule", "rules", screen.Ref{Kind: screen.TaintRule, Name: "firmware-gpu-a-04"}, []string{"enter"}},
	{"detail-driver", "drivers", screen.Ref{Kind: screen.Driver, Name: "fpga.example.com"}, []string{"enter"}},
	{"detail-pool", "pools", screen.Ref{Kind: screen.Pool, Name: "mig.example.com/mig-01"}, []string{"enter"}},
	{"detail-namespace", "namespaces", screen.Ref{Kind: screen.Namespace, Name: "dev"}, []string{"enter"}},
	{"plan-choice", "nodes", screen.Ref{Kind: screen.Node, Name: "gpu-b-03"}, []string{"p"}},
	{"plan-drain", "nodes", screen.Ref{Kind: screen.Node, Name: "gpu-b-03"}, []string{"p", "enter"}},
	{"plan-lose-devices", "devices", screen.Ref{Kind: screen.Device, Name: "gpu.example.com/gpu-a-01/gpu-0"}, []string{"space", "space", "p", "l", "enter"}},
	{"plan-taint", "devices", screen.Ref{Kind: screen.Device, Name: "gpu.example.com/gpu-a-01/gpu-0"}, []string{"p", "down", "enter"}},
	{"plan-make-room", "claims", screen.Ref{Kind: screen.Claim, Namespace: "ml", Name: "pretrain-2"}, []string{"p"}},
	{"plan-evict", "pods", screen.Ref{Kind: screen.Pod, Namespace: "infer", Name: "llm-70b-2"}, []string{"p", "e", "enter"}},
	{"plan-supposed", "nodes", screen.Ref{Kind: screen.Node, Name: "gpu-b-03"}, []string{"p", "enter", "w"}},
	{"plan-delete", "namespaces", screen.Ref{Kind: screen.Namespace, Name: "ml"}, []string{"p", "v"}},
	{"detail-level", "priority", screen.Ref{Kind: screen.PriorityLevel, Name: "workload-low"}, []string{"enter"}},
	{"detail-capacity", "storage", screen.Ref{Kind: screen.StorageCapacity, Namespace: "storage", Name: "csisc-gc8dg"}, []string{"enter"}},
}

// TestGolden pins the screens of the demo cluster. What they say was checked against the table of
// inspect/demo; go test -update writes the files anew, to be read before they are committed.
func TestGolden(t *testing.T) {
	for _, g := range goldens {
		for _, size := range [][2]int{{60, 15}, {80, 24}, {120, 35}, {200, 50}, {300, 100}} {
			if size[0] != 80 && testwork.Usual() && !*screentest.Update {
				continue // every change is tried on large screens, too
			}
			name := fmt.Sprintf("%s-%dx%d", g.name, size[0], size[1])
			t.Run(name, func(t *testing.T) {
				d := drive(t, size[0], size[1], g.view)
				if g.at.Kind != screen.None {
					d.send(screen.Go{View: g.view, Ref: g.at})
				}
				for _, key := range g.keys {
					d.frame() // what a key does may depend on what was drawn
					d.press(key)
				}
				screentest.Compare(t, name, d.frame()+"\n")
			})
		}
	}
}
