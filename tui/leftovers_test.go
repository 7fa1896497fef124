package tui

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/demo"
)

// TestCrumbsKeepThePageThatIsShown: of many pages those on top are named.
func TestCrumbsKeepThePageThatIsShown(t *testing.T) {
	d := drive(t, 80, 24, "claims")
	for _, page := range []string{"class gpu-80gb.example.com", "rule firmware-gpu-a-04", "driver gpu.example.com", "pool mig.example.com/mig-01"} {
		d.press(":", page, "enter")
		if top := d.m.state().Selection; !strings.HasSuffix(page, top.Name) {
			d.press("enter") // it was only pointed at
		}
		name := page[strings.Index(page, " ")+1:]
		if rule := strings.Split(d.frame(), "\n")[2]; !strings.Contains(rule, "detail "+name+" ──") {
			t.Errorf("with %d pages it says %q", len(d.m.pages), rule)
		}
	}
	if rule := strings.Split(d.frame(), "\n")[2]; !strings.HasPrefix(rule, "── … › detail") {
		t.Errorf("that there are pages below is not said: %q", rule)
	}
}

// TestSelectorsThatAreNotThere: c does not leave for the lab with nothing to load.
func TestSelectorsThatAreNotThere(t *testing.T) {
	d := drive(t, 80, 24, "claims")
	d.press(":", "claim infer/rerank-0", "enter", "c")
	d.shows("c cel lab: infer/rerank-0 has no CEL selectors")
	if view := d.m.views[d.m.current].name; view != "claims" {
		t.Errorf("the view is %s", view)
	}
	d.press(":", "claim ml/llama-405b-eval", "enter", "c")
	if view := d.m.views[d.m.current].name; view != "cel" {
		t.Errorf("the view is %s", view)
	}
}

// TestDevicesOfTheLabCanBeFiltered plays what a user does who looks for a node in it.
func TestDevicesOfTheLabCanBeFiltered(t *testing.T) {
	d := drive(t, 100, 30, "cel")
	d.press("/")
	d.shows("words of device, pool, node, driver · !word")
	d.press("mig-02", "enter")
	d.shows("filter mig-02", "20 of 127 devices", "▸ ✓ mig-02/gpu-0")
	d.press("esc")
	if text := d.frame(); strings.Contains(text, "filter mig-02") || !strings.Contains(text, "fabric/fpga-0") {
		t.Errorf("Esc leaves the filter:\n%s", text)
	}
}

// TestNumbersInNames: nodes, and devices of a node, are in the order in which one counts them.
func TestNumbersInNames(t *testing.T) {
	var o inspect.Objects
	for _, name := range []string{"n10", "n1", "n2"} {
		o.Nodes = append(o.Nodes, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}})
		slice := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: resourcev1.ResourceSliceSpec{
			Driver: "gpu.example.com", NodeName: &name, Pool: resourcev1.ResourcePool{Name: name, ResourceSliceCount: 1},
		}}
		for i := range 12 {
			slice.Spec.Devices = append(slice.Spec.Devices, resourcev1.Device{Name: fmt.Sprintf("gpu-%d", i)})
		}
		o.Slices = append(o.Slices, slice)
	}
	s := inspect.New(o, inspect.Config{Revision: 1, Time: demo.Now(), Health: demo.Health()})
	d := start(t, Options{Source: Static(s), View: "nodes", Clock: demo.Now, Profile: colorprofile.NoTTY}, 120, 60)
	order := func(names ...string) {
		t.Helper()
		text, from := d.frame(), 0
		for _, name := range names {
			at := strings.Index(text[from:], name)
			if at < 0 {
				t.Fatalf("%s is not where it should be:\n%s", name, text)
			}
			from += at
		}
	}
	order("n1 ", "n2 ", "n10 ")
	var cells []string
	for range 12 {
		d.press("right")
		name := d.m.state().Selection.Name
		cells = append(cells, name[strings.LastIndex(name, "/")+1:])
	}
	if !slices.Equal(cells[:4], []string{"gpu-0", "gpu-1", "gpu-2", "gpu-3"}) || cells[11] != "gpu-11" {
		t.Errorf("cells are %q", cells)
	}
	d.press("2")
	order("gpu.example.com/n1 ", "gpu-2 ", "gpu-9 ", "gpu-10 ", "gpu.example.com/n2 ", "gpu-2 ", "gpu-10 ", "gpu.example.com/n10 ")
}

// TestNothingToSay: an empty list has no panel about nothing, and says what it means that it is empty.
func TestNothingToSay(t *testing.T) {
	s := inspect.New(inspect.Objects{}, inspect.Config{Revision: 1, Time: demo.Now(), Health: demo.Health()})
	d := start(t, Options{Source: Static(s), View: "claims", Clock: demo.Now, Profile: colorprofile.NoTTY}, 80, 24)
	d.shows("no claims: nothing in the cluster asks for devices")
	if n := strings.Count(d.frame(), "────────\n"); n != 2 {
		t.Errorf("%d rules:\n%s", n, d.frame())
	}
	d.press("2")
	d.shows("no driver has published devices: there are no ResourceSlices")
}

// TestRefusedEverywhere: a pod that the scheduler has refused is called so in the list, on its page, and on
// that of its claim.
func TestRefusedEverywhere(t *testing.T) {
	d := drive(t, 100, 30, "claims")
	d.press(":", "pod ml/train-0", "enter")
	if d.m.state().Selection.Kind != "Pod" || len(d.m.pages) == 0 {
		d.press("enter")
	}
	d.shows("ml/train-0  ✗ refused")
	d.press(":", "claim ml/train-0", "enter", "enter")
	d.shows("train-0  ✗ refused")
}

// TestAdminAccess: a claim with admin access does not hold its devices, and the view of usage says what it
// has instead.
func TestAdminAccess(t *testing.T) {
	d := drive(t, 200, 60, "usage")
	d.shows("held    gpu-health-4xk9d-gpus-m3v7c         8 devices with admin access, which keeps nobody from using them")
}
