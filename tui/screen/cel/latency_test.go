package cel

import (
	"fmt"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/screen/screentest"
)

// fleet is 5,000 nodes with 8 GPUs of four models, each with a serial number.
func fleet(nodes int) inspect.Objects {
	var o inspect.Objects
	str := func(s string) resourcev1.DeviceAttribute { return resourcev1.DeviceAttribute{StringValue: &s} }
	for n := range nodes {
		name := fmt.Sprintf("node-%04d", n)
		slice := &resourcev1.ResourceSlice{}
		slice.Name = name
		slice.Spec = resourcev1.ResourceSliceSpec{Driver: "gpu.example.com", NodeName: &name, Pool: resourcev1.ResourcePool{Name: name, Generation: 1, ResourceSliceCount: 1}}
		for i := range 8 {
			index, model := int64(i), n/8%4
			version := []string{"550.54.15", "580.65.6"}[n/64%2]
			slice.Spec.Devices = append(slice.Spec.Devices, resourcev1.Device{
				Name: fmt.Sprintf("gpu-%d", i),
				Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{
					"type": str("gpu"), "productName": str([]string{"A100", "H100", "H200", "B200"}[model]), "uuid": str(fmt.Sprintf("GPU-%04d-%d", n, i)),
					"index": {IntValue: &index}, "driverVersion": {VersionValue: &version}, "brand": str("Example"), "architecture": str("Hopper"),
					"resource.kubernetes.io/pcieRoot": str(fmt.Sprintf("pci%04d:00", i%4)),
				},
				Capacity: map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{"memory": {Value: resource.MustParse([]string{"40Gi", "80Gi", "141Gi", "192Gi"}[model])}},
			})
		}
		o.Slices = append(o.Slices, slice)
	}
	return o
}

const four = `device.driver == "gpu.example.com" && device.attributes["gpu.example.com"].productName == "H100" && ` +
	`device.capacity["gpu.example.com"].memory.compareTo(quantity("80Gi")) >= 0 && device.attributes["gpu.example.com"].driverVersion.isGreaterThan(semver("560.0.0"))`

// BenchmarkKey types a letter into a selector of four terms on 40,000 devices, and measures how long the
// key itself takes, completion included, until all is known, and
// how long a frame takes.
//
//   - shared: devices that look alike are tried once.
//   - serials: the selector reads a value that each device has for itself.
func BenchmarkKey(b *testing.B) {
	w := screentest.World(b, fleet(5000))
	for name, text := range map[string]string{
		"shared": four, "serials": four + ` && device.attributes["gpu.example.com"].uuid.startsWith("GPU-")`,
	} {
		b.Run(name, func(b *testing.B) {
			s := New()
			screentest.Settle(w, s, screen.Shown{}, screen.Type{})
			s.ed.Set(text)
			var key, all, frame time.Duration
			n := 0
			for b.Loop() {
				n++
				s.Update(w, tea.PasteMsg{Content: fmt.Sprintf(" && %d == %d", n, n)}) // another selector each time
				start := time.Now()
				cmd := s.Update(w, tea.KeyPressMsg{Code: ' ', Text: " "})
				key += time.Since(start)
				s.Update(w, cmd())
				all += time.Since(start)
				if s.tried.answer.trial.Matched == 0 {
					b.Fatalf("%d of %d match", s.tried.answer.trial.Matched, s.tried.answer.trial.Total())
				}
				start = time.Now()
				s.View(w, 200, 50)
				frame += time.Since(start)
				s.ed.Undo()
				s.ed.Set(text)
			}
			report := func(d time.Duration, what string) {
				b.ReportMetric(float64(d.Microseconds())/1000/float64(b.N), what)
			}
			report(key, "ms-key")
			report(all, "ms-all")
			report(frame, "ms-frame")
		})
	}
}
