package nodes

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
	"github.com/kubectl-dra/kubectl-dra/internal/demo"
	"github.com/kubectl-dra/kubectl-dra/internal/effort"
	"github.com/kubectl-dra/kubectl-dra/internal/poison"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/screen/screentest"
	"github.com/kubectl-dra/kubectl-dra/tui/theme"
	"github.com/kubectl-dra/kubectl-dra/tui/widget"
)

// user looks at the view and presses keys.
type user struct {
	*testing.T
	s             *Screen
	w             *screen.World
	width, height int
	offers        []screen.Offer
}

func look(t *testing.T, snapshot *inspect.Snapshot, width, height int) *user {
	t.Helper()
	u := &user{T: t, s: New(), w: screen.NewWorld(context.Background(), 1, snapshot), width: width, height: height}
	u.w.Theme = theme.None()
	u.send(screen.Shown{})
	u.frame()
	return u
}

func demoCluster(t *testing.T) *inspect.Snapshot {
	t.Helper()
	objects, err := demo.Objects()
	if err != nil {
		t.Fatal(err)
	}
	features := inspect.DefaultFeatures(inspect.NewestMinor)
	return inspect.New(objects, inspect.Config{Time: demo.Now(), Health: demo.Health(), Features: features})
}

func fromYAML(t *testing.T, text string) *inspect.Snapshot {
	t.Helper()
	result, err := manifest.ReadBytes("objects.yaml", []byte(text), manifest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return inspect.New(result.Objects, inspect.Config{Time: demo.Now(), Health: demo.Health(), Features: inspect.DefaultFeatures(inspect.NewestMinor)})
}

func (u *user) send(msg tea.Msg) {
	u.Helper()
	for _, asked := range screentest.Settle(u.w, u.s, msg) {
		if c, ok := asked.(screen.Choose); ok {
			u.offers = c.Offers
		}
	}
}

// choose takes the first offer whose text has a word.
func (u *user) choose(word string) {
	u.Helper()
	for _, o := range u.offers {
		if strings.Contains(o.Text, word) {
			u.send(tea.BatchMsg{o.Take(u.w)})
			return
		}
	}
	u.Fatalf("%q is not offered", word)
}

func (u *user) press(keys ...string) {
	u.Helper()
	named := map[string]tea.Key{"right": {Code: tea.KeyRight}, "left": {Code: tea.KeyLeft}, "down": {Code: tea.KeyDown}, "up": {Code: tea.KeyUp}, "enter": {Code: tea.KeyEnter}, "esc": {Code: tea.KeyEscape}, "home": {Code: tea.KeyHome}}
	for _, key := range keys {
		if k, ok := named[key]; ok {
			u.send(tea.KeyPressMsg(k))
			continue
		}
		for _, r := range key {
			u.send(tea.KeyPressMsg{Text: string(r), Code: r})
		}
	}
}

func (u *user) frame() string { return u.s.View(u.w, u.width, u.height) }

// at points at a node.
func (u *user) at(node string) {
	u.Helper()
	u.send(screen.Selected{Ref: screen.Ref{Kind: screen.Node, Name: node}})
}

func (u *user) selects(want string) {
	u.Helper()
	if ref := u.s.State().Selection; string(ref.Kind)+" "+ref.Name != want {
		u.Errorf("%s %s is selected, want %s\n%s", ref.Kind, ref.Name, want, u.frame())
	}
}

func (u *user) shows(texts ...string) {
	u.Helper()
	frame := strings.Join(strings.Fields(u.frame()), " ")
	for _, text := range texts {
		if !strings.Contains(frame, text) {
			u.Errorf("%q is not on the screen:\n%s", text, u.frame())
		}
	}
}

// TestTheCursorGoesOverDevices: from the node through the drivers and back; other rows keep the place.
func TestTheCursorGoesOverDevices(t *testing.T) {
	u := look(t, demoCluster(t), 119, 30)
	u.at("gpu-a-02")
	u.selects("Node gpu-a-02")
	u.press("left")
	u.selects("Node gpu-a-02")
	u.press("right", "l")
	u.selects("Device gpu.example.com/gpu-a-02/gpu-1")
	u.shows("■[■]□□ □□■■")
	u.press("down")
	u.selects("Device gpu.example.com/gpu-a-03/gpu-1")
	u.press("up", "llllll", "right")
	u.selects("Device nic.example.com/gpu-a-02/nic-0")
	u.press("lll")
	u.selects("Device nic.example.com/gpu-a-02/nic-1")
	u.press("h", "left")
	u.selects("Device gpu.example.com/gpu-a-02/gpu-7")
	u.press("esc")
	u.selects("Node gpu-a-02")
	u.press("l", "h")
	u.selects("Node gpu-a-02")
	u.at("mig-01")
	u.press("l")
	u.selects("Device mig.example.com/mig-01/gpu-0")
	u.press("up")
	u.selects("Node gpu-b-04")
	u.send(screen.Selected{Ref: screen.Ref{Kind: screen.Device, Name: "gpu.example.com/gpu-a-03/gpu-5"}})
	u.selects("Device gpu.example.com/gpu-a-03/gpu-5")
}

// TestTheDeviceStays: the cursor stays with the device when the cluster changes under it.
func TestTheDeviceStays(t *testing.T) {
	base := demoCluster(t)
	u := look(t, base, 120, 30)
	u.send(screen.Selected{Ref: screen.Ref{Kind: screen.Device, Name: "gpu.example.com/gpu-a-03/gpu-5"}})
	u.w = u.w.Next(2, base.With(func(o *inspect.Objects) {
		for i, slice := range o.Slices {
			if slice.Spec.Pool.Name == "gpu-a-03" && slice.Spec.Driver == "gpu.example.com" {
				slice = slice.DeepCopy()
				slice.Spec.Devices = slice.Spec.Devices[1:]
				o.Slices[i] = slice
			}
		}
	}))
	u.send(screen.Changed{})
	u.selects("Device gpu.example.com/gpu-a-03/gpu-5")
}

// TestClicks: a click on a cell selects its device, wherever the brackets are, and one beside cells the node.
func TestClicks(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {300, 40}} {
		u := look(t, demoCluster(t), size[0], size[1])
		u.at("gpu-a-02")
		u.frame()
		for _, at := range []int{0, 5, 4, 7} {
			if size[0] >= leastMap {
				continue // see TestLargeMap
			}
			lines := strings.Split(u.frame(), "\n")
			y := 0
			for !strings.HasPrefix(strings.TrimLeft(lines[y], "▸ "), "gpu-a-03") {
				y++
			}
			x := cellColumn(lines[y], at)
			u.send(tea.MouseClickMsg{X: x, Y: y})
			u.selects(fmt.Sprintf("Device gpu.example.com/gpu-a-03/gpu-%d", at))
		}
		u.send(tea.MouseClickMsg{X: 3, Y: 3})
		if u.s.State().Selection.Kind != screen.Node {
			t.Errorf("a click on the name selects %v", u.s.State().Selection)
		}
		before := u.s.State().Selection
		if u.send(tea.MouseClickMsg{X: 290, Y: 5}); u.s.State().Selection != before && size[0] > 290 {
			t.Errorf("a click on the panel selects %v", u.s.State().Selection)
		}
	}
}

