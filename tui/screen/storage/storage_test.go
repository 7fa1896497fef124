package storage

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/screen/screentest"
)

func TestViews(t *testing.T) {
	w := screentest.Demo(t)
	for _, size := range [][2]int{{80, 20}, {200, 46}, {60, 11}} {
		s := New()
		screentest.Settle(w, s, screen.Shown{})
		screentest.Golden(t, fmt.Sprintf("demo-%dx%d", size[0], size[1]), w, s, size[0], size[1])
	}
	s := New()
	screentest.Settle(w, s, screen.Shown{})
	screentest.GoldenPlain(t, "demo-plain", w, s, 0)
}

// odd are capacities that say little, or something that cannot be.
func odd() inspect.Objects {
	capacity := func(name, class string, topology *metav1.LabelSelector, total string) *storagev1.CSIStorageCapacity {
		c := &storagev1.CSIStorageCapacity{ObjectMeta: metav1.ObjectMeta{Namespace: "csi", Name: name}, StorageClassName: class, NodeTopology: topology}
		if total != "" {
			c.Capacity = ptr.To(resource.MustParse(total))
		}
		return c
	}
	everywhere := &metav1.LabelSelector{}
	return inspect.Objects{
		Nodes: []*corev1.Node{{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}, {ObjectMeta: metav1.ObjectMeta{Name: "n2"}}},
		StorageClasses: []*storagev1.StorageClass{
			{ObjectMeta: metav1.ObjectMeta{Name: "early"}, Provisioner: "csi.example.com"},
			{ObjectMeta: metav1.ObjectMeta{Name: "silent"}, Provisioner: "silent.example.com", VolumeBindingMode: ptr.To(storagev1.VolumeBindingWaitForFirstConsumer)},
		},
		CSIDrivers: []*storagev1.CSIDriver{{ObjectMeta: metav1.ObjectMeta{Name: "silent.example.com"}}},
		StorageCapacities: []*storagev1.CSIStorageCapacity{
			capacity("a", "early", everywhere, "10Gi"),
			capacity("b", "gone\x1b[31m", everywhere, "10Gi"),
			capacity("c", "silent", nil, ""),
			capacity("d", "silent", &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Near"}}}, "1Gi"),
		},
	}
}

func TestOddCapacities(t *testing.T) {
	w := screentest.World(t, odd())
	s := New()
	screentest.Settle(w, s, screen.Shown{})
	screentest.GoldenPlain(t, "odd-plain", w, s, 0)
	if strings.Contains(s.Plain(w, 0), "\x1b") {
		t.Error("an escape sequence of the cluster reaches the terminal")
	}
	wants := []string{ // in the order of the rows
		"volumes are bound immediately",
		"there is no StorageClass of this name",
		"CSIDriver silent.example.com does not set storageCapacity",
		"none reaches it",
	}
	rows, err := build(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != len(wants) {
		t.Fatalf("%d rows, want %d", len(rows), len(wants))
	}
	for i := range rows {
		var text string
		for _, line := range rows[i].panel(80) {
			text += line.String() + "\n"
		}
		if !strings.Contains(text, wants[i]) {
			t.Errorf("the panel about %s does not say %q:\n%s", rows[i].name, wants[i], text)
		}
	}
}

func TestNodesAreListedOnSeveralLines(t *testing.T) {
	r := row{nodes: []string{"node-a", "node-b", "node-c"}}
	var got []string
	for _, line := range r.nodeLines(28) {
		got = append(got, line.String())
	}
	want := []string{"  nodes      node-a node-b", "             node-c"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestNothingThere(t *testing.T) {
	w := screentest.World(t, inspect.Objects{})
	s := New()
	screentest.Settle(w, s, screen.Shown{})
	if text := s.View(w, 80, 20); !strings.Contains(text, "no CSI driver publishes") {
		t.Errorf("it does not say why there is nothing: %q", text)
	}
}

func TestSumsOfBytes(t *testing.T) {
	for n, want := range map[float64]string{0: "0", 512: "512", 1 << 30: "1.00Gi", 29504 << 30: "28.8Ti", 640 << 40: "640Ti", 1000 << 40: "0.98Pi", 1 << 80: "1048576Ei"} {
		if got := bytesText(n); got != want {
			t.Errorf("%g bytes are printed as %s, want %s", n, got, want)
		}
	}
}
