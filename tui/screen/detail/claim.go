package detail

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

func addClaim(s *sheet, w *screen.World, c *resourcev1.ResourceClaim) {
	s.title(w, c, strings.ToLower(string(inspect.StateOf(c))))
	s.belongs(c)
	addTemplateOf(s, w, c)
	addSpec(s, w, &c.Spec)
	if c.Status.Allocation != nil {
		addAllocation(s, w, c)
	}
	addPods(s, w, inspect.RefOf(c))
	for _, r := range c.Status.ReservedFor {
		if r.Resource != "pods" {
			s.field("reserved for", r.Resource+" "+r.Name)
		}
	}
}

// addSpec adds what is asked for.
func addSpec(s *sheet, w *screen.World, spec *resourcev1.ResourceClaimSpec) {
	s.section("Asks for")
	for i := range spec.Devices.Requests {
		r := &spec.Devices.Requests[i]
		if e := r.Exactly; e != nil {
			addRequest(s, w, r.Name, &resourcev1.DeviceSubRequest{
				DeviceClassName: e.DeviceClassName, AllocationMode: e.AllocationMode, Count: e.Count,
				Selectors: e.Selectors, Tolerations: e.Tolerations, Capacity: e.Capacity,
				DerivedAttributes: e.DerivedAttributes,
			})
			if ptr.Deref(e.AdminAccess, false) {
				s.field("", "with admin access")
			}
		}
		for j := range r.FirstAvailable {
			addRequest(s, w, r.Name+"/"+r.FirstAvailable[j].Name, &r.FirstAvailable[j])
		}
	}
	for _, c := range spec.Devices.Constraints {
		switch {
		case c.MatchAttribute != nil:
			s.field("constraint", "all with the same "+string(*c.MatchAttribute)+of(c.Requests))
		case c.DistinctAttribute != nil:
			s.field("constraint", "each with another "+string(*c.DistinctAttribute)+of(c.Requests))
		}
	}
}

func of(requests []string) string {
	if len(requests) == 0 {
		return ""
	}
	return " (" + strings.Join(requests, ", ") + ")"
}

func addRequest(s *sheet, w *screen.World, name string, r *resourcev1.DeviceSubRequest) {
	count := fmt.Sprintf("%d × ", r.Count)
	if r.AllocationMode == resourcev1.DeviceAllocationModeAll {
		count = "all of "
	}
	if _, ok := w.Snapshot.Class(r.DeviceClassName); ok {
		s.spans(name, styled.Span{Text: count}, plainLink(screen.Class, r.DeviceClassName))
	} else {
		s.spans(name, styled.Span{Text: count + r.DeviceClassName}, styled.Span{Text: "  there is no such device class" + readable(w, inspect.Classes), Role: styled.Bad})
	}
	for _, expression := range screen.Expressions(r.Selectors) {
		s.field("", "where "+words.OneLine(expression))
	}
	if r.Capacity != nil {
		for _, name := range sortedKeys(r.Capacity.Requests) {
			q := r.Capacity.Requests[name]
			s.field("", fmt.Sprintf("with %s of %s", q.String(), name))
		}
	}
	for i := range r.DerivedAttributes { // so that a constraint can be about it
		d := &r.DerivedAttributes[i]
		s.field("", fmt.Sprintf("derives %s from %s", d.Name, words.OneLine(d.Expression)))
	}
	for _, t := range r.Tolerations {
		s.field("", "tolerates "+strings.TrimSpace(fmt.Sprintf("%s %s %s", t.Key, t.Value, t.Effect)))
	}
}

// readable says that something may only not have been read, or "".
func readable(w *screen.World, r inspect.Resource) string {
	if w.Snapshot.Health(r).Complete() {
		return ""
	}
	return " among those that could be read"
}