// cellColumn is where a cell is drawn in a line.
func cellColumn(line string, cell int) int {
	x := 0
	for _, r := range line {
		if strings.ContainsRune("■□▨◧·✗", r) {
			if cell--; cell < 0 {
				return x
			}
		}
		x++
	}
	return -1
}

// TestWhatIsToldOfADevice: who has it since when, what keeps it from being had, and how it is.
func TestWhatIsToldOfADevice(t *testing.T) {
	u := look(t, demoCluster(t), 120, 30)
	for name, want := range map[string][]string{
		"gpu.example.com/gpu-a-02/gpu-0":         {"gpu-0 ■ used for 7d23h or longer by infer/chat-7b-6d9f4c7b88-2xkqp-gpu-h7w2z pod chat-7b-6d9f4c7b88-2xkqp of deployment chat-7b", "A100-SXM4-40GB numa 0"},
		"gpu.example.com/gpu-a-03/gpu-5":         {"▨ tainted", "by its driver"},
		"gpu.example.com/gpu-a-04/gpu-1":         {"▨ tainted", "by the rule firmware-gpu-a-04"},
		"mig.example.com/mig-01/gpu-1-1g-10gb-0": {"takes 1 compute-slices, 10Gi memory of gpu-1-counters", "still fits 1 × 1g.10gb"},
		"nic.example.com/gpu-b-01/nic-0":         {"◧ shared", "of 400G"},
		"mig.example.com/mig-02/gpu-0-1g-10gb-0": {"· blocked", "too little left"},
	} {
		u.send(screen.Selected{Ref: screen.Ref{Kind: screen.Device, Name: name}})
		u.selects("Device " + name)
		u.shows(want...)
	}
}

