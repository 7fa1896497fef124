package archive

import (
	"fmt"
	"io"
	"runtime"
	"runtime/metrics"
	"testing"

	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// live is what the garbage collector found in use last, in bytes.
func live() uint64 {
	runtime.GC()
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// TestWriteTakesLittle: neither copies of all objects nor all their bytes are in memory at once. A copy alone
// is as large as the snapshot. What is made while the collector is at work counts as in use, more of it on a
// busy machine.
func TestWriteTakesLittle(t *testing.T) {
	const slices, devices = 6000, 64
	before := live()
	var objects inspect.Objects
	for i := range slices {
		slice := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("slice-%05d", i)}}
		slice.Spec.Driver, slice.Spec.Pool.Name, slice.Spec.Pool.ResourceSliceCount = "gpu.example.com", slice.Name, 1
		for j := range devices {
			slice.Spec.Devices = append(slice.Spec.Devices, resourcev1.Device{Name: fmt.Sprintf("gpu-%05d-%d", i, j)})
		}
		objects.Slices = append(objects.Slices, slice)
	}
	s := inspect.New(objects, inspect.Config{Revision: 1})
	snapshot := live() - before
	for name, opts := range map[string]Options{"packed": {Packed: true}, "JSON": {}, "plain JSON": {Plain: true}} {
		var most uint64
		done := make(chan error)
		go func() {
			_, err := Write(io.Discard, s, opts)
			done <- err
		}()
		for running := true; running; {
			select {
			case err := <-done:
				if err != nil {
					t.Fatal(err)
				}
				running = false
			default:
				most = max(most, live())
			}
		}
		if more := int64(most) - int64(before+snapshot); more > int64(snapshot)*4/5 { //nolint:gosec // no machine has 2^63 bytes
			t.Errorf("%s: a snapshot of %d MiB takes %d MiB more while it is saved", name, snapshot>>20, more>>20)
		} else {
			t.Logf("%s: %d MiB beside a snapshot of %d MiB", name, more>>20, snapshot>>20)
		}
	}
	runtime.KeepAlive(s)
}
