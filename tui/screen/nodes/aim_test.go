package nodes

import (
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/screen/screentest"
)

// usableOn are the devices with a mark on a node, as driver/device.
func (u *user) usableOn(node string) (names []string) {
	for _, r := range u.s.Rows() {
		for j := range r.drivers {
			for k, fits := range r.drivers[j].fits {
				if fits && r.name == node {
					names = append(names, r.drivers[j].devices[k].ID.Device)
				}
			}
		}
	}
	return names
}

// TestWhatAClaimCouldUse: what passes every check that a device passes by itself is marked, the node of the
// conflict comes first and says what it is, and each node says what is in the way, until a key ends it.
func TestWhatAClaimCouldUse(t *testing.T) {
	for name, tc := range map[string]struct {
		of     screen.Ref
		first  string
		usable string // on the first node
		shows  []string
	}{
		"a constraint": {
			of: screen.Ref{Kind: screen.Claim, Namespace: "ml", Name: "train-0"}, first: "gpu-b-04",
			usable: "gpu-0 gpu-1 gpu-2 gpu-3 gpu-4 gpu-5",
			shows: []string{
				"✓ what claim ml/train-0", "gpus needs 5 devices; 6 here fit", "all on the same gpu.example.com/numa",
				"gpu-b-04 ✓══ ✓══ ✓══ ✓══ ✓══ ✓══", "✗ taint example.com", "✓ train-0 could use 18",
			},
		},
		"its pod": {
			of: screen.Ref{Kind: screen.Pod, Namespace: "ml", Name: "train-0"}, first: "gpu-b-04",
			usable: "gpu-0 gpu-1 gpu-2 gpu-3 gpu-4 gpu-5", shows: []string{"✓ what pod ml/train-0"},
		},
		"a share of a device": {
			of: screen.Ref{Kind: screen.Claim, Namespace: "net", Name: "dns-edge"}, usable: "uplink-0",
			first: "cpu-01", shows: []string{"✓ what claim net/dns-edge"},
		},
		"nothing at all": {
			of: screen.Ref{Kind: screen.Claim, Namespace: "ml", Name: "llama-405b-eval"}, shows: []string{"llama-405b-eval could use 0"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			u := look(t, demoCluster(t), 200, 50)
			u.send(screen.Selected{Ref: tc.of})
			u.shows(tc.shows...)
			if tc.first != "" {
				u.selects("Node " + tc.first)
			}
			if got := strings.Join(u.usableOn(tc.first), " "); got != tc.usable {
				t.Errorf("on %s it could use %s, want %s\n%s", tc.first, got, tc.usable, u.frame())
			}
			u.press("m")
			if frame := u.frame(); strings.Contains(frame, usable) || strings.Contains(frame, "could use") {
				t.Errorf("afterwards:\n%s", frame)
			}
		})
	}
}

// TestWhereAClaimIs: what has its devices is pointed at where they are.
func TestWhereAClaimIs(t *testing.T) {
	u := look(t, demoCluster(t), 200, 50)
	u.send(screen.Selected{Ref: screen.Ref{Kind: screen.Claim, Namespace: "ml", Name: "pretrain-1"}})
	u.selects("Node gpu-b-01")
	u.send(screen.Selected{Ref: screen.Ref{Kind: screen.Pod, Namespace: "infer", Name: "llm-70b-2"}})
	u.selects("Node gpu-b-03")
	gone := screen.Ref{Kind: screen.Pod, Namespace: "infer", Name: "gone"}
	said := screentest.Settle(u.w, u.s, screen.Selected{Ref: gone})
	if !slices.ContainsFunc(said, func(msg tea.Msg) bool {
		say, ok := msg.(screen.Say)
		return ok && strings.Contains(say.Text, "pod infer/gone waits for no devices")
	}) {
		t.Errorf("it says %v", said)
	}
	if frame := u.frame(); strings.Contains(frame, usable) || u.s.Rows()[0].chart.aim != nil {
		t.Errorf("of what is gone:\n%s", frame)
	}
}

// TestToleratedDevices: a tainted device that the claim tolerates could be used, and one that chose other
// nodes could not.
func TestToleratedDevices(t *testing.T) {
	const yaml = `
apiVersion: v1
kind: Node
metadata: {name: n1}
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: c}
spec: {}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: s}
spec:
  driver: d
  nodeName: n1
  pool: {name: n1, generation: 1, resourceSliceCount: 1}
  devices:
  - {name: free}
  - {name: tolerated, taints: [{key: a, effect: NoSchedule}]}
  - {name: tainted, taints: [{key: b, effect: NoSchedule}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: c, namespace: ml}
spec: {devices: {requests: [{name: r, exactly: {deviceClassName: c, count: 3, tolerations: [{key: a, operator: Exists}]}}]}}
`
	result, err := manifest.ReadBytes("taints.yaml", []byte(yaml), manifest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := inspect.New(result.Objects, inspect.Config{Revision: 1, Features: inspect.DefaultFeatures(inspect.NewestMinor)})
	u := look(t, s, 120, 35)
	u.send(screen.Selected{Ref: screen.Ref{Kind: screen.Claim, Namespace: "ml", Name: "c"}})
	if got := strings.Join(u.usableOn("n1"), " "); got != "free tolerated" {
		t.Errorf("it could use %q\n%s", got, u.frame())
	}
}
