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
	screen.Namespace, screen.PriorityLevel, screen.FlowSchema, screen.StorageCapacity,
}

// New makes the page for an object.
func New(ref screen.Ref) screen.Screen {
	return reading.New(reading.Config[*sheet]{
		Ref:   ref,
		Ask:   func(ctx context.Context, w *screen.World) (*sheet, error) { return describe(ctx, w, ref) },
		Lines: func(s *sheet, o reading.Layout) []styled.Line { return s.lines(o.Width) },
	})
}

// Sheet is what the page about an object says. It is not written after it was made.
type Sheet struct{ sheet *sheet }

// About is what the page about an object says, for a view that shows it beside its table. It fails if the object is gone, and when the
// context ends.
func About(ctx context.Context, w *screen.World, ref screen.Ref) (*Sheet, error) {
	s, err := describe(ctx, w, ref)
	return &Sheet{s}, err
}

// Lines lays it out. The first line names the object. It is safe to show.
func (s *Sheet) Lines(width int) []styled.Line { return s.sheet.lines(width) }

// describe makes the page about an object, or about what is none in the API: a driver, a pool or a namespace.
func describe(ctx context.Context, w *screen.World, ref screen.Ref) (*sheet, error) {
	s := &sheet{}
	if err := s.describe(ctx, w, ref); err != nil {
		return nil, err
	}
	s.history(w, ref)
	return s, nil
}

func (s *sheet) describe(ctx context.Context, w *screen.World, ref screen.Ref) error {
	switch ref.Kind {
	case screen.Driver:
		return s.driver(w, ref.Name)
	case screen.Pool:
		return s.pool(w, ref)
	case screen.Namespace:
		s.namespace(w, ref.Name)
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
		s.claim(w, o)
	case *resourcev1.ResourceClaimTemplate:
		s.templatePage(w, o)
	case *resourcev1.DeviceClass:
		s.class(ctx, w, o)
	case *resourcev1.DeviceTaintRule:
		s.rule(w, o)
	case *resourcev1.ResourceSlice:
		d, _ := screen.FindDevice(w, ref)
		s.device(ctx, w, &d)
	case *corev1.Node:
		s.node(ctx, w, o)
	case *corev1.Pod:
		s.pod(w, o)
	case *flowcontrolv1.PriorityLevelConfiguration:
		s.level(w, o)
	case *flowcontrolv1.FlowSchema:
		s.flowSchema(w, o)
	case *storagev1.CSIStorageCapacity:
		s.capacity(w, o)
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

// history lists what has happened to the object since the program began to watch.
func (s *sheet) history(w *screen.World, ref screen.Ref) {
	events := w.History.Of(ref)
	if len(events) == 0 {
		return
	}
	s.section("Seen since the start")
	for _, e := range events {
		s.field(e.Time.Local().Format("15:04:05"), e.Text)
	}
}
