package tui

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/demo"
)

// on starts on objects of a test.
func on(t *testing.T, view string, objects *inspect.Objects) *driver {
	t.Helper()
	s := inspect.New(*objects, inspect.Config{Time: demo.Now()})
	return start(t, Options{Source: Static(s), Origin: "recorded", View: view, Profile: colorprofile.NoTTY, Clock: demo.Now}, 80, 24)
}

// gpus is a slice of a node with a device that is free and one that is tainted.
func gpus(node string) *resourcev1.ResourceSlice {
	taints := []resourcev1.DeviceTaint{{Key: "broken", Effect: resourcev1.DeviceTaintEffectNoSchedule}}
	return &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: node}, Spec: resourcev1.ResourceSliceSpec{
		Driver: "gpu.example.com", NodeName: &node, Pool: resourcev1.ResourcePool{Name: node, ResourceSliceCount: 1},
		Devices: []resourcev1.Device{{Name: "gpu-0"}, {Name: "gpu-1", Taints: taints}},
	}}
}

// lastLine is the status line.
func (d *driver) lastLine() string {
	d.Helper()
	lines := strings.Split(d.frame(), "\n")
	return lines[len(lines)-1]
}

// A jump to a claim of another namespace than the one that is shown leads there, and says so.
func TestAJumpLeadsIntoTheNamespaceOfItsObject(t *testing.T) {
	d := drive(t, 80, 24, "")
	d.press("n", "ml", "enter", ":", "genome-align", "enter")
	d.shows("ns: dev", "now in namespace dev")
	if line(d.frame(), "genome-align") == "" {
		t.Errorf("the cursor is elsewhere:\n%s", d.frame())
	}
	d.press("n", "all", "enter", ":", "genome-align", "enter")
	d.shows("ns: all")
}

func TestNamespacesOfStorageCapacitiesCanBeChosen(t *testing.T) {
	d := drive(t, 80, 24, "storage")
	d.press("n", "storage", "enter")
	d.shows("ns: storage", "11 capacities")
}

// The name of a namespace in a file can be anything.
func TestNamespacesAreSanitisedInThePrompt(t *testing.T) {
	claim := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "a\x1b[7mb", Name: "c"}}
	d := on(t, "", &inspect.Objects{Claims: []*resourcev1.ResourceClaim{claim}})
	d.press("n")
	d.shows(`a\x1b[7mb`)
	d.press("x", "backspace")
	d.shows(`a\x1b[7mb`)
}

// A prompt is about the view that it was opened in.
func TestAClickOnATabClosesThePrompt(t *testing.T) {
	d := drive(t, 80, 24, "")
	d.press("/", "ml")
	d.send(tea.MouseClickMsg{X: 14, Y: 1, Button: tea.MouseLeft})
	d.shows("[2 Devices]", "127 devices")
	d.press("3")
	d.shows("[3 Nodes]")
	d.press("1")
	d.shows("filter ml")
}

// Who goes to and fro between two pages has two pages open.
func TestAPageThatIsOpenIsNotOpenedAgain(t *testing.T) {
	d := drive(t, 100, 24, "")
	d.press("e", "enter", "e", "enter")
	d.shows("── explain dev/transcode-8k › detail dev/transcode-8k ─")
	d.press("e")
	d.shows("── explain dev/transcode-8k ─")
	d.press("esc")
	if len(d.m.pages) > 0 {
		t.Errorf("%d pages are open", len(d.m.pages))
	}
}

// Every key that does nothing says why.
func TestKeysThatDoNothingSayWhy(t *testing.T) {
	d := drive(t, 80, 24, "devices")
	for key, want := range map[string]string{
		"x": "no such key: x", "esc": "there is nothing to go back to", "W": "nothing is supposed",
		"w": "fpga.example.com/fabric/fpga-0 has no taints", "f": "not for a Device, only for a ResourceClaim or ResourceClaimTemplate",
	} {
		d.press(key)
		if !strings.Contains(d.lastLine(), want) {
			t.Errorf("%s says %q", key, d.lastLine())
		}
	}
	d.press("1")
	if strings.Contains(d.lastLine(), "what-if") {
		t.Errorf("the status line promises what is not possible of a claim without devices: %q", d.lastLine())
	}
	d.press("w")
	d.shows("dev/transcode-8k holds no devices")
	d.press(":", "ml/pretrain-0", "enter", "w", "w")
	d.shows("no longer supposed")
}

// The status line tells the keys of what lies on top, and the help is as wide as the screen.
func TestKeysOfThePopup(t *testing.T) {
	d := drive(t, 200, 50, "")
	d.press("?")
	if got := strings.TrimSpace(d.lastLine()); got != "/ search  any other key closes" {
		t.Errorf("the status line is %q", got)
	}
	d.send(tea.WindowSizeMsg{Width: 60, Height: 15})
	d.shows("scroll", "sort by the last column, the other way round")
	if strings.Contains(d.frame(), "Everywhere") {
		t.Errorf("the help is laid out for another size:\n%s", d.frame())
	}
	d.send(tea.WindowSizeMsg{Width: 200, Height: 50})
	d.shows("Everywhere")
	d.press("esc")
	d.m.options.Writer = &scribe{}
	d.press("A")
	if got := d.lastLine(); !strings.Contains(got, "yes ⏎ write it") || !strings.Contains(got, "leave all as it is") {
		t.Errorf("the status line is %q", got)
	}
}

// Without Node objects there is one more node when slices of it are supposed.
func TestSupposingANodeThatIsAssumed(t *testing.T) {
	d := on(t, "nodes", &inspect.Objects{Slices: []*resourcev1.ResourceSlice{gpus("n1")}})
	d.shows("▸ n1", "1 node ")
	d.press("w")
	d.shows("WHAT IF  one more node like n1", "n1-what-if-a")
	d.press("y")
	d.shows("no Node object is known of n1")
	d.press("esc", "enter")
	d.shows("node that ResourceSlices name")
}

// The stand-in for any node is no node that one could look at.
func TestWithoutNodesThereAreNone(t *testing.T) {
	d := on(t, "nodes", &inspect.Objects{})
	d.shows("no nodes", "0 nodes")
	d.press(":", "any-node", "enter")
	d.shows("no such name")
}

// The supposition of a node that is there copies it, its labels and its devices.
func TestSupposingANode(t *testing.T) {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1", Labels: map[string]string{corev1.LabelHostname: "n1", "zone": "a"}}}
	d := on(t, "nodes", &inspect.Objects{Nodes: []*corev1.Node{node}, Slices: []*resourcev1.ResourceSlice{gpus("n1")}})
	d.press("w")
	added, ok := d.m.world.Snapshot.Node("n1-what-if-a")
	if !ok || added.Labels[corev1.LabelHostname] != added.Name || added.Labels["zone"] != "a" {
		t.Errorf("the added node is %v", added)
	}
	if n := len(d.m.world.Devices()); n != 4 {
		t.Errorf("there are %d devices", n)
	}
}
