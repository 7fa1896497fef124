package filters

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// prepareNodeVolumeLimits is the plugin NodeVolumeLimits: the CSI drivers of a node say how many volumes they
// can attach.
func prepareNodeVolumeLimits(p *Prepared) (check, Outcome) {
	v := &nodeVolumeLimits{index: p.Index}
	var everywhere Outcome
	for _, use := range p.volumesOf(p.Pod) {
		if use.claim == nil {
			everywhere.and(use.absent(NodeVolumeLimits))
			continue
		}
		everywhere.and(use.fromOtherPod(NodeVolumeLimits, p.Pod))
		v.add(use)
	}
	for i := range p.Pod.Spec.Volumes {
		disk := &p.Pod.Spec.Volumes[i]
		if a, err := attachableInline(disk, p.Pod.Namespace); a.plugin != "" {
			v.volumes = append(v.volumes, podVolume{attachable: a, object: Object{Kind: "Volume", Name: disk.Name}, err: err})
		}
	}
	everywhere.and(v.untranslated())
	everywhere = everywhere.once()
	if len(v.volumes)+len(v.unread) == 0 {
		return nil, everywhere
	}
	if !slices.ContainsFunc(v.volumes, func(volume podVolume) bool { return volume.plugin != "" }) {
		v.plain, _ = v.newOn(nil)
	}
	v.findBroken()
	v.findUnread()
	return v, everywhere
}

// nodeVolumeLimits is what the plugin knows of a pod.
type nodeVolumeLimits struct {
	index   *Index
	volumes []podVolume
	// unread are claims of which it is not known how they count, with what was not read.
	unread []Doubt
	// plain are the volumes on every node, if they are the same on all.
	plain map[attachedVolume]Object
	// broken are the nodes on which the scheduler fails to count and gives up on the pod, wherever it could
	// run, sorted.
	broken []string
	// uncounted is what was not read of what could be attached, or "".
	uncounted inspect.Resource
}

// podVolume is a volume of a pod that counts.
type podVolume struct {
	attachable
	object Object
	err    error // the CSI driver cannot serve it
}

// add counts a claim of the pod, in the order in which upstream's plugin looks: its volume, then its class.
func (v *nodeVolumeLimits) add(use volumeUse) {
	objects := v.index.storage.byName()
	class := classOfClaim(use.claim)
	noVolume := use.claim.Spec.VolumeName == "" || objects.volumes[use.claim.Spec.VolumeName] == nil
	switch {
	case noVolume && use.claim.Spec.VolumeName != "" && v.index.storageUnread(inspect.Volumes, "", len(objects.volumes)):
		v.doubt(use, inspect.Volumes, fmt.Sprintf("the volume %s of claim %s could not be read", use.claim.Spec.VolumeName, use.name))
	case noVolume && class != "" && objects.classes[class] == nil && v.index.storageUnread(inspect.StorageClasses, "", len(objects.classes)):
		v.doubt(use, inspect.StorageClasses, fmt.Sprintf("the storage class %s of claim %s could not be read", class, use.name))
	default:
		a, ok := v.index.storage.attached()[use.name]
		if use.toCome {
			a = objects.attachable(use.claim)
			ok = a.counts()
		}
		if ok {
			v.volumes = append(v.volumes, podVolume{attachable: a, object: use.object()})
		}
	}
}

func (v *nodeVolumeLimits) doubt(use volumeUse, unread inspect.Resource, message string) {
	v.unread = append(v.unread, Doubt{
		Plugin: NodeVolumeLimits, Resource: unread, Key: "counts " + use.name.String(),
		Message: message + ", so how many volumes of which driver the pod brings is not known",
	})
}

// without is the same check, which asks for the pods of a node, unless the scheduler gives up because of some
// of them.
func (v *nodeVolumeLimits) without(*Prepared, []*podInfo) (check, bool) { return v, len(v.broken) == 0 }