const sick = `
{apiVersion: v1, kind: Node, metadata: {name: a}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: a}
spec: {driver: x.com, nodeName: a, pool: {name: a, generation: 1, resourceSliceCount: 1}, devices: [{name: d0}, {name: d1}, {name: d2}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: c, namespace: ns, creationTimestamp: "2026-11-20T07:00:00Z"}
spec: {devices: {requests: [{name: r, exactly: {deviceClassName: x}}]}}
status:
  allocation: {allocationTimestamp: "2026-11-20T08:00:00Z", devices: {results: [{request: r, driver: x.com, pool: a, device: d0}, {request: r, driver: x.com, pool: a, device: d2}]}}
  reservedFor: [{resource: pods, name: p, uid: u}]
  devices: [{driver: x.com, pool: a, device: d0, conditions: [{type: Ready, status: "False", reason: LinkDown, message: "no \e[2J link", lastTransitionTime: "2026-11-20T08:00:00Z"}]}]
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: idle, namespace: ns, creationTimestamp: "2026-11-20T07:00:00Z"}
spec: {devices: {requests: [{name: r, exactly: {deviceClassName: x}}]}}
status:
  allocation: {devices: {results: [{request: r, driver: x.com, pool: a, device: d1}]}}
---
apiVersion: v1
kind: Pod
metadata: {name: p, namespace: ns, uid: u}
spec: {nodeName: a, containers: [{name: main, resources: {claims: [{name: e}]}}], resourceClaims: [{name: e, resourceClaimName: c}]}
status:
  phase: Running
  containerStatuses:
  - {name: main, allocatedResourcesStatus: [{name: "claim:e", resources: [{resourceID: x.com/a/d0, health: Unhealthy, message: "XID 79"}]}]}
`

// TestHealthAndAge: what pods and the driver say of a device, and since when it is held as exactly as that is
// known.
func TestHealthAndAge(t *testing.T) {
	u := look(t, fromYAML(t, sick), 120, 30)
	u.press("l")
	u.shows("d0 ■ used for 60m by ns/c pod p", "health: unhealthy XID 79", `Ready is False: LinkDown: no \x1b[2J link`)
	u.press("l")
	u.shows("d1 ■ used for 120m or less by ns/idle no pod uses it")
	u.press("l")
	u.shows("d2 ■ used for 60m by ns/c pod p")
	if strings.Contains(u.frame(), "XID") || strings.Contains(u.frame(), "LinkDown") {
		t.Errorf("what is said of d0 is said of d2:\n%s", u.frame())
	}
}

// TestWhoseDevices: without colours, a letter tells the namespace or the owner, and the legend which.
func TestWhoseDevices(t *testing.T) {
	u := look(t, demoCluster(t), 119, 30)
	u.at("gpu-a-02")
	u.press("o")
	u.shows("ii□□ □□dd", "i infer 23 d dev 4", "gpu-a-04 d▨▨▨ ▨▨▨▨")
	u.press("o")
	u.shows("gpu-a-02 cc□□ □□", "c infer/chat-7b 2")
	u.press("o")
	u.shows("■■□□ □□■■", "■ used")
}

