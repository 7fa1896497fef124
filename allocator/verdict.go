package allocator

import (
	"errors"
	"fmt"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-dra/kubectl-dra/allocator/selector"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// verdict remembers what is known of an alternative and a candidate, whatever else is chosen.
type verdict struct {
	selectable tri
	// refused says why selectable is no, and selector which selector it was.
	refused  Code
	selector int16
	// consumption is computed when first needed.
	consumption *consumption
	// share numbers the consumption, for the keys of states. It is 0 as long as it is not numbered.
	share int
}

// tri is a remembered boolean.
type tri int8

const (
	unknown tri = iota
	yes
	no
)

// selectable reports whether the device fits the request as such: class selectors, request selectors,
// node. The order matters, because a failing expression aborts the pod.
func (w *walk) selectable(a *alternative, candidate int) (bool, error) {
	v := &a.verdict[candidate]
	if v.selectable == unknown {
		if err := w.decideSelectable(a, candidate, v); err != nil {
			return false, err
		}
	}
	if v.selectable == no {
		w.reject(a, candidate, v.refused, func(r *Rejection) {
			r.Selector = int(v.selector)
			if v.refused == FeatureDisabled {
				r.Feature = inspect.GateDeviceBindingConditions
			}
		})
		return false, nil
	}
	return true, nil
}

func (w *walk) decideSelectable(a *alternative, candidate int, v *verdict) error {
	c := &w.view.candidates[candidate]
	if len(c.device.BindingConditions) > 0 && !w.view.cluster.features.DeviceBindingAndStatus {
		v.selectable, v.refused = no, FeatureDisabled
		return nil
	}
	failed, err := w.firstFalse(a, a.classSelectors, a.class.Name, candidate)
	if err != nil {
		return err
	}
	if failed >= 0 {
		v.selectable, v.refused, v.selector = no, ClassSelectorRejected, int16(failed)
		return nil
	}
	failed, err = w.firstFalse(a, a.selectors, "", candidate)
	if err != nil {
		return err
	}
	if failed >= 0 {
		v.selectable, v.refused, v.selector = no, SelectorRejected, int16(failed)
		return nil
	}
	match, err := c.slice.DeviceReaches(w.view.node, c.index)
	if err != nil {
		abort := a.abort(Malformed, "%w", err)
		abort.Device = c.id
		return abort
	}
	if !match {
		v.selectable, v.refused = no, NodeUnsuitable
		return nil
	}
	v.selectable = yes
	return nil
}

// firstFalse returns the number of the first selector that is false for the device, or -1.
func (w *walk) firstFalse(a *alternative, programs []*selector.Program, class string, candidate int) (int, error) {
	c := &w.view.candidates[candidate]
	for i, program := range programs {
		err := error(nil)
		ok := false
		if program == nil {
			err = errors.New("has no CEL expression (a type of selector that is not supported)")
		} else if name := unreadable(c.device); w.view.cluster.rules.listsUnreadable && name != "" {
			err = fmt.Errorf("CEL runtime error: attribute %s: unsupported attribute value", name)
		} else {
			ok, err = program.Match(w.ctx, c.id.Driver, c.device)
		}
		if err != nil {
			w.reject(a, candidate, SelectorError, func(r *Rejection) { r.Selector, r.FromClass, r.Err = i, class != "", err })
			abort := a.abort(SelectorError, "%w", err)
			abort.Device, abort.Class, abort.Selector = c.id, class, i
			return -1, w.interrupted(abort)
		}
		if !ok {
			return i, nil
		}
	}
	return -1, nil
}

// consumptionOf returns what the request would take of the capacities of the device.
func (w *walk) consumptionOf(a *alternative, candidate int) *consumption {
	v, c := &a.verdict[candidate], &w.view.candidates[candidate]
	switch {
	case v.consumption != nil:
	case !c.shareable && (c.usage == nil || len(c.usage.consumed) == 0) && takesWhole(a.capacity, c.capacity):
		v.consumption = wholeDevice
	default:
		v.consumption = w.view.cluster.consume(a.capacity, c)
	}
	return v.consumption
}

// arithmetic is how the scheduler computes amounts.
func (c *Cluster) arithmetic() arithmetic {
	return arithmetic{
		thousandths: c.features.FractionalCapacityRange, lenient: c.rules.lenientCapacity,
		negative: c.rules.negativeRequests, defaults: c.rules.defaultsAllowed,
	}
}

// fitsEmpty checks the capacity as if nothing were taken of the device.
func (w *walk) fitsEmpty(a *alternative, candidate int) (bool, error) {
	return w.fitsCapacity(a, candidate, nil, nil)
}

// fitsLeft checks the capacity against what is left of the device at this point of the search.
func (w *walk) fitsLeft(a *alternative, candidate int) (bool, error) {
	var persisted map[resourcev1.QualifiedName]resource.Quantity
	if u := w.view.candidates[candidate].usage; u != nil {
		persisted = u.consumed
	}
	return w.fitsCapacity(a, candidate, persisted, w.state[candidate].consumed)
}

func (w *walk) fitsCapacity(a *alternative, candidate int, persisted, picked map[resourcev1.QualifiedName]resource.Quantity) (bool, error) {
	c := &w.view.candidates[candidate]
	use := w.consumptionOf(a, candidate)
	if use.err != nil {
		abort := a.abort(CapacityPolicyViolated, "checking capacity: %w", use.err)
		abort.Device = c.id
		return false, abort
	}
	code, name := use.refused, use.name
	if code == "" {
		name = use.exceeds(c.capacity, persisted, picked)
		if name == "" {
			return true, nil
		}
		code = CapacityInsufficient
	}
	w.reject(a, candidate, code, func(r *Rejection) {
		asked := w.view.cluster.askedName(a.capacity, c, name)
		r.Capacity = asked
		if needed, ok := use.amounts[name]; ok {
			r.Needed = &needed
			left := c.capacity[name].Value.DeepCopy()
			left.Sub(persisted[name])
			left.Sub(picked[name])
			r.Available = &left
		} else if a.capacity != nil {
			needed := a.capacity.Requests[asked]
			r.Needed = &needed
		}
	})
	return false, nil
}