func (v *nodeVolumeLimits) on(n *nodeInfo) Outcome {
	node, known := v.csiNode(n)
	if !known {
		return doubt(Doubt{
			Plugin: NodeVolumeLimits, Resource: inspect.CSINodes, Key: "limits",
			Message: "how many volumes of the pod's drivers nodes can attach could not be read",
		})
	}
	pod, failed := v.newOn(node)
	if len(failed) > 0 {
		return Outcome{Refusals: failed}
	}
	var out Outcome
	if len(pod)+len(v.unread) > 0 {
		out = v.missingDrivers(pod, node)
		if hasLimits(node) {
			out.and(v.compare(n, node, pod))
			out.Doubts = append(out.Doubts, v.unread...)
		}
	}
	// Also of a node on which none of the pod's volumes counts: the scheduler looks at all of them.
	if len(v.broken) > 0 && !slices.Contains(v.broken, n.Name) {
		out.Doubts = append(out.Doubts, Doubt{
			Plugin: NodeVolumeLimits, Key: "broken " + v.broken[0],
			Message: fmt.Sprintf("the scheduler gives up on the pod as soon as it looks at node %s, where it cannot count the volumes", v.broken[0]),
		})
	}
	return out
}

// untranslated is a doubt about a volume of the pod that no CSI driver can serve, if some node would serve it
// so: there the plugin fails instead of refusing, as VolumeBinding does (Index.untranslated).
func (v *nodeVolumeLimits) untranslated() Outcome {
	for _, volume := range v.volumes {
		if volume.err == nil {
			continue
		}
		for i := range v.index.nodes {
			if node, known := v.csiNode(v.index.at(i)); known && v.index.countsMigrated(volume.plugin, node) {
				return doubt(failsSomewhere(NodeVolumeLimits, "the volume "+volume.object.Name, volume.object.Name, volume.err))
			}
		}
	}
	return Outcome{}
}

// csiNode returns what the kubelet of a node says of its drivers, nil if it says nothing.
func (v *nodeVolumeLimits) csiNode(n *nodeInfo) (node *storagev1.CSINode, known bool) {
	nodes := v.index.storage.byName().nodes
	node = nodes[n.Name]
	return node, node != nil || !v.index.storageUnread(inspect.CSINodes, "", len(nodes)) && !v.assumed(n)
}

func (v *nodeVolumeLimits) assumed(n *nodeInfo) bool {
	return v.index.snapshot.NodesAssumed() && n.Name == string(inspect.PseudoNode)
}

// newOn are the volumes of the pod that count on a node, or why the scheduler gives up.
func (v *nodeVolumeLimits) newOn(node *storagev1.CSINode) (volumes map[attachedVolume]Object, failed []Refusal) {
	if v.plain != nil {
		return v.plain, nil
	}
	volumes = map[attachedVolume]Object{}
	for _, volume := range v.volumes {
		switch {
		case !v.index.countsMigrated(volume.plugin, node):
		case volume.err != nil:
			failed = append(failed, Refusal{
				Plugin: NodeVolumeLimits, Code: VolumeNode, Key: "untranslated " + volume.object.Name, Unresolvable: true, Object: volume.object,
				Message: fmt.Sprintf("the pod's volume %s cannot be served by its CSI driver: %v", volume.object.Name, volume.err),
			})
		case volume.driver != "":
			if _, twice := volumes[volume.attachedVolume]; !twice {
				volumes[volume.attachedVolume] = volume.object
			}
		}
	}
	return volumes, failed
}

// missingDrivers refuses a node that lacks a CSI driver, if the driver asks for that.
func (v *nodeVolumeLimits) missingDrivers(pod map[attachedVolume]Object, node *storagev1.CSINode) Outcome {
	features := v.index.snapshot.Features()
	if !features.Enabled(inspect.GateVolumeLimitScaling) {
		return Outcome{}
	}
	drivers, objects := v.index.storage.byName().drivers, firstOfDrivers(pod)
	var out Outcome
	for _, driver := range slices.Sorted(maps.Keys(objects)) {
		d, object := drivers[driver], objects[driver]
		switch {
		case hasDriver(node, driver):
		case d == nil && v.index.storageUnread(inspect.CSIDrivers, "", len(drivers)):
			out.and(doubt(Doubt{
				Plugin: NodeVolumeLimits, Resource: inspect.CSIDrivers, Key: "driver " + driver,
				Message: fmt.Sprintf("the CSI driver %s, which serves %s, is not installed on the node, and whether it has to be could not be read", driver, objectWords(object)),
			}))
		case d == nil || features.Minor >= 36 && !isTrue(d.Spec.PreventPodSchedulingIfMissing):
		default:
			out.and(refuse(Refusal{
				Plugin: NodeVolumeLimits, Code: VolumeNode, Key: "driver " + driver, Object: object, By: Object{Kind: "CSIDriver", Name: driver},
				Message: fmt.Sprintf("the CSI driver %s, which serves %s, is not installed on the node", driver, objectWords(object)),
			}))
		}
	}
	return out
}