// TestNodesOfOthersDoNotLookAlike: as long as marks tell whose devices are, only nodes of the same are taken
// together.
func TestNodesOfOthersDoNotLookAlike(t *testing.T) {
	cluster := demoCluster(t).With(func(o *inspect.Objects) {
		o.Nodes = slices.Clone(o.Nodes)
		for i, n := range o.Nodes { // what device plugins have would tell cpu-01 from cpu-02
			o.Nodes[i] = n.DeepCopy()
			o.Nodes[i].Status.Capacity, o.Nodes[i].Status.Allocatable = nil, nil
		}
	})
	rows := func(by meaning) int {
		rows, err := build(t.Context(), screen.NewWorld(t.Context(), 1, cluster), by, true, screen.Ref{})
		if err != nil {
			t.Fatal(err)
		}
		return len(merge(rows, ""))
	}
	if state, owner := rows(byState), rows(byOwner); state != 11 || owner != 12 {
		t.Errorf("%d kinds of nodes by state and %d by owner, want 11 and 12", state, owner)
	}
}

// TestGroups: nodes come in racks, and by any label; headings count each device once, and tainted ones are
// not used.
func TestGroups(t *testing.T) {
	u := look(t, demoCluster(t), 120, 40)
	key := ""
	for _, k := range u.s.State().Keys {
		if strings.HasPrefix(k.Help, "group by") {
			key = k.Press[0]
		}
	}
	u.press(key)
	u.shows("rack a ■■■■□□□□□▨▨▨ 4 nodes ■ 16 used □ 16 free ▨ 8 tainted")
	u.press("home")
	u.selects("Node gpu-a-01")
	u.press("L")
	u.choose("instance")
	u.shows("instance-type gpu8-80g ■■■■■■◧□□□□□ 4 nodes ■ 22 used ◧ 3 shared □ 15 free")
}

// TestLanes: each physical device of a node has a line, with what still fits.
func TestLanes(t *testing.T) {
	u := look(t, demoCluster(t), 120, 40)
	u.at("mig-02")
	u.shows("gpu-0-counters ■········· still fits nothing", "gpu-1-counters ·□□□□■□□■· still fits 2 × 1g.10gb or 1 × 2g.20gb", "gpu-1-counters held: gpu-1-2g-20gb-0 2g.20gb by rank-1 gpu-1-3g-40gb-0 3g.40gb by rank-0", "memory 20Gi of 80Gi left")
}

// manyNodes is a cluster of nodes with two devices each.
func manyNodes(t *testing.T, nodes int) *inspect.Snapshot {
	t.Helper()
	var b strings.Builder
	for i := range nodes {
		fmt.Fprintf(&b, "---\n{apiVersion: v1, kind: Node, metadata: {name: n%d, labels: {kubernetes.io/hostname: n%d}}}\n", i, i)
		fmt.Fprintf(&b, "---\n{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {name: n%d}, spec: {driver: x.com, nodeName: n%d, pool: {name: n%d, generation: 1, resourceSliceCount: 1}, devices: [{name: d0}, {name: d1}]}}\n", i, i, i)
	}
	return fromYAML(t, b.String())
}

// TestFramesDoNotGrowWithTheCluster weighs what a frame allocates for as many nodes as there is room for, and
// for many.
func TestFramesDoNotGrowWithTheCluster(t *testing.T) {
	cost := func(nodes int) float64 {
		u := look(t, manyNodes(t, nodes), 200, 40)
		if u.s.merged() {
			u.press("z")
		}
		u.press("l")
		u.frame()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range 10 {
			u.frame()
		}
		runtime.ReadMemStats(&after)
		return float64(after.TotalAlloc-before.TotalAlloc) / 10
	}
	if few, many := cost(200), cost(1200); many > 1.2*few {
		t.Errorf("a frame allocates %.0f bytes for 200 nodes and %.0f for 1200", few, many)
	}
}

// TestAKeptNodeIsNotFull: devices that nobody has and nobody can get are told apart from those in use, once.
func TestAKeptNodeIsNotFull(t *testing.T) {
	u := look(t, demoCluster(t), 119, 30)
	u.at("gpu-a-04")
	u.shows("gpu-a-04 ■▨▨▨ ▨▨▨▨", "gpu: 7 tainted", "gpu-a-04 gpu 0 of 8 free, 7 tainted nic")
}

// TestPartitionsAreNotFragmented: they overlap, so free ones on two devices are no sign of anything.
func TestPartitionsAreNotFragmented(t *testing.T) {
	groups := []group{{size: 9, free: 4}, {size: 9, free: 3}}
	for place, want := range map[string]string{"numa": "4+3 by numa", counterPlace: ""} {
		p := panel{place: place, groups: groups, count: inspect.DeviceCount{Total: 18, Free: 7, Used: 11}}
		if got := p.fragmented(); got != want {
			t.Errorf("%s: %q, want %q", place, got, want)
		}
	}
}

