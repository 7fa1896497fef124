package remedy

import (
	"fmt"
	"slices"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// release writes what makes claims let go of their devices: the command of this program for those that
// nothing reserves, and for others what ends the pods that use them.
func (b *builder) release(claims []explain.Holder) {
	var pods []inspect.PodRef
	for i := range claims {
		ref := claims[i].Claim
		claim, ok := b.s.Claim(ref)
		if !ok {
			continue
		}
		if len(claim.Status.ReservedFor) == 0 {
			if claim.DeletionTimestamp == nil {
				b.add(b.kubectl("dra", "deallocate", "claim", b.name(ref.Name), "-n", ref.Namespace))
			}
			continue
		}
		for _, pod := range claims[i].Pods {
			if _, exists := b.s.Pod(pod); exists && pod != b.asking && !slices.Contains(pods, pod) {
				pods = append(pods, pod)
			}
		}
	}
	b.end(pods)
}

// end writes what ends pods. A controller of which all pods are to end is told to have none; where it has
// others, only the pods are deleted.
func (b *builder) end(pods []inspect.PodRef) {
	done := map[inspect.PodRef]bool{}
	for _, ref := range pods {
		pod, _ := b.s.Pod(ref)
		if done[ref] {
			continue
		}
		c := ControllerOf(pod)
		if c != nil {
			all := podsOf(b.s, ref.Namespace, *c)
			none := b.none(*c, ref.Namespace)
			if none != "" && !slices.ContainsFunc(all, func(other inspect.PodRef) bool { return !slices.Contains(pods, other) }) {
				for _, other := range all {
					done[other] = true
				}
				done[ref] = true
				b.add(none)
				continue
			}
			b.remark(fmt.Sprintf("%s makes another pod in place of %s, which asks for devices again.", c, ref.Name))
		}
		b.add(b.kubectl("delete", "pod", b.name(ref.Name), "-n", ref.Namespace))
	}
}

// none is the command that leaves a controller without pods, or "" if there is no such command for the kind.
func (b *builder) none(c Controller, namespace string) string {
	switch c.Kind {
	case "Deployment", "ReplicaSet", "StatefulSet", "ReplicationController":
		return b.kubectl("scale", b.of(c.Kind, c.Name), "-n", namespace, "--replicas=0")
	case "Job":
		return b.kubectl("patch", b.of(c.Kind, c.Name), "-n", namespace, "--type=merge", "-p", `{"spec":{"suspend":true}}`)
	}
	return ""
}
