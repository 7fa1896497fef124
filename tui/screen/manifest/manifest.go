package manifest

import (
	"context"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/reading"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// Kinds are the kinds of objects that can be shown.
var Kinds = []screen.Kind{
	screen.Claim, screen.Template, screen.Class, screen.Pod, screen.Node, screen.Device, screen.Pool,
	screen.PriorityLevel, screen.StorageCapacity, screen.TaintRule,
	screen.ClusterQueue, screen.QueuedWorkload,
}

// New makes the page for an object.
func New(ref screen.Ref) screen.Screen { return page(ref, []screen.Ref{ref}) }

// NewSeveral makes the page for several objects, one after the other.
func NewSeveral(refs []screen.Ref) screen.Screen { return page(screen.Ref{}, refs) }

func page(about screen.Ref, refs []screen.Ref) screen.Screen {
	return reading.New(reading.Config[[]styled.Line]{
		Ref: about,
		Ask: func(_ context.Context, w *screen.World) ([]styled.Line, error) {
			var all []styled.Line
			for i, ref := range refs {
				if i > 0 {
					all = append(all, styled.Text(styled.Dim, "---"))
				}
				one, err := lines(w, ref)
				if err != nil {
					return nil, err
				}
				all = append(all, one...)
			}
			return all, nil
		},
		Lines: func(lines []styled.Line, _ reading.Layout) []styled.Line { return lines },
	})
}

// lines are the object as YAML. Of a device it is the slice that publishes it, beginning with the device.
func lines(w *screen.World, ref screen.Ref) ([]styled.Line, error) {
	object, kind, ok := screen.Find(w, ref)
	if _, madeUp := screen.MadeUp(w.Snapshot, ref); !ok && madeUp {
		return nil, fmt.Errorf("there is no object of %s: the API server makes it up", ref)
	}
	if !ok {
		return nil, fmt.Errorf("%s %s is gone", ref.Kind, ref)
	}
	if ref.Kind == screen.Node && w.Snapshot.NodesAssumed() {
		return nil, fmt.Errorf("no Node object is known of %s: ResourceSlices name it", ref)
	}
	if ref.Kind == screen.Device {
		d, _ := screen.FindDevice(w, ref)
		return device(d)
	}
	object = object.DeepCopyObject().(screen.Object)
	object.GetObjectKind().SetGroupVersionKind(kind)
	object.SetManagedFields(nil)
	return encode(object)
}

func device(d inspect.DeviceStatus) ([]styled.Line, error) {
	lines, err := encode(d.Device)
	if err != nil {
		return nil, err
	}
	head := fmt.Sprintf("# in ResourceSlice %s, with the taints of DeviceTaintRules", inspect.Sanitize(d.Slice.Name))
	return append([]styled.Line{styled.Text(styled.Dim, head)}, lines...), nil
}

func encode(value any) ([]styled.Line, error) {
	if object, ok := value.(metav1.Object); ok {
		kept, err := inspect.WithNewer(object)
		if err != nil {
			return nil, fmt.Errorf("writing YAML: %w", err)
		}
		value = kept
	}
	data, err := yaml.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("writing YAML: %w", err)
	}
	var lines []styled.Line
	for line := range strings.SplitSeq(strings.TrimRight(string(data), "\n"), "\n") {
		lines = append(lines, paint(inspect.Sanitize(line)))
	}
	return lines, nil
}

// paint tells keys from values.
func paint(line string) styled.Line {
	key, value, ok := strings.Cut(line, ":")
	if !ok || strings.ContainsAny(strings.TrimLeft(key, " -"), ` "'`) {
		return styled.Text(styled.Plain, line)
	}
	return styled.Line{{Text: key, Role: styled.Name}, {Text: ":", Role: styled.Dim}, {Text: value}}
}