// TestFragmentsAsTheyAreDrawn: a remark tells of free devices in the order of the map, and of many places
// only those that have some.
func TestFragmentsAsTheyAreDrawn(t *testing.T) {
	for want, free := range map[string][]int{"1+0+3 by numa": {1, 0, 3}, "1+2+1 by numa": {0, 1, 0, 0, 2, 1}, "1+1+2+1+… by numa": {1, 1, 2, 1, 1}} {
		p := panel{place: "numa"}
		for _, n := range free {
			p.groups = append(p.groups, group{size: 4, free: n})
			p.count.Free += n
		}
		if got := p.fragmented(); got != want {
			t.Errorf("%v: %q, want %q", free, got, want)
		}
	}
}

// TestFilters: labels are looked through, marks are not.
func TestFilters(t *testing.T) {
	u := look(t, demoCluster(t), 120, 30)
	for text, want := range map[string]string{"rack=b": "4 of 12 nodes", "gpu>=4": "4 of 12 nodes", "□": "0 of 12 nodes", "aaaa": "0 of 12 nodes"} {
		u.send(screen.Filter{Text: text})
		if got := u.s.State().Status; got != want {
			t.Errorf("%q shows %s, want %s", text, got, want)
		}
	}
}

// TestNoTextReachesTheMap plants hostile text in every field of the objects.
func TestNoTextReachesTheMap(t *testing.T) {
	worlds := poison.Plant(func() inspect.Objects {
		objects, err := demo.Objects()
		if err != nil {
			t.Fatal(err)
		}
		return objects
	}, poison.Text)
	for i, world := range worlds {
		if i%effort.InFull(1, 6) != 0 {
			continue
		}
		size := [][2]int{{60, 15}, {120, 35}, {300, 60}}[i%3]
		u := look(t, inspect.New(world.Objects, inspect.Config{Time: demo.Now(), Health: demo.Health(), Features: inspect.DefaultFeatures(inspect.NewestMinor)}), size[0], size[1])
		for _, keys := range [][]string{{"o"}, {"o"}, {"o"}, {"home"}, {"lllllllll"}, {"down", "down", "down"}, {"down", "down", "down", "down"}, {"lll"}, {"down", "down", "down", "down"}} {
			u.press(keys...)
			if problem := poison.Check(u.frame()); problem != "" {
				t.Errorf("after %q, the screen shows %s", keys, problem)
			}
		}
		if problem := poison.Check(u.s.Plain(u.w, 0)); problem != "" {
			t.Errorf("as text it shows %s", problem)
		}
	}
}

// TestMergedRowsAreInOneGroup: nodes of another rack or model are not taken together, however alike they
// look.
func TestMergedRowsAreInOneGroup(t *testing.T) {
	rows, err := build(t.Context(), screen.NewWorld(t.Context(), 1, demoCluster(t)), byState, true, screen.Ref{})
	if err != nil {
		t.Fatal(err)
	}
	one, two := rows[2], rows[2] // gpu-a-01
	two.name, two.node = "other", two.node.DeepCopy()
	if merged := merge([]row{one, two}, ""); len(merged) != 1 || merged[0].count != 2 {
		t.Errorf("%d rows of two that are alike", len(merged))
	}
	rack := ""
	for key := range two.node.Labels {
		if strings.Contains(key, rackWord) {
			rack = key
		}
	}
	two.node.Labels[rack] = "elsewhere"
	if merged := merge([]row{one, two}, ""); len(merged) != 2 {
		t.Error("nodes of two racks are one row")
	}
	two.node.Labels[rack], two.node.Labels["team"] = one.node.Labels[rack], "a"
	if merged := merge([]row{one, two}, "team"); len(merged) != 2 {
		t.Error("nodes with two values of the label that is grouped by are one row")
	}
}

