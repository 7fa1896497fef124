package plan

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/explain/cycle"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// Kinds says which nodes, pools and devices that nobody uses can change places without a difference to any
// pod that waits: those have the same text. It is by the name of a node, the ID of a pool, or the ID of a
// device. What is not in it is like nothing else, as everything is where a pod depends on others, or devices
// are not of nodes alone. The error is that of the context, or of a pool that cannot be read.
func Kinds(ctx context.Context, c *scheduler.Cluster) (map[string]string, error) {
	waiting, foreigners := Waiting(c.Snapshot(), func(*corev1.Pod) bool { return true })
	if len(waiting) == 0 {
		return nil, nil // then nobody is harmed by the loss of what nobody uses
	}
	c, waiting = admitted(c, append(waiting, foreigners...))
	s := c.Snapshot()
	mentions, claims, ok := mentionedBy(c, waiting)
	if !ok {
		return nil, nil
	}
	used := map[string]bool{}
	for _, pod := range s.Objects().Pods {
		if !inspect.Ended(pod) {
			used[pod.Spec.NodeName], used[pod.Status.NominatedNodeName] = true, true
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
	out := map[string]string{}
	for g, nodes := range groups {
		for _, n := range nodes {
			node := s.Nodes()[n]
			look := lookOf(node, mentions)
			if used[node.Name] || look == "" {
				continue
			}
			if err := addKinds(out, s, node, fmt.Sprint(g, " ", look), held); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
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
	for _, pod := range waiting {
		m := cycle.PodMember(c, pod, cycle.Options{})
		if m.NonLocal || m.PerNode {
			return nil, nil, false
		}
		if m.Shape == "" || !shapes[m.Shape] {
			claims = append(claims, m.Claims...)
		}
		shapes[m.Shape] = true
	}
	texts := map[string]bool{}
	for _, pod := range s.Objects().Pods {
		spec := &pod.Spec
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
