package detail

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/reading"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// Kinds are the kinds of objects that have a page.
var Kinds = []screen.Kind{
	screen.Claim, screen.Device, screen.Node, screen.Pod, screen.Class, screen.Template, screen.Pool, screen.TaintRule, screen.Driver,
	screen.Namespace, screen.PriorityLevel, screen.StorageCapacity,
}

// New makes the page for an object.
func New(ref screen.Ref) screen.Screen {
	return reading.New(reading.Config[*sheet]{
		Ref:   ref,
		Ask:   func(ctx context.Context, w *screen.World) (*sheet, error) { return describe(ctx, w, ref) },
		Lines: func(s *sheet, o reading.Layout) []styled.Line { return s.lines(o.Width) },
	})
}

// About is what the page about an object says, laid out for a width, for a view that shows it beside its
// table. The first line names the object; all are safe to show. It fails if the object is gone, and when the
// context ends.
func About(ctx context.Context, w *screen.World, ref screen.Ref) (lines func(width int) []styled.Line, err error) {
	s, err := describe(ctx, w, ref)
	if err != nil {
		return nil, err
	}
	return s.lines, nil
}

// describe makes the page about an object, or about what is none in the API: a driver, a pool or a namespace.
func describe(ctx context.Context, w *screen.World, ref screen.Ref) (*sheet, error) {
	s := &sheet{}
	if err := addObject(ctx, s, w, ref); err != nil {
		return nil, err
	}
	addHistory(s, w, ref)
	return s, nil
}

func addObject(ctx context.Context, s *sheet, w *screen.World, ref screen.Ref) error {
	switch ref.Kind {
	case screen.Driver:
		return addDriver(s, w, ref.Name)
	case screen.Pool:
		return addPool(s, w, ref)
	case screen.Namespace:
		addNamespace(s, w, ref.Name)
		return nil
	}
	object, _, ok := screen.Find(w, ref)
	if !ok {
		if object, ok = screen.MadeUp(w.Snapshot, ref); !ok {
			return fmt.Errorf("%s %s is gone", ref.Kind, ref)
		}
		s.madeUp = true
	}
	switch o := object.(type) {
	case *resourcev1.ResourceClaim:
		addClaim(s, w, o)
	case *resourcev1.ResourceClaimTemplate:
		addTemplate(s, w, o)
	case *resourcev1.DeviceClass:
		addClass(ctx, s, w, o)
	case *resourcev1.DeviceTaintRule:
		addRule(s, w, o)
	case *resourcev1.ResourceSlice:
		d, _ := screen.FindDevice(w, ref)
		addDevice(ctx, s, w, &d)
	case *corev1.Node:
		addNode(ctx, s, w, o)
	case *corev1.Pod:
		addPod(s, w, o)
	case *flowcontrolv1.PriorityLevelConfiguration:
		addLevel(s, w, o)
	case *storagev1.CSIStorageCapacity:
		addCapacity(s, w, o)
	}
	return nil
}

// title is the first line: the name, what it is, and how old.
func (s *sheet) title(w *screen.World, o screen.Object, what string) {
	name := o.GetName()
	if o.GetNamespace() != "" {
		name = o.GetNamespace() + "/" + name
	}
	line := styled.Line{{Text: inspect.Sanitize(name), Role: styled.Name}, {Text: "  " + what, Role: styled.Strong}}
	if age := w.Age(o.GetCreationTimestamp().Time); age.Length() >= 0 {
		line = append(line, styled.Span{Text: "  " + age.String() + " old", Role: styled.Dim})
	}
	if s.madeUp {
		line = append(line, styled.Span{Text: "  made up: there is no object of it", Role: styled.Dim})
	}
	s.head(line)
}

// addHistory adds what has happened to the object since the program began to watch.
func addHistory(s *sheet, w *screen.World, ref screen.Ref) {
	events := w.History.Of(ref)
	if len(events) == 0 {
		return
	}
	s.section("Seen since the start")
	for _, e := range events {
		s.field(e.Time.Local().Format("15:04:05"), e.Text)
	}
}