// addAllocation adds the devices that a claim has, with what their drivers say of them.
func addAllocation(s *sheet, w *screen.World, c *resourcev1.ResourceClaim) {
	s.section("Has")
	s.linkField("node", nodeLink(string(inspect.AllocationNode(c.Status.Allocation))))
	for i := range c.Status.Allocation.Devices.Results {
		r := &c.Status.Allocation.Devices.Results[i]
		id := inspect.DeviceOf(r)
		spans := []styled.Span{deviceLink(id)}
		if r.AdminAccess != nil && *r.AdminAccess {
			spans = append(spans, dim("  admin access"))
		}
		for _, name := range sortedKeys(r.ConsumedCapacity) {
			q := r.ConsumedCapacity[name]
			spans = append(spans, dim(fmt.Sprintf("  %s %s", name, q.String())))
		}
		spans = append(spans, deviceRemark(w, id)...)
		s.spans(r.Request, spans...)
		addDriverStatus(s, c, r)
	}
}

// deviceRemark says what is wrong with a device that is held.
func deviceRemark(w *screen.World, id inspect.DeviceID) []styled.Span {
	d, ok := screen.FindDevice(w, screen.DeviceRef(id))
	if !ok {
		return []styled.Span{{Text: "  is no longer published", Role: styled.Bad}}
	}
	var spans []styled.Span
	for i := range d.Device.Taints {
		spans = append(append(spans, dim("  ")), screen.TaintLine(w, id, &d.Device.Taints[i])...)
	}
	return spans
}

// addDriverStatus adds what the driver reports, in the claim's status, about a device or the share of it that
// was allocated.
func addDriverStatus(s *sheet, c *resourcev1.ResourceClaim, r *resourcev1.DeviceRequestAllocationResult) {
	share := ""
	if r.ShareID != nil {
		share = string(*r.ShareID)
	}
	for i := range c.Status.Devices {
		d := &c.Status.Devices[i]
		if d.Driver != r.Driver || d.Pool != r.Pool || d.Device != r.Device || ptr.Deref(d.ShareID, "") != share {
			continue
		}
		for _, condition := range d.Conditions {
			role := styled.Good
			if condition.Status != "True" {
				role = styled.Warn
			}
			s.spans("", styled.Span{Text: condition.Type + "=" + string(condition.Status), Role: role}, dim("  "+condition.Message))
		}
		if n := d.NetworkData; n != nil {
			s.field("", strings.TrimSpace(fmt.Sprintf("interface %s %s %s", n.InterfaceName, n.HardwareAddress, strings.Join(n.IPs, " "))))
		}
	}
}

// addPods adds the pods that use a claim.
func addPods(s *sheet, w *screen.World, ref inspect.ClaimRef) {
	addList(s, "Used by", "pods", w.Snapshot.PodsOf(ref), func(p inspect.PodRef) {
		pod, ok := w.Snapshot.Pod(p)
		if !ok {
			s.spans("pod", podLink(p), dim("  could not be read"))
			return
		}
		s.spans("pod", append([]styled.Span{podLink(p), phase(pod)}, onNode(pod)...)...)
		for _, c := range pod.Status.Conditions {
			if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
				s.field("", words.OneLine(c.Message))
			}
		}
	})
}

func onNode(pod *corev1.Pod) []styled.Span {
	if pod.Spec.NodeName == "" {
		return nil
	}
	return []styled.Span{dim(" on "), nodeLink(pod.Spec.NodeName)}
}

// addTemplateOf leads to the template that a claim was made from, which its pod names.
func addTemplateOf(s *sheet, w *screen.World, c *resourcev1.ResourceClaim) {
	for _, ref := range w.Snapshot.PodsOf(inspect.RefOf(c)) {
		pod, ok := w.Snapshot.Pod(ref)
		if !ok {
			continue
		}
		for i := range pod.Spec.ResourceClaims {
			entry := &pod.Spec.ResourceClaims[i]
			if name, _ := inspect.ClaimNameFor(pod, entry); name == c.Name && entry.ResourceClaimTemplateName != nil {
				s.spans("made from", screen.LinkTo(screen.Ref{Kind: screen.Template, Namespace: c.Namespace, Name: *entry.ResourceClaimTemplateName}, *entry.ResourceClaimTemplateName), dim("  template"))
				return
			}
		}
	}
}
