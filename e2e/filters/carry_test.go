package filters

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/remedy"
	"github.com/kubectl-dra/kubectl-dra/explain/suppose"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// carrier carries out a fix in a cluster as kubectl, the API server and the controllers do.
type carrier struct {
	*problem // with one pod that is asked about
	before   *inspect.Snapshot
	fix      *explain.Fix
	// spared is a pod that commands leave alone, to see whether it ends for nothing.
	spared inspect.PodRef
	// gone are the UIDs of pods that were deleted, ended those of them that were not the pod that was asked
	// about.
	gone  map[types.UID]bool
	ended []inspect.PodRef
	// did says that something was done.
	did bool
}

// carryOut carries out a fix of an explanation. before is the problem as the server has it.
func carryOut(before *problem, s *inspect.Snapshot, f *explain.Fix, spared inspect.PodRef) (*carrier, error) {
	c := &carrier{problem: before.asking(before.asked[0]), before: s, fix: f, spared: spared, gone: map[types.UID]bool{}}
	c.objects = *s.Objects() // lists that belong to nobody else
	for _, kind := range inspect.Kinds() {
		inspect.SetObjects(&c.objects, kind, slices.Clone(kind.Objects(&c.objects)))
	}
	for _, line := range f.Commands {
		if err := c.run(line); err != nil {
			return nil, fmt.Errorf("%s: %w", line, err)
		}
	}
	for _, e := range f.Edits {
		c.byHand(e)
	}
	c.control()
	at := slices.IndexFunc(c.objects.Pods, func(p *corev1.Pod) bool { return p.Namespace == c.asked[0].Namespace && p.Name == c.asked[0].Name })
	if at < 0 {
		return nil, fmt.Errorf("the pod is gone after %q", f.Commands)
	}
	pod := c.objects.Pods[at].DeepCopy()
	pod.Spec.SchedulingGates = nil // whoever set them removes them
	c.asked = []*corev1.Pod{pod}
	c.objects.Pods = slices.Delete(c.objects.Pods, at, at+1)
	return c, nil
}

// byHand does what no command does: who adds devices or nodes has no command for it.
func (c *carrier) byHand(edit explain.Edit) {
	switch e := edit.(type) {
	case whatif.UntaintNodeEdit:
		if len(c.fix.Commands) > 0 && !slices.Contains(append(c.fix.Also, c.fix.Kind), explain.WaitFor) {
			return
		}
		c.change("Node", "", string(e.Node), func(o metav1.Object) {
			node := o.(*corev1.Node) //nolint:forcetypeassert // the kind that was asked for
			node.Spec.Taints = slices.DeleteFunc(node.Spec.Taints, func(t corev1.Taint) bool { return t.MatchTaint(&e.Taint) })
		})
	case whatif.AddDevicesEdit:
		c.addDevices(e)
	case whatif.GatesEdit:
		for _, gate := range e.Gates {
			c.gates[gate], c.did = true, true
		}
	default:
		if key := edit.Key(); strings.HasPrefix(key, "add ") && c.fix.Like != "" {
			suppose.AddNode(&c.objects, string(c.fix.Like), false, func(name string) string { return name + "-bis" })
			c.did = true
		}
	}
}

// addDevices publishes more devices where the driver of the node does: in its pool, if it has one.
func (c *carrier) addDevices(e whatif.AddDevicesEdit) {
	c.did = true
	for i, added := range e.Added {
		pool := e.Node
		for _, s := range c.objects.Slices {
			if s.Spec.Driver == added.ID.Driver && s.Spec.NodeName != nil && *s.Spec.NodeName == e.Node {
				pool = s.Spec.Pool.Name
			}
		}
		for n := range added.Count {
			device := *added.Device.DeepCopy()
			device.Name, device.Taints, device.NodeName, device.NodeSelector, device.AllNodes = fmt.Sprintf("more-%d-%d", i, n), nil, nil, nil, nil
			for j := range device.ConsumesCounters {
				device.ConsumesCounters[j].CounterSet = fmt.Sprintf("%s-%d-%d", device.ConsumesCounters[j].CounterSet, i, n)
			}
			c.publish(added.ID.Driver, pool, e.Node, device, added.Counters, fmt.Sprintf("-%d-%d", i, n))
		}
	}
}

