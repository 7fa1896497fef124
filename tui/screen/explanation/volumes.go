package explanation

import (
	"context"
	"fmt"

	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/text"
	"github.com/kubectl-dra/kubectl-dra/explain/volume"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/reading"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// maxVolumeClaims is the number of claims that are explained on one page.
const maxVolumeClaims = 8

// waitingVolumes are the volume claims that wait for a volume of a class.
type waitingVolumes struct {
	class    string
	total    int
	explains []*explain.Explanation // of the first ones by namespace and name
}

// newVolumes makes the page for a storage capacity: where the volumes can be that are wanted of its class.
func newVolumes(ref screen.Ref) screen.Screen {
	return reading.New(reading.Config[waitingVolumes]{
		Ref: ref, More: "every node",
		Ask:   func(ctx context.Context, w *screen.World) (waitingVolumes, error) { return askVolumes(ctx, w, ref) },
		Lines: volumeLines,
	})
}

func askVolumes(ctx context.Context, w *screen.World, ref screen.Ref) (waitingVolumes, error) {
	var out waitingVolumes
	for _, capacity := range w.Snapshot.StorageCapacities() {
		if capacity.Namespace == ref.Namespace && capacity.Name == ref.Name {
			out.class = capacity.StorageClassName
		}
	}
	if out.class == "" {
		return out, fmt.Errorf("csistoragecapacity %s: %w", ref, question.ErrNotFound)
	}
	for _, claim := range w.Snapshot.Objects().VolumeClaims {
		if claim.Spec.VolumeName != "" || ptr.Deref(claim.Spec.StorageClassName, "") != out.class {
			continue // it does not wait for one
		}
		if out.total++; out.total > maxVolumeClaims {
			continue
		}
		e, err := volume.Explain(ctx, w.Cluster(), claim.Namespace, claim.Name, w.Question())
		if err != nil {
			return out, err
		}
		out.explains = append(out.explains, e)
	}
	return out, nil
}

// waitsFor reports whether a claim wants a volume of a class and has none.
func volumeLines(v waitingVolumes, o reading.Layout) []styled.Line {
	class := inspect.Sanitize(v.class)
	if v.total == 0 {
		return []styled.Line{styled.Text(styled.Dim, "no volume claim waits for a volume of class "+class)}
	}
	var lines []styled.Line
	for i, e := range v.explains {
		if i > 0 {
			lines = append(lines, styled.Line{})
		}
		lines = append(lines, text.Lines(e, o.Options())...)
	}
	if more := v.total - len(v.explains); more > 0 {
		lines = append(lines, styled.Line{}, styled.Text(styled.Dim, fmt.Sprintf("and %d more volume claims of class %s", more, class)))
	}
	return lines
}
