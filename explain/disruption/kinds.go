package disruption

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/explain/cycle"
	"github.com/kubectl-dra/kubectl-dra/explain/plan"
	"github.com/kubectl-dra/kubectl-dra/explain/replay"
	"github.com/kubectl-dra/kubectl-dra/explain/suppose"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// kindsOf says which nodes, pools and devices that nobody uses can change places without a difference to any
// pod that waits: those have the same text, by the name of a node, the ID of a pool, or the ID of a device.
// A node is also unused if its only pods belong to it. What is not in the map is like nothing else, as
// everything is where a pod depends on others, or devices are not of nodes alone. The error is that of the
// context, or of a pool that cannot be read.
func kindsOf(ctx context.Context, c *scheduler.Cluster) (map[string]string, error) {
	waiting, foreigners := plan.Waiting(c.Snapshot(), func(*corev1.Pod) bool { return true })
	if len(waiting) == 0 {
		return nil, nil // then nobody is harmed by the loss of what nobody uses
	}
	c, waiting = plan.Admitted(c, append(waiting, foreigners...))
	s := c.Snapshot()
	mentions, claims, ok := mentionedBy(c, waiting)
	if !ok {
		return nil, nil
	}
	used, company := map[string]bool{}, companyOf(s)
	for _, pod := range s.Objects().Pods {
		if !inspect.Ended(pod) {
			used[pod.Spec.NodeName] = used[pod.Spec.NodeName] || staying(pod) == ""
			used[pod.Status.NominatedNodeName] = true
		}
	}
	held := map[inspect.PoolID]bool{}
	for _, claim := range s.Objects().Claims {
		if claim.Status.Allocation != nil {
			for _, id := range devicesOf(claim) {
				held[id.PoolID()] = true
			}
		}
	}
	owner := map[inspect.PoolID]string{}
	for _, slice := range s.Objects().Slices {
		id, node := inspect.PoolOf(slice), *slice.Spec.NodeName
		if other, ok := owner[id]; ok && other != node {
			held[id] = true // what goes with one node is missed on another
		}
		owner[id] = node
	}
	groups, err := c.Alike(ctx, s.Nodes(), claims)
	if err != nil {
		return nil, err
	}
	out, index := map[string]string{}, c.Filters()
	for g, nodes := range groups {
		for _, n := range nodes {
			node := s.Nodes()[n]
			look := lookOf(node, mentions)
			if used[node.Name] || look == "" {
				continue
			}
			if err := addKinds(out, s, node, fmt.Sprint(g, " ", index.Room(inspect.NodeName(node.Name)), " ", look, " ", company[node.Name]), held); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// companyOf is what stands beside each node: the pods that belong to it, and how many volumes it attaches.
func companyOf(s *inspect.Snapshot) map[string][]string {
	out := map[string][]string{}
	for _, pod := range s.Objects().Pods {
		if text := staying(pod); text != "" && !inspect.Ended(pod) {
			out[pod.Spec.NodeName] = append(out[pod.Spec.NodeName], text)
		}
	}
	for _, of := range s.Objects().CSINodes {
		for _, driver := range of.Spec.Drivers {
			driver.NodeID = ""
			out[of.Name] = append(out[of.Name], driver.String())
		}
	}
	for _, texts := range out {
		slices.Sort(texts)
	}
	return out
}

// staying is the same text for pods that belong to their node and differ in nothing but that. It is "" for
// others, and for one that has devices or is being deleted.
func staying(pod *corev1.Pod) string {
	if !suppose.BoundToNode(pod) || len(pod.Spec.ResourceClaims) > 0 || pod.Status.ExtendedResourceClaimStatus != nil || pod.DeletionTimestamp != nil {
		return ""
	}
	spec := pod.Spec
	spec.NodeName, spec.Hostname, spec.Affinity = "", "", othersOnly(spec.Affinity)
	text, err := json.Marshal([]any{pod.Namespace, pod.Labels, spec})
	if err != nil {
		return ""
	}
	return string(text)
}

// othersOnly is an affinity without that to nodes, by which a pod that belongs to its node names it.
func othersOnly(a *corev1.Affinity) *corev1.Affinity {
	if a == nil || a.PodAffinity == nil && a.PodAntiAffinity == nil {
		return nil
	}
	return &corev1.Affinity{PodAffinity: a.PodAffinity, PodAntiAffinity: a.PodAntiAffinity}
}

// addKinds adds a node, and its pools and devices, unless one of these is held. Those of alike nodes that
// stand at the same place are alike.
func addKinds(out map[string]string, s *inspect.Snapshot, node *corev1.Node, kind string, held map[inspect.PoolID]bool) error {
	pools, err := s.PoolsOn(node)
	if err != nil {
		return fmt.Errorf("telling nodes apart: %w", err)
	}
	for _, pool := range pools {
		if held[pool.ID] {
			return nil
		}
	}
	out[node.Name] = kind
	for p, pool := range pools {
		out[pool.ID.String()] = fmt.Sprint(p, " ", kind)
		at := 0
		for _, slice := range pool.Slices {
			for i := range slice.Spec.Devices {
				out[inspect.DeviceIDOf(slice.ResourceSlice, i).String()] = fmt.Sprint(p, " ", at, " ", kind)
				at++
			}
		}
	}
	return nil
}

// mentionedBy is what pods may say of nodes by their names and labels, as JSON, and the claims of those that
// wait. ok is false if one of these depends on more than what a node is by itself.
func mentionedBy(c *scheduler.Cluster, waiting []*corev1.Pod) (mentions []byte, claims []*resourcev1.ResourceClaim, ok bool) {
	s := c.Snapshot()
	for _, slice := range s.Objects().Slices {
		if slice.Spec.NodeName == nil || *slice.Spec.NodeName == "" {
			return nil, nil, false
		}
	}
	shapes := map[string]bool{}
	var selectors []*corev1.NodeSelector // of the devices that pods have already
	for _, pod := range waiting {
		m := replay.PodMember(c, pod, cycle.Options{})
		if m.NonLocal || m.PerNode || inspect.PodGroupOf(pod) != "" {
			return nil, nil, false
		}
		if m.Shape == "" || !shapes[m.Shape] {
			claims = append(claims, m.Claims...)
			for _, claim := range cycle.ClaimsFor(s, pod).Allocated {
				selectors = append(selectors, claim.Status.Allocation.NodeSelector)
			}
		}
		shapes[m.Shape] = true
	}
	mentions, err := json.Marshal([]any{selectors, s.Scheduler().ListedConstraints()})
	if err != nil {
		return nil, nil, false
	}
	texts := map[string]bool{}
	for _, pod := range s.Objects().Pods {
		spec := &pod.Spec
		if suppose.BoundToNode(pod) && pod.Spec.NodeName != "" {
			spec = &corev1.PodSpec{TopologySpreadConstraints: spec.TopologySpreadConstraints, Affinity: othersOnly(spec.Affinity)}
		}
		if spec.Affinity == nil && len(spec.NodeSelector) == 0 && len(spec.TopologySpreadConstraints) == 0 {
			continue
		}
		text, err := json.Marshal([]any{spec.Affinity, spec.NodeSelector, spec.TopologySpreadConstraints})
		if err != nil {
			return nil, nil, false
		}
		if !texts[string(text)] {
			texts[string(text)] = true
			mentions = append(mentions, text...)
		}
	}
	return mentions, claims, true
}

// lookOf is what kube-scheduler can see of a node besides its devices and its pods, whatever pods it
// compares. It is "" for a node that may be meant by its name.
func lookOf(node *corev1.Node, mentions []byte) string {
	if _, err := strconv.Atoi(node.Name); err == nil || bytes.Contains(mentions, []byte(node.Name)) {
		return ""
	}
	look := node.DeepCopy()
	look.ObjectMeta = metav1.ObjectMeta{Labels: map[string]string{}}
	for key, value := range node.Labels {
		switch {
		case key == corev1.LabelHostname && value == node.Name: // which is another one on each
			look.Labels[key] = ""
		case key == corev1.LabelHostname, key == corev1.LabelTopologyZone, key == corev1.LabelTopologyRegion, bytes.Contains(mentions, []byte(key)):
			look.Labels[key] = value
		}
	}
	look.Spec.PodCIDR, look.Spec.PodCIDRs, look.Spec.ProviderID = "", nil, ""
	for i := range look.Spec.Taints {
		look.Spec.Taints[i].TimeAdded = nil
	}
	status := &look.Status
	status.Addresses, status.Conditions, status.VolumesInUse, status.VolumesAttached = nil, nil, nil, nil
	status.NodeInfo.MachineID, status.NodeInfo.SystemUUID, status.NodeInfo.BootID = "", "", ""
	text, err := json.Marshal(look)
	if err != nil {
		return ""
	}
	return string(text)
}