func (c *carrier) publish(driver, pool, node string, device resourcev1.Device, counters []resourcev1.CounterSet, suffix string) {
	more := []resourcev1.ResourceSliceSpec{{Driver: driver, NodeName: &node, Devices: []resourcev1.Device{device}}}
	if len(device.ConsumesCounters) > 0 {
		sets := resourcev1.ResourceSliceSpec{Driver: driver, NodeName: &node}
		for _, set := range counters {
			set := *set.DeepCopy()
			set.Name += suffix
			sets.SharedCounters = append(sets.SharedCounters, set)
		}
		more = append(more, sets)
	}
	of := resourcev1.ResourcePool{Name: pool, Generation: 1}
	for _, s := range c.objects.Slices {
		if s.Spec.Driver == driver && s.Spec.Pool.Name == pool && s.Spec.Pool.Generation >= of.Generation {
			of = s.Spec.Pool
		}
	}
	of.ResourceSliceCount += int64(len(more))
	for i, s := range c.objects.Slices {
		if s.Spec.Driver == driver && s.Spec.Pool.Name == pool && s.Spec.Pool.Generation == of.Generation {
			c.objects.Slices[i] = s.DeepCopy()
			c.objects.Slices[i].Spec.Pool.ResourceSliceCount = of.ResourceSliceCount
		}
	}
	for i, spec := range more {
		spec.Pool = of
		c.objects.Slices = append(c.objects.Slices, &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("more-", pool, suffix, "-", i)}, Spec: spec})
	}
}

// words splits a command as a shell does, of which it knows quotes.
func words(line string) []string {
	var out []string
	word, quoted, any := "", false, false
	for _, r := range line {
		switch {
		case r == '\'':
			quoted, any = !quoted, true
		case r == ' ' && !quoted:
			if any {
				out = append(out, word)
			}
			word, any = "", false
		default:
			word, any = word+string(r), true
		}
	}
	return append(out, word)
}

// run does what a command does.
func (c *carrier) run(line string) error {
	c.did = true
	all := words(line)
	if at := slices.Index(all, "|"); at >= 0 {
		from, to := all[:at], strings.Join(all[at+1:], " ")
		switch {
		case strings.HasPrefix(strings.Join(from, " "), "kubectl dra explain"):
			return c.apply(strings.Contains(to, "--force"))
		case from[1] == "get" && to == "kubectl replace --force -f -":
			c.recreate(flagOf(from, "-n"), from[3])
			return nil
		}
		return fmt.Errorf("it is not known what it does")
	}
	ns := flagOf(all, "-n")
	switch {
	case slices.Contains(all, ">"):
		return nil
	case all[1] == "apply":
		return c.apply(false)
	case all[1] == "delete":
		return c.delete(ns, all[2:])
	case all[1] == "dra" && all[2] == "deallocate":
		c.change("ResourceClaim", ns, all[4], deallocate)
	case all[1] == "uncordon":
		c.change("Node", "", all[2], uncordon)
	default:
		return fmt.Errorf("it is not known what it does")
	}
	return nil
}

// uncordon makes a node schedulable. The node lifecycle controller takes its taint away.
func uncordon(o metav1.Object) {
	node := o.(*corev1.Node) //nolint:forcetypeassert // only nodes are
	node.Spec.Unschedulable = false
	node.Spec.Taints = slices.DeleteFunc(node.Spec.Taints, func(t corev1.Taint) bool { return t.Key == corev1.TaintNodeUnschedulable })
}

func flagOf(words []string, flag string) string {
	if at := slices.Index(words, flag); at >= 0 && at+1 < len(words) {
		return words[at+1]
	}
	return ""
}

// delete deletes objects, which are named as KIND NAME… or KIND/NAME.
func (c *carrier) delete(ns string, words []string) error {
	kind, named := "", 0
	for _, word := range words {
		if strings.HasPrefix(word, "-") {
			break
		}
		name := word
		if of, after, ok := strings.Cut(word, "/"); ok {
			kind, name = of, after
		} else if kind == "" {
			kind = word
			continue
		}
		named++
		switch at := slices.IndexFunc(inspect.Kinds(), func(k inspect.Kind) bool { return strings.EqualFold(k.Name, kind) }); {
		case kind == "pod" && (inspect.PodRef{Namespace: ns, Name: name}) == c.spared:
		case at < 0:
			return fmt.Errorf("there is no kind %s", kind)
		default:
			c.remove(inspect.Kinds()[at].Name, ns, name)
		}
	}
	if named == 0 {
		return fmt.Errorf("it deletes nothing")
	}
	return nil
}