func isTrue(b *bool) bool { return b != nil && *b }

func hasDriver(node *storagev1.CSINode, driver string) bool {
	return node != nil && slices.ContainsFunc(node.Spec.Drivers, func(d storagev1.CSINodeDriver) bool { return d.Name == driver })
}

// objectWords names an object of a pod to the reader.
func objectWords(o Object) string {
	if o.Namespace == "" {
		return "the pod's volume " + o.Name
	}
	return "the claim " + o.Namespace + "/" + o.Name
}

// firstOfDrivers are the drivers of volumes, each with the first object by name that it serves.
func firstOfDrivers(volumes map[attachedVolume]Object) map[string]Object {
	out := map[string]Object{}
	for volume, object := range volumes {
		if first, ok := out[volume.driver]; !ok || cmp.Or(cmp.Compare(object.Kind, first.Kind), cmp.Compare(object.Name, first.Name)) < 0 {
			out[volume.driver] = object
		}
	}
	return out
}

// limitOf is the number of volumes that a driver of a node can attach. It is false if there is no limit.
func limitOf(node *storagev1.CSINode, driver string) (int64, bool) {
	if node == nil {
		return 0, false
	}
	limit, limited := int64(0), false
	for i := range node.Spec.Drivers {
		if d := &node.Spec.Drivers[i]; d.Name == driver && d.Allocatable != nil && d.Allocatable.Count != nil {
			limit, limited = int64(*d.Allocatable.Count), true
		}
	}
	return limit, limited
}

// hasLimits reports whether any driver of a node has a limit.
func hasLimits(node *storagev1.CSINode) bool {
	return node != nil && slices.ContainsFunc(node.Spec.Drivers, func(d storagev1.CSINodeDriver) bool {
		return d.Allocatable != nil && d.Allocatable.Count != nil
	})
}

// compare compares what would be attached with the limits.
func (v *nodeVolumeLimits) compare(n *nodeInfo, node *storagev1.CSINode, pod map[attachedVolume]Object) Outcome {
	if v.uncounted == "" && !slices.Contains(v.broken, n.Name) && v.plenty(n, node, pod) {
		return Outcome{}
	}
	attached, broken := v.attachedOn(n, node)
	if broken != "" {
		return refuse(Refusal{
			Plugin: NodeVolumeLimits, Code: VolumeLimit, Key: "broken", Unresolvable: true,
			Message: "the scheduler cannot count the volumes on the node and gives up: " + broken,
		})
	}
	added, objects := map[string]int64{}, map[attachedVolume]Object{}
	for volume, object := range pod {
		if !slices.Contains(attached, volume) { // one that is attached and that no pod uses counts twice, as for the scheduler
			added[volume.driver]++
			objects[volume] = object
		}
	}
	var out Outcome
	for _, driver := range slices.Sorted(maps.Keys(added)) {
		limit, limited := limitOf(node, driver)
		if !limited {
			continue
		}
		if used := v.countOf(driver, attached, n); used+added[driver] > limit {
			out.and(refuse(Refusal{
				Plugin: NodeVolumeLimits, Code: VolumeLimit, Key: driver, Requested: added[driver], Used: used, Allocatable: limit,
				Object: firstOfDrivers(objects)[driver], By: Object{Kind: "CSINode", Name: node.Name},
				Message: fmt.Sprintf("the node can attach %s of driver %s; it has %d, and the pod brings %d more", volumeCount(limit), driver, used, added[driver]),
			}))
			continue
		}
		if v.uncounted != "" {
			out.and(doubt(Doubt{
				Plugin: NodeVolumeLimits, Resource: v.uncounted, Key: "attached " + driver,
				Message: fmt.Sprintf("how many volumes of driver %s are attached to the node could not be read", driver),
			}))
		}
	}
	return out
}

// plenty reports whether all limits hold, whatever the volumes on the node are.
func (v *nodeVolumeLimits) plenty(n *nodeInfo, node *storagev1.CSINode, pod map[attachedVolume]Object) bool {
	most := len(pod) + len(v.index.storage.byName().attachments[n.Name])
	for _, other := range n.pods {
		most += len(other.Spec.Volumes)
	}
	for volume := range pod {
		if limit, limited := limitOf(node, volume.driver); limited && int64(most) > limit {
			return false
		}
	}
	return true
}

