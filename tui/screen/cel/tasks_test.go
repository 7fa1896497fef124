package cel

import (
	"os"
	"strings"
	"testing"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/demo"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/screen/screentest"
)

// tasks are those of docs/selectors.md: what people come to the lab for, on the demo cluster.
var tasks = []struct {
	name string
	do   func(d *driver)
	// shows are what has to be on the screen for the task to be done.
	shows []string
}{
	{"find-a-model", func(d *driver) {
		d.press("i", `device.driver == "gpu`, "tab", ` && device.attributes["gpu`, "tab", ".mo", "tab", ` == "H1`, "tab")
		d.press(` && device.capacity["gpu`, "tab", ".mem", "tab", ".comp", "tab", `80Gi")) >= 0`, "esc")
	}, []string{"32 of 127 match", "gpu-b-01/gpu-0", `model = "H100-SXM5-80GB"`, "memory = 80Gi"}},
	{"wrong-domain", func(d *driver) {
		d.press("i", `device.attributes["gpu.exmple.com"].numa == 0`)
	}, []string{"fails on 127", `device has device.attributes["gpu.exmple.com"].numa`}},
	{"missing-attribute", func(d *driver) {
		d.press("i", `device.driver == "gpu.example.com" && device.attributes["gpu.example.com"].nvlinkGeneration >= 3`, "esc")
		d.send(screen.Filter{Text: "gpu-a-01 gpu-"})
	}, []string{"fails on 24", `nvlinkGeneration = (the device has none)`}},
	{"version", func(d *driver) {
		d.press("i", `device.driver == "gpu.example.com" && device.attributes["gpu.example.com"].driverVersion >= "575.0.0"`)
	}, []string{"no such overload", `driverVersion = semver("`}},
	{"quantity", func(d *driver) {
		d.press("i", `device.driver == "gpu.example.com" && device.capacity["gpu.example.com"].memory >= 40`)
	}, []string{"does not compile", "found no matching overload for '_>=_'"}},
	{"capacity-as-attribute", func(d *driver) {
		d.press("i", `device.attributes["gpu.example.com"].memory.isGreaterThan(quantity("40Gi"))`)
	}, []string{"no such key: memory"}},
	{"list", func(d *driver) {
		d.withLists()
		d.press("i", `device.driver == "nic.example.com" && device.attributes["nic.example.com"].speeds == 100`)
	}, []string{"The nearest is", "speeds = [25, 100]"}},
	{"from-a-claim", func(d *driver) {
		d.send(screen.Selected{Ref: screen.Ref{Kind: screen.Claim, Namespace: "dev", Name: "genome-align"}})
	}, []string{"1 of 5 match", "behind class fpga.example.com", "fabric/fpga-0"}},
	{"near-miss", func(d *driver) {
		d.send(screen.Selected{Ref: screen.Ref{Kind: screen.Claim, Namespace: "dev", Name: "genome-align"}})
		d.press("i", ` && device.capacity["fpga.example.com"].logicCells.isGreaterThan(quantity("2M"))`)
	}, []string{"0 of 5 match", "The nearest is"}},
	{"what-is-there", func(d *driver) {
		d.send(screen.Filter{Text: "mig-01 1g"})
	}, []string{"mig-01/gpu-0-1g-10gb-0", `profile = "1g.10gb"`}},
}

// withLists gives the NICs a list of speeds.
func (d *driver) withLists() {
	objects, err := demo.Objects()
	if err != nil {
		d.Fatal(err)
	}
	for i, slice := range objects.Slices {
		if slice.Spec.Driver != "nic.example.com" {
			continue
		}
		objects.Slices[i] = slice.DeepCopy()
		for j := range objects.Slices[i].Spec.Devices {
			objects.Slices[i].Spec.Devices[j].Attributes["speeds"] = resourcev1.DeviceAttribute{IntValues: []int64{25, 100}}
		}
	}
	features := inspect.DefaultFeatures(inspect.NewestMinor).With(map[inspect.Gate]bool{inspect.GateListTypeAttributes: true})
	s := inspect.New(objects, inspect.Config{Revision: 2, Time: demo.Now(), Features: features, Health: demo.Health()})
	old := d.w
	d.w = screen.NewWorld(old.Context(), old.Version+1, s)
	d.w.Theme, d.w.Now = old.Theme, old.Now
	d.send(screen.Changed{})
}

// TestTasks does the tasks, and holds the screens in docs/selectors.md against those that are drawn.
func TestTasks(t *testing.T) {
	docs, err := os.ReadFile("../../../docs/selectors.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range tasks {
		t.Run(task.name, func(t *testing.T) {
			d := drive(t, 80, 24)
			task.do(d)
			d.shows(task.shows...)
			screentest.Golden(t, "task-"+task.name, d.w, d.s, d.width, d.height)
			if screen := inDocs(d.frame()); !strings.Contains(string(docs), screen) {
				t.Errorf("docs/selectors.md does not show this screen:\n%s", screen)
			}
		})
	}
}

// inDocs is a frame as documents show it: without blanks at the ends of lines, and without the lower part.
func inDocs(frame string) string {
	const shown = 13
	lines := strings.Split(frame, "\n")
	lines = lines[:min(shown, len(lines))]
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}