// change changes an object that there is.
func (c *carrier) change(kind, ns, name string, change func(metav1.Object)) bool {
	k := inspect.Kinds()[slices.IndexFunc(inspect.Kinds(), func(k inspect.Kind) bool { return k.Name == kind })]
	all := k.Objects(&c.objects)
	for i, o := range all {
		if o.GetName() == name && o.GetNamespace() == ns {
			all[i] = o.(runtime.Object).DeepCopyObject().(metav1.Object) //nolint:forcetypeassert // every object of the API is one
			change(all[i])
			inspect.SetObjects(&c.objects, k, all)
			return true
		}
	}
	return false
}

// remove deletes an object.
func (c *carrier) remove(kind, ns, name string) {
	k := inspect.Kinds()[slices.IndexFunc(inspect.Kinds(), func(k inspect.Kind) bool { return k.Name == kind })]
	inspect.SetObjects(&c.objects, k, slices.DeleteFunc(k.Objects(&c.objects), func(o metav1.Object) bool {
		found := o.GetName() == name && o.GetNamespace() == ns
		if pod, ok := o.(*corev1.Pod); ok && found {
			c.gone[pod.UID] = true
			if pod.Spec.NodeName != "" && name != c.asked[0].Name {
				c.ended = append(c.ended, inspect.PodRef{Namespace: ns, Name: name})
			}
		}
		return found
	}))
}

// apply creates or changes what the program prints for the fix.
func (c *carrier) apply(anew bool) error {
	manifests, err := remedy.Manifests(c.fix, func(change explain.ObjectChange) (remedy.Object, error) { return remedy.Find(c.before, change) })
	if err != nil {
		return err
	}
	for _, m := range manifests {
		kind := inspect.Kinds()[slices.IndexFunc(inspect.Kinds(), func(k inspect.Kind) bool { return k.Name == m["kind"] })]
		data, err := json.Marshal(m)
		if err != nil {
			return err
		}
		object := kind.New()
		if err := json.Unmarshal(data, object); err != nil {
			return err
		}
		if object, err = admit(object); err != nil {
			return err
		}
		ns, name := object.GetNamespace(), object.GetName()
		if anew {
			c.remove(kind.Name, ns, name)
		}
		change := func(o metav1.Object) {
			spec := func(o metav1.Object) reflect.Value { return reflect.ValueOf(o).Elem().FieldByName("Spec") }
			spec(o).Set(spec(object))
		}
		if !c.change(kind.Name, ns, name, change) {
			object.SetUID(types.UID("made-again-" + name))
			c.objects.Add(object)
		}
	}
	return nil
}

// recreate makes a pod anew as it is.
func (c *carrier) recreate(ns, name string) {
	at := slices.IndexFunc(c.objects.Pods, func(p *corev1.Pod) bool { return p.Namespace == ns && p.Name == name })
	pod := c.objects.Pods[at].DeepCopy()
	c.remove("Pod", ns, name)
	c.ended = slices.DeleteFunc(c.ended, func(ref inspect.PodRef) bool { return ref.Namespace == ns && ref.Name == name }) // it waits on
	pod.UID, pod.DeletionTimestamp, pod.DeletionGracePeriodSeconds, pod.Status = "made-again-"+pod.UID, nil, nil, corev1.PodStatus{}
	c.objects.Pods = append(c.objects.Pods, pod)
}

// released reports whether the fix releases a claim. That is reserved for pods that are not there now and
// then: the controller lets go of it.
func (c *carrier) released(claim *resourcev1.ResourceClaim) bool {
	return slices.ContainsFunc(c.fix.Claims, func(h explain.Holder) bool { return h.Claim == inspect.RefOf(claim) })
}

func (c *carrier) exists(uid types.UID) bool {
	return slices.ContainsFunc(c.objects.Pods, func(p *corev1.Pod) bool { return p.UID == uid })
}