// countOf counts the volumes of a driver on a node: those of pods, and others that are attached or are about
// to be.
func (v *nodeVolumeLimits) countOf(driver string, attached []attachedVolume, n *nodeInfo) int64 {
	objects := v.index.storage.byName()
	all := map[attachedVolume]bool{}
	for _, volume := range attached {
		if volume.driver == driver {
			all[volume] = true
		}
	}
	for _, a := range objects.attachments[n.Name] {
		if a.Spec.Attacher != driver || a.Spec.Source.PersistentVolumeName == nil {
			continue
		}
		if pv := objects.volumes[*a.Spec.Source.PersistentVolumeName]; pv != nil && pv.Spec.CSI != nil {
			all[attachedVolume{driver: driver, handle: pv.Spec.CSI.VolumeHandle}] = true
		}
	}
	return int64(len(all))
}

func volumeCount(n int64) string {
	if n == 1 {
		return "1 volume"
	}
	return fmt.Sprintf("%d volumes", n)
}

// findUnread finds out whether more volumes may be attached to nodes than is known.
func (v *nodeVolumeLimits) findUnread() {
	objects := v.index.snapshot.Objects()
	for _, of := range []struct {
		resource inspect.Resource
		known    int
	}{
		{inspect.Pods, len(objects.Pods)},
		{inspect.VolumeClaims, len(objects.VolumeClaims)},
		{inspect.Volumes, len(objects.Volumes)},
		{inspect.StorageClasses, len(objects.StorageClasses)},
		{inspect.VolumeAttachments, len(objects.VolumeAttachments)},
	} {
		if v.index.storageUnread(of.resource, "", of.known) {
			v.uncounted = of.resource
			return
		}
	}
}

// attachedOn are the volumes of the pods on a node, which may be there several times, or why the scheduler
// cannot count them.
func (v *nodeVolumeLimits) attachedOn(n *nodeInfo, node *storagev1.CSINode) (volumes []attachedVolume, broken string) {
	for _, pod := range n.pods {
		for i := range pod.Spec.Volumes {
			a, why := v.attachedBy(pod.Pod, &pod.Spec.Volumes[i], node)
			if why != "" {
				return nil, why
			}
			if a.driver != "" && v.index.countsMigrated(a.plugin, node) {
				volumes = append(volumes, a.attachedVolume)
			}
		}
	}
	return volumes, ""
}

// attachedBy says how a volume of a pod on a node counts, or why it cannot be counted.
func (v *nodeVolumeLimits) attachedBy(pod *corev1.Pod, volume *corev1.Volume, node *storagev1.CSINode) (a attachable, broken string) {
	switch {
	case volume.PersistentVolumeClaim != nil:
		return v.index.storage.attached()[objectName{pod.Namespace, volume.PersistentVolumeClaim.ClaimName}], ""
	case volume.Ephemeral != nil:
		use := v.index.volumeUseOf(pod, volume)
		if use.claim == nil {
			return attachable{}, ""
		}
		if o := use.fromOtherPod(NodeVolumeLimits, pod); !o.Passes() {
			return attachable{}, fmt.Sprintf("the volume claim %s was not made for pod %s/%s", use.name, pod.Namespace, pod.Name)
		}
		return v.index.storage.attached()[use.name], ""
	}
	a, err := attachableInline(volume, pod.Namespace)
	if err != nil && v.index.countsMigrated(a.plugin, node) {
		return a, fmt.Sprintf("the volume %s of pod %s/%s: %v", volume.Name, pod.Namespace, pod.Name, err)
	}
	return a, ""
}

// findBroken finds nodes where volumes cannot be counted.
func (v *nodeVolumeLimits) findBroken() {
	for i := range v.index.nodes {
		n := v.index.at(i)
		if !n.breaks {
			continue
		}
		node, _ := v.csiNode(n)
		if pod, _ := v.newOn(node); len(pod) == 0 || !hasLimits(node) {
			continue
		}
		if _, broken := v.attachedOn(n, node); broken != "" {
			v.broken = append(v.broken, n.Name)
		}
	}
}

// mayBreak reports whether a pod has a volume that the scheduler may fail to count.
func mayBreak(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool {
		return v.Ephemeral != nil || builtInDisk(&v)
	})
}
