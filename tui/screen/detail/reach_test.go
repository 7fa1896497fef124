package detail

import (
	"slices"
	"strings"
	"testing"

	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/screen/screentest"
)

// pageText is the text of a page, and where its links lead.
func pageText(t *testing.T, w *screen.World, ref screen.Ref) (text string, links []screen.Ref) {
	t.Helper()
	s, err := describe(t.Context(), w, ref)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range s.lines(120) {
		text += strings.TrimRight(line.String(), " ") + "\n"
		for _, span := range line {
			if ref := screen.ParseLink(span.Link); ref.Kind != screen.None {
				links = append(links, ref)
			}
		}
	}
	return text, links
}

// TestClassesOfADevice: a device names the classes that select it, and those that fail at it.
func TestClassesOfADevice(t *testing.T) {
	o := *screentest.Demo(t).Snapshot.Objects()
	failing := &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: "zz-fails"}}
	failing.Spec.Selectors = []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{Expression: `device.attributes["gpu.example.com"].nosuchthing == 1`}}}
	o.Classes = append(slices.Clone(o.Classes), failing)
	w := screentest.World(t, o)
	for device, want := range map[string]string{
		"gpu.example.com/gpu-b-03/gpu-3": "gpu-80gb.example.com, gpu.example.com", "gpu.example.com/gpu-a-03/gpu-0": "gpu.example.com",
	} {
		text, links := pageText(t, w, screen.Ref{Kind: screen.Device, Name: device})
		if !strings.Contains(text, " "+want+"\n") || !strings.Contains(text, "with an error at it: zz-fails\n") {
			t.Errorf("%s: %q is not in\n%s", device, want, text)
		}
		for name := range strings.SplitSeq(want, ", ") {
			if !slices.Contains(links, screen.Ref{Kind: screen.Class, Name: name}) {
				t.Errorf("%s: no link leads to class %s", device, name)
			}
		}
	}
	o.Classes = []*resourcev1.DeviceClass{}
	if text, _ := pageText(t, screentest.World(t, o), screen.Ref{Kind: screen.Device, Name: "gpu.example.com/gpu-a-03/gpu-0"}); !strings.Contains(text, "no class selects it") {
		t.Error(text)
	}
}

// TestDevicesOfOtherNodesToo: a node tells of the devices that reach it and are not tied to it, with a link
// to their pool.
func TestDevicesOfOtherNodesToo(t *testing.T) {
	w := screentest.Demo(t)
	found := 0
	for _, n := range w.Nodes() {
		tied, reaching := 0, n.Devices.Total
		for _, d := range w.Devices() {
			if d.Node == n.Name {
				tied++
			}
		}
		text, links := pageText(t, w, screen.Ref{Kind: screen.Node, Name: string(n.Name)})
		if got := strings.Contains(text, "Devices that other nodes reach too"); got != (reaching > tied) {
			t.Errorf("%s: %d devices reach it, %d are tied to it:\n%s", n.Name, reaching, tied, text)
		}
		if reaching > tied {
			found++
			if pool := screen.PoolRef(inspect.PoolID{Driver: "fpga.example.com", Pool: "fabric"}); !slices.Contains(links, pool) {
				t.Errorf("%s: no link leads to %v in\n%s", n.Name, pool, text)
			}
		}
	}
	if found == 0 {
		t.Error("the demo has no such devices")
	}
}

// TestPodOfAPlugin: a pod without claims tells of the extended resources that it asks for, and of no claims.
func TestPodOfAPlugin(t *testing.T) {
	text, _ := pageText(t, screentest.Demo(t), screen.Ref{Kind: screen.Pod, Namespace: "dev", Name: "thumbnails"})
	if !strings.Contains(text, "Asks for extended resources\n  example.com/vpu  2  container ") || strings.Contains(text, "Claims") {
		t.Error(text)
	}
}
