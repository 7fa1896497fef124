package cel

import (
	"context"
	"fmt"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/allocator/selector"
	"github.com/kubectl-dra/kubectl-dra/allocator/selector/bench"
	"github.com/kubectl-dra/kubectl-dra/allocator/selector/editor"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// lab is what is known of the devices of a snapshot. It is not changed once it is made.
type lab struct {
	version   int
	features  selector.Features
	cache     *selector.Cache
	subjects  []bench.Subject
	bench     *bench.Bench
	completer *editor.Completer
	devices   []inspect.DeviceStatus
	partial   string // why answers may differ from those of the cluster, or ""
	// class is the class whose devices these are. It is empty if they are those of the whole snapshot;
	// otherwise all is the lab of that.
	class string
	all   *lab
}

// newLab reads the devices of a world. An older lab of the same devices is used again.
func newLab(ctx context.Context, w *screen.World, before *lab, class string) (*lab, error) {
	old := before
	if before != nil && before.class != "" {
		old = before.all
	}
	all := old
	if old == nil || old.version != w.Version {
		var devices []inspect.DeviceStatus
		for d := range w.Inventory().Newest() {
			devices = append(devices, *d)
		}
		all = labOf(w, devices, old)
	}
	if class == "" {
		return all, nil
	}
	devices, err := all.ofClass(ctx, w.Snapshot, class)
	if err != nil {
		return nil, err
	}
	if before == nil || before.class != class {
		before = all
	}
	l := labOf(w, devices, before)
	l.class, l.all = class, all
	if _, ok := w.Snapshot.Class(class); !ok {
		l.partial = "there is no class " + inspect.Sanitize(class)
	}
	return l, nil
}

// ofClass returns the devices that all selectors of a class match. There are none if the class does not
// exist.
func (l *lab) ofClass(ctx context.Context, s *inspect.Snapshot, name string) ([]inspect.DeviceStatus, error) {
	class, ok := s.Class(name)
	if !ok {
		return nil, nil
	}
	refuses := func(d inspect.DeviceStatus) bool {
		return slices.ContainsFunc(class.Spec.Selectors, func(by resourcev1.DeviceSelector) bool {
			if by.CEL == nil {
				return true
			}
			ok, err := l.cache.Selector(by.CEL.Expression).Match(ctx, d.ID.Driver, d.Device)
			return !ok || err != nil
		})
	}
	return slices.DeleteFunc(slices.Clone(l.devices), refuses), context.Cause(ctx)
}

// labOf makes a lab of some devices.
func labOf(w *screen.World, devices []inspect.DeviceStatus, old *lab) *lab {
	l := &lab{version: w.Version, features: allocator.SelectorFeatures(w.Snapshot), devices: devices}
	if h := w.Snapshot.Health(inspect.Slices); !h.Complete() {
		l.partial = inspect.Sanitize(h.Message)
	}
	if other := selector.OtherCEL(w.Snapshot.Features().Minor); other != "" && l.partial == "" {
		l.partial = fmt.Sprintf("selectors are compiled as Kubernetes 1.%d does; %s", inspect.NewestMinor, other)
	}
	l.subjects = make([]bench.Subject, len(l.devices))
	for i := range l.devices {
		l.subjects[i] = bench.Subject{Driver: l.devices[i].ID.Driver, Device: l.devices[i].Device}
	}
	if old != nil && old.features == l.features {
		l.cache = old.cache
		if slices.Equal(l.subjects, old.subjects) {
			l.bench, l.completer = old.bench, old.completer
			return l
		}
	} else {
		l.cache = selector.NewCache(l.features)
	}
	l.bench = bench.New(l.cache, l.subjects)
	l.completer = editor.NewCompleter(l.bench.Inventory(), l.features)
	return l
}
