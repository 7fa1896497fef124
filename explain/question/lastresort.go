package question

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/cycle"
	"github.com/kubectl-dra/kubectl-dra/explain/suppose"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// maxLastResorts is the number of things that a pod is asked about without.
const maxLastResorts = 8

// without is a pod that does without something.
type without struct {
	pod     *corev1.Pod
	patch   []explain.PatchOperation
	message string
}

// remove notes that what is at a path is taken out of the pod.
func (w *without) remove(format string, args ...any) {
	w.patch = append(w.patch, explain.PatchOperation{Op: "remove", Path: fmt.Sprintf(format, args...)})
}

// dropFrom takes out of a list of the pod, which is at a path, what is so.
func dropFrom[T any](w *without, list []T, path string, is func(*T) bool) []T {
	for i := len(list) - 1; i >= 0; i-- {
		if is(&list[i]) {
			list = slices.Delete(list, i, i+1)
			w.remove("%s/%d", path, i)
		}
	}
	return list
}

// lastResorts are the single volumes, claims and resources without which the pod can be scheduled: all that
// is left where no fix was found. Each is tried by asking about the changed pod.
func lastResorts(ctx context.Context, c *scheduler.Cluster, pod *corev1.Pod, opts Options) ([]explain.Fix, error) {
	opts.verdictOnly, opts.Events.List = true, nil
	all := slices.Concat(withoutVolumes(pod), withoutClaims(c.Snapshot(), pod), withoutResources(pod))
	c = withoutItsClaims(c, pod)
	var out []explain.Fix
	for _, w := range all[:min(len(all), maxLastResorts)] {
		w.pod.Status = corev1.PodStatus{}
		e, q, err := podAsIs(ctx, c, w.pod, opts)
		if err != nil {
			return nil, err
		}
		if q == nil || e.Verdict != explain.Allocatable || e.Nodes.Allocatable == 0 {
			continue
		}
		at := slices.IndexFunc(q.Answers, func(a whatif.Answer) bool { return a.Allocatable() })
		if at < 0 {
			continue
		}
		out = append(out, explain.Fix{
			Kind: explain.ReduceRequest, Key: w.message, Node: inspect.NodeName(q.Nodes[q.Answers[at].Nodes[0]].Name), Nodes: e.Nodes.Allocatable,
			Patch: w.patch, Changes: []explain.ObjectChange{{APIVersion: "v1", Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name, Patch: w.patch}},
			Message: words.OneLine("as the last resort, do without " + w.message),
		})
	}
	return out, nil
}

// withoutItsClaims is a cluster once a pod is deleted, to be made anew: claims that were made for it go with
// it, and what is reserved for nobody else has no devices any more.
func withoutItsClaims(c *scheduler.Cluster, pod *corev1.Pod) *scheduler.Cluster {
	self := []inspect.PodRef{{Namespace: pod.Namespace, Name: pod.Name}}
	return scheduler.NewCluster(c.Snapshot().With(func(o *inspect.Objects) {
		o.Claims = slices.DeleteFunc(slices.Clone(o.Claims), func(claim *resourcev1.ResourceClaim) bool { return suppose.GoesWith(claim, self) })
		for _, claim := range o.Claims {
			if len(claim.Status.ReservedFor) == 1 && claim.Namespace == pod.Namespace && claim.Status.ReservedFor[0].UID == pod.UID {
				suppose.Release(o, inspect.RefOf(claim))
			}
		}
	}), scheduler.Options{Like: c})
}

// withoutVolumes are the pod without each of the volumes that decide where it can run.
func withoutVolumes(pod *corev1.Pod) []*without {
	var out []*without
	for _, name := range suppose.VolumesOf(pod, "", "") {
		w := &without{pod: pod.DeepCopy(), message: "the volume " + name}
		i := slices.IndexFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == name })
		if claim := pod.Spec.Volumes[i].PersistentVolumeClaim; claim != nil {
			w.message += fmt.Sprintf(" (claim %s)", claim.ClaimName)
		}
		for _, c := range suppose.ContainersOf(w.pod) {
			mounts := func(m *corev1.VolumeMount) bool { return m.Name == name }
			c.VolumeMounts = dropFrom(w, c.VolumeMounts, c.Path+"/volumeMounts", mounts)
			has := func(d *corev1.VolumeDevice) bool { return d.Name == name }
			c.VolumeDevices = dropFrom(w, c.VolumeDevices, c.Path+"/volumeDevices", has)
		}
		w.pod.Spec.Volumes = slices.Delete(w.pod.Spec.Volumes, i, i+1)
		w.remove("/spec/volumes/%d", i)
		out = append(out, w)
	}
	return out
}

// withoutClaims are the pod without each of its claims. A claim that is made for it and has devices goes with
// the pod anyway.
func withoutClaims(s *inspect.Snapshot, pod *corev1.Pod) []*without {
	var out []*without
	for i := range pod.Spec.ResourceClaims {
		entry := &pod.Spec.ResourceClaims[i]
		name, _ := inspect.ClaimNameFor(pod, entry)
		claim, ok := s.Claim(inspect.ClaimRef{Namespace: pod.Namespace, Name: name})
		if ok && entry.ResourceClaimName == nil && claim.Status.Allocation != nil {
			continue
		}
		w := &without{pod: pod.DeepCopy(), message: "the resource claim of its entry " + entry.Name}
		for _, c := range suppose.ContainersOf(w.pod) {
			uses := func(use *corev1.ResourceClaim) bool { return use.Name == entry.Name }
			c.Resources.Claims = dropFrom(w, c.Resources.Claims, c.Path+"/resources/claims", uses)
		}
		w.pod.Spec.ResourceClaims = slices.Delete(w.pod.Spec.ResourceClaims, i, i+1)
		w.remove("/spec/resourceClaims/%d", i)
		out = append(out, w)
	}
	return out
}

// withoutResources are the pod without each of the resources that are only for pods that ask for them.
func withoutResources(pod *corev1.Pod) []*without {
	names := map[corev1.ResourceName]bool{}
	for _, c := range cycle.AllContainers(pod) {
		for name := range cycle.RequestsOf(c) {
			names[name] = inspect.IsExtendedResource(name)
		}
	}
	var out []*without
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if !names[name] {
			continue
		}
		w := &without{pod: pod.DeepCopy(), message: string(name)}
		key := strings.NewReplacer("~", "~0", "/", "~1").Replace(string(name))
		for _, c := range suppose.ContainersOf(w.pod) {
			if _, ok := c.Resources.Limits[name]; ok {
				delete(c.Resources.Limits, name)
				w.remove("%s/resources/limits/%s", c.Path, key)
			}
			if _, ok := c.Resources.Requests[name]; ok {
				delete(c.Resources.Requests, name)
				w.remove("%s/resources/requests/%s", c.Path, key)
			}
		}
		out = append(out, w)
	}
	return out
}