// TestLargeMap: on a wide screen cells tell who holds devices, as far as there is room, shared ones how much
// of them is taken, and partitions how much they take. A click still hits the device.
func TestLargeMap(t *testing.T) {
	u := look(t, demoCluster(t), 120, 30)
	u.at("gpu-b-01")
	u.shows("gpu-b-01 pretrain-1 pretrain-1", "gpu-a-03 finet l □╌ □╌ ▨▨ □╌ □╌", "gpu-b-04 □╌ □╌ □╌ □╌ □╌ □╌ moder", "gpu-a-04 n ▨▨ ▨▨ ▨▨ ▨▨ ▨▨ ▨▨ ▨▨", "□ free 41 ░ blocked 22 ▨ tainted 8")
	u.press("right", "right")
	u.selects("Device gpu.example.com/gpu-b-01/gpu-1")
	u.shows("gpu-b-01 P [P ]pretr pretrain-1")
	for x, want := range map[int]string{12: "gpu-0", 14: "gpu-0", 15: "gpu-1", 23: "gpu-3", 26: "gpu-4", 37: "gpu-7"} {
		row := 0
		for i, line := range strings.Split(u.frame(), "\n") {
			if strings.Contains(line, "gpu-b-02  ") {
				row = i
			}
		}
		u.send(tea.MouseClickMsg{X: x, Y: row})
		u.selects("Device gpu.example.com/gpu-b-02/" + want)
		u.press("esc")
	}
	u.at("gpu-b-01")
	u.press("o") // the state, and still names: of claims
	u.shows("■ used 46 ◧ shared", "gpu-a-04 ■■ ▨▨", "gpu-b-01 pretrain-1 pretrain-1")

	u = look(t, demoCluster(t), 200, 50)
	u.shows("mig-02 distill ░░░░░ ░", "░ embed-p ░░░", "R □ □ r")
	u = look(t, demoCluster(t), 300, 50)
	u.shows("cpu-02 ███▎")
	u.press("z")
	u.shows("█")
}

// TestScales: what is drawn is never wider than the screen, and never narrower than it was with less room.
func TestScales(t *testing.T) {
	before := 0
	for width := leastMap; width < 400; width += 7 {
		u := look(t, demoCluster(t), width, 30)
		u.frame()
		total := 0
		c := u.s.Rows()[0].chart
		for i := range c.bands {
			natural, _ := u.s.spot.Load().sized(&c.bands[i], i)
			total += natural
		}
		if total < before && !widget.HasAside(width) {
			t.Errorf("with %d columns pictures have %d, and %d with fewer", width, total, before)
		}
		before = total
		for _, line := range strings.Split(u.frame(), "\n") {
			if n := styled.Width(line); n > width {
				t.Errorf("with %d columns a line has %d: %s", width, n, line)
			}
		}
	}
}

// TestParts: a partition is as wide as what it takes; one that says it takes more than there is, is no wider
// than all of it.
func TestParts(t *testing.T) {
	u := look(t, fromYAML(t, `
{apiVersion: v1, kind: Node, metadata: {name: n1}}
---
{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {name: c}, spec: {driver: x.com, pool: {name: n1, generation: 1, resourceSliceCount: 2}, nodeName: n1, sharedCounters: [{name: s, counters: {m: {value: "8"}}}]}}
---
{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {name: d}, spec: {driver: x.com, pool: {name: n1, generation: 1, resourceSliceCount: 2}, nodeName: n1, devices: [
  {name: d0, consumesCounters: [{counterSet: s, counters: {m: {value: "4"}}}]}, {name: d1, consumesCounters: [{counterSet: s, counters: {m: {value: "2"}}}]},
  {name: d2, consumesCounters: [{counterSet: s, counters: {m: {value: 9E18}}}]}, {name: d3, consumesCounters: [{counterSet: s, counters: {m: {value: "0"}}}]}]}}
`), 120, 30)
	p := u.s.Rows()[0].panelOf("x.com")
	if want := []float64{0.5, 0.25, 1, 0}; !slices.Equal(p.parts, want) {
		t.Errorf("parts %v, want %v", p.parts, want)
	}
	for scale, want := range [][]int{{1, 1, 1, 1}, {4, 2, 8, 1}, {6, 3, 12, 1}} {
		for at := range want {
			if got := p.cellWidth(at, scale); got != want[at] {
				t.Errorf("on scale %d, %d has %d columns, want %d", scale, at, got, want[at])
			}
		}
	}
}