func deallocate(o metav1.Object) {
	claim := o.(*resourcev1.ResourceClaim) //nolint:forcetypeassert // only claims are
	claim.Status = resourcev1.ResourceClaimStatus{}
}

// ofSuccessor is a volume claim that was made for a pod, made again for another one: as it was, or as that
// wants it.
func ofSuccessor(claim *corev1.PersistentVolumeClaim, pod *corev1.Pod) *corev1.PersistentVolumeClaim {
	claim.OwnerReferences[0].UID = pod.UID
	for _, v := range pod.Spec.Volumes {
		if v.Ephemeral == nil || claim.Name != pod.Name+"-"+v.Name {
			continue
		}
		wants := v.Ephemeral.VolumeClaimTemplate.Spec
		if !equality.Semantic.DeepEqual(wants.StorageClassName, claim.Spec.StorageClassName) || !equality.Semantic.DeepEqual(wants.Resources, claim.Spec.Resources) {
			claim.Spec, claim.Status, claim.Annotations = *wants.DeepCopy(), corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimPending}, nil
		}
	}
	return claim
}

// control does what the controllers do when pods are gone: what was made for them goes too, what is reserved
// for nobody is released, and pods that are new get their claims. A volume that is made for a pod is there
// for its successor.
func (c *carrier) control() {
	for _, pod := range c.objects.Pods {
		for i, claim := range c.objects.VolumeClaims {
			if owner := metav1.GetControllerOf(claim); owner != nil && c.gone[owner.UID] && owner.Name == pod.Name {
				c.objects.VolumeClaims[i] = ofSuccessor(claim.DeepCopy(), pod)
			}
		}
	}
	var claims []*resourcev1.ResourceClaim
	for _, claim := range c.objects.Claims {
		if owner := metav1.GetControllerOf(claim); owner != nil && c.gone[owner.UID] {
			continue
		}
		claim = claim.DeepCopy()
		reserved := len(claim.Status.ReservedFor)
		claim.Status.ReservedFor = slices.DeleteFunc(claim.Status.ReservedFor, func(r resourcev1.ResourceClaimConsumerReference) bool {
			return c.gone[r.UID] || c.released(claim) && !c.exists(r.UID)
		})
		if reserved > 0 && len(claim.Status.ReservedFor) == 0 {
			deallocate(claim)
		}
		if claim.DeletionTimestamp == nil || claim.Status.Allocation != nil {
			claims = append(claims, claim)
		}
	}
	c.objects.Claims = claims
	c.objects.VolumeClaims = slices.DeleteFunc(c.objects.VolumeClaims, func(claim *corev1.PersistentVolumeClaim) bool {
		owner := metav1.GetControllerOf(claim)
		return owner != nil && c.gone[owner.UID]
	})
	for i, pod := range c.objects.Pods {
		if strings.HasPrefix(string(pod.UID), "made-again-") {
			c.objects.Pods[i] = c.withClaims(pod.DeepCopy())
		}
	}
}

// withClaims makes the claims of a pod.
func (c *carrier) withClaims(pod *corev1.Pod) *corev1.Pod {
	pod.Status.ResourceClaimStatuses = nil
	for i := range pod.Spec.ResourceClaims {
		entry := &pod.Spec.ResourceClaims[i]
		at := slices.IndexFunc(c.objects.Templates, func(t *resourcev1.ResourceClaimTemplate) bool {
			return entry.ResourceClaimTemplateName != nil && t.Name == *entry.ResourceClaimTemplateName && t.Namespace == pod.Namespace
		})
		if at < 0 {
			continue
		}
		claim := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Name: pod.Name + "-" + entry.Name + "-again", Namespace: pod.Namespace}}
		claim.UID, claim.Spec = types.UID("uid-of-"+claim.Name), *c.objects.Templates[at].Spec.Spec.DeepCopy()
		claim.Annotations = map[string]string{resourcev1.PodResourceClaimAnnotation: entry.Name}
		claim.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID, Controller: new(true)}}
		pod.Status.ResourceClaimStatuses = append(pod.Status.ResourceClaimStatuses, corev1.PodResourceClaimStatus{Name: entry.Name, ResourceClaimName: new(claim.Name)})
		c.objects.Claims = append(c.objects.Claims, claim)
	}
	return pod
}
