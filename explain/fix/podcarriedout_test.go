package fix_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/explain"
)

// carriedOut makes the change of a fix. If it adds a node, that is returned, too.
func (p podProblem) carriedOut(t *testing.T, f *explain.Fix) (after podProblem, added string) {
	t.Helper()
	out := p.clone()
	for _, change := range f.Changes {
		switch change.Kind {
		case "Pod":
			patchIn(t, out.Pods, change)
			admit(t, out.pod())
		case "ResourceClaim":
			patchIn(t, out.Claims, change)
		case "ResourceClaimTemplate":
			patchIn(t, out.Templates, change)
		case "PersistentVolumeClaim":
			patchIn(t, out.VolumeClaims, change)
		default:
			t.Fatalf("unexpected change %+v", change)
		}
	}
	for _, h := range f.Claims {
		out.release(h.Claim.Name)
	}
	var ending []string
	for _, ref := range f.Pods {
		ending = append(ending, ref.Name)
	}
	out.end(ending...)
	for _, key := range strings.Split(f.Key, "\n") {
		var node, taint string
		switch words := strings.Fields(key); words[0] {
		case "uncordon":
			out.node(words[1]).Spec.Unschedulable = false
		case "untaint":
			node, taint = words[1], words[2]
			out.untaint(node, taint)
		case "add":
			if words[1] == "devices" {
				out.addDevices(t, words[2:])
			} else {
				added = out.addCopy(string(f.Like))
			}
		}
	}
	return out, added
}

// patchIn changes one of some objects as a fix says.
func patchIn[T any, P interface {
	*T
	metav1.Object
}](t *testing.T, list []P, change explain.ObjectChange) {
	t.Helper()
	at := slices.IndexFunc(list, func(o P) bool { return o.GetName() == change.Name && o.GetNamespace() == change.Namespace })
	if at < 0 {
		t.Fatalf("%+v is about nothing that there is", change)
	}
	list[at] = patched(t, (*T)(list[at]), change.Patch)
}

// admit does with a pod what the API server does: fill in, and refuse.
func admit(t *testing.T, pod *corev1.Pod) {
	t.Helper()
	for _, c := range allContainers(pod) {
		for i := range c.Ports {
			if port := &c.Ports[i]; pod.Spec.HostNetwork {
				port.HostPort = port.ContainerPort
			}
		}
		for name, limit := range c.Resources.Limits {
			request, ok := c.Resources.Requests[name]
			switch {
			case !ok:
				if c.Resources.Requests == nil {
					c.Resources.Requests = corev1.ResourceList{}
				}
				c.Resources.Requests[name] = limit
			case request.Cmp(limit) > 0:
				t.Errorf("container %s: request %s of %s is more than the limit %s", c.Name, request.String(), name, limit.String())
			case strings.Contains(string(name), "/") && request.Cmp(limit) != 0:
				t.Errorf("container %s: request %s of %s is not the limit %s", c.Name, request.String(), name, limit.String())
			}
		}
		for name := range c.Resources.Requests {
			if _, ok := c.Resources.Limits[name]; !ok && strings.Contains(string(name), "/") {
				t.Errorf("container %s: no limit of %s", c.Name, name)
			}
		}
	}
}

// addCopy adds a node like another, as one is that was just bought: with the devices and the drivers of the
// other, and nothing on it but what daemon sets run there.
func (p *podProblem) addCopy(like string) string {
	added := like + "-bis"
	node := p.node(like).DeepCopy()
	node.Name, node.Labels[corev1.LabelHostname], node.Spec.Unschedulable = added, added, false
	node.Spec.Taints = slices.DeleteFunc(node.Spec.Taints, func(t corev1.Taint) bool { return strings.HasPrefix(t.Key, "node.kubernetes.io/") })
	p.Nodes = append(p.Nodes, node)
	for _, slice := range slices.Clone(p.Slices) {
		if *slice.Spec.NodeName == like {
			slice = slice.DeepCopy()
			slice.Name, slice.Spec.Pool.Name, slice.Spec.NodeName = slice.Name+"-bis", added, &added
			p.Slices = append(p.Slices, slice)
		}
	}
	for _, driver := range slices.Clone(p.CSINodes) {
		if driver.Name == like {
			driver = driver.DeepCopy()
			driver.Name = added
			p.CSINodes = append(p.CSINodes, driver)
		}
	}
	for _, pod := range slices.Clone(p.Pods) {
		if pod.Spec.NodeName == like && len(pod.OwnerReferences) > 0 {
			pod = pod.DeepCopy()
			pod.Name, pod.Spec.NodeName = pod.Name+"-bis", added
			p.Pods = append(p.Pods, pod)
		}
	}
	p.Sort()
	return added
}

// addDevices adds devices like others to a node: the words are the node, and numbers and devices in turn.
func (p *podProblem) addDevices(t *testing.T, words []string) {
	t.Helper()
	for i := 1; i+1 < len(words); i += 2 {
		var count int
		if _, err := fmt.Sscan(words[i], &count); err != nil {
			t.Fatal(err)
		}
		like := strings.Split(words[i+1], "/")
		for _, slice := range p.Slices {
			at := slices.IndexFunc(slice.Spec.Devices, func(d resourcev1.Device) bool { return d.Name == like[2] })
			if slice.Spec.Pool.Name != like[1] || at < 0 {
				continue
			}
			for n := range count {
				more := slice.DeepCopy()
				more.Name = fmt.Sprint("more-", i, "-", n)
				more.Spec.Pool.Name, more.Spec.NodeName = more.Name, ptr.To(words[0])
				more.Spec.Devices = []resourcev1.Device{*slice.Spec.Devices[at].DeepCopy()}
				more.Spec.Devices[0].Taints = nil
				p.Slices = append(p.Slices, more)
			}
			break
		}
	}
	p.Sort()
}
