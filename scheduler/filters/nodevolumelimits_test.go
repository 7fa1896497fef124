package filters

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// attaches is a CSINode with one driver. It has no limit if that is negative.
func attaches(node, driver string, limit int32) *storagev1.CSINode {
	n := &storagev1.CSINode{ObjectMeta: named(node), Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{{Name: driver}}}}
	if limit >= 0 {
		n.Spec.Drivers[0].Allocatable = &storagev1.VolumeNodeResources{Count: &limit}
	}
	return n
}

// attachment attaches a volume to a node.
func attachment(name, node, attacher, volume string) *storagev1.VolumeAttachment {
	a := &storagev1.VolumeAttachment{ObjectMeta: named(name)}
	a.Spec.NodeName, a.Spec.Attacher = node, attacher
	if volume != "" {
		a.Spec.Source.PersistentVolumeName = &volume
	}
	return a
}

// csiVolume are a claim with the volume of a driver that it is bound to.
func csiVolume(claim, driver string) []metav1.Object {
	return []metav1.Object{pvc(claim, "fast", bound("v-"+claim)), pv("v-"+claim, "fast", csi(driver, "h-"+claim))}
}

// together puts lists of objects together.
func together(lists ...[]metav1.Object) []metav1.Object {
	var out []metav1.Object
	for _, list := range lists {
		out = append(out, list...)
	}
	return out
}

func TestNodeVolumeLimits(t *testing.T) {
	const full = "a: VolumeLimit a"
	a := node("a")
	x, y, z := csiVolume("x", "csi"), csiVolume("y", "csi"), csiVolume("z", "other")
	volumes := together(x, y, z, []metav1.Object{a})
	with := func(pod *corev1.Pod, objects ...metav1.Object) storageCase {
		return liveSnapshot(pod, together(volumes, objects)...)
	}
	one, two := attaches("a", "csi", 1), attaches("a", "csi", 2)
	user := on("a", "q", podWith("y"))
	ended := on("a", "r", podWith("y"))
	ended.Status.Phase = corev1.PodFailed
	waiting := pvc("w", "fast")
	gone := pvc("w", "fast", bound("gone"))
	runStorage(t, NodeVolumeLimits, map[string]storageTest{
		"no claims":                            {with(podWith(), attaches("a", "csi", 0)), "", ""},
		"no CSINode":                           {with(podWith("x"), user), "", ""},
		"no limit":                             {with(podWith("x"), attaches("a", "csi", -1), user), "", ""},
		"the limit of another driver":          {with(podWith("z"), attaches("a", "csi", 0)), "", ""},
		"room for one":                         {with(podWith("x"), one), "", ""},
		"full":                                 {with(podWith("x"), one, user), full, "the node can attach 1 volume of driver csi; it has 1, and the pod brings 1 more"},
		"volumes of another driver":            {with(podWith("x"), one, on("a", "q", podWith("z"))), "", ""},
		"two at once":                          {with(podWith("x", "y"), one), full, "it has 0, and the pod brings 2 more"},
		"a volume counts once":                 {with(podWith("x"), two, on("a", "q", podWith("y")), on("a", "r", podWith("y"))), "", ""},
		"the pod's own volume is there":        {with(podWith("y"), one, user), "", ""},
		"a pod that has ended":                 {with(podWith("x"), one, ended), "", ""},
		"a claim twice in the pod":             {with(podWith("x", "x"), one), "", ""},
		"a pod that waits for room":            {with(podWith("x"), one, waits("a", "q", podWith("y"))), full, ""},
		"attached, of no pod":                  {with(podWith("x"), one, attachment("at", "a", "csi", "v-y")), full, ""},
		"attached, of a pod":                   {with(podWith("x"), two, user, attachment("at", "a", "csi", "v-y")), "", ""},
		"attached to another node":             {with(podWith("x"), one, attachment("at", "b", "csi", "v-y")), "", ""},
		"attached, without volume":             {with(podWith("x"), one, attachment("at", "a", "csi", "")), "", ""},
		"attached, the volume is gone":         {with(podWith("x"), one, attachment("at", "a", "csi", "gone")), "", ""},
		"attached, the pod's own counts twice": {with(podWith("x"), one, attachment("at", "a", "csi", "v-x")), full, ""},
		"a claim that does not exist":          {with(podWith("gone"), one), "*: VolumeUnbound", "the volume claim ml/gone does not exist"},
		"a claim of others that is gone":       {with(podWith("x"), one, on("a", "q", podWith("gone"))), "", ""},
		"waits for a volume":                   {with(podWith("w"), waiting, late("fast", "csi"), one, user), full, ""},
		"waits for a volume, no class":         {with(podWith("w"), pvc("w", ""), one, user), "", ""},
		"waits for a volume, class is gone":    {with(podWith("w"), waiting, one, user), "", ""},
		"volume is gone, the class counts":     {with(podWith("w"), gone, late("fast", "csi"), one, user), full, ""},
		"others wait for a volume":             {with(podWith("x"), waiting, late("fast", "csi"), one, on("a", "q", podWith("w"))), full, ""},
		"not by CSI":                           {with(podWith("w"), pvc("w", "fast", bound("nfs")), pv("nfs", "fast"), one, user), "", ""},
		"ephemeral, another's":                 {with(podWith("ephemeral"), pvc("p-v0", "fast", bound("v-y"), ownedBy("q")), one), "*: VolumeUnbound", ""},
		"ephemeral, its own":                   {with(podWith("ephemeral"), pvc("p-v0", "fast", bound("v-x"), ownedBy("p")), one, user), full, ""},
		"CSINodes not read":                    {with(podWith("x")).without(inspect.CSINodes), "a: [csinodes]", ""},
		"attachments not read":                 {with(podWith("x"), one).without(inspect.VolumeAttachments), "a: [volumeattachments]", ""},
		"attachments not read, full anyway":    {with(podWith("x"), one, user).without(inspect.VolumeAttachments), full, ""},
		"attachments not read, no limit":       {with(podWith("x"), attaches("a", "csi", -1)).without(inspect.VolumeAttachments), "", ""},
		"pods not read":                        {with(podWith("x"), one).without(inspect.Pods), "a: [pods]", ""},
		"its volume not read":                  {with(podWith("w"), gone, one).without(inspect.Volumes), "a: [persistentvolumes]", ""},
		"its class not read":                   {with(podWith("w"), waiting, one).without(inspect.StorageClasses), "a: [storageclasses]", ""},
		"nodes not known":                      {liveSnapshot(podWith("x"), x...).asFiles(), "any-node: [csinodes]", ""},
	})
}

// TestBrokenCounts: a node where the scheduler cannot count the volumes, because of which it gives up on the
// pod altogether.
func TestBrokenCounts(t *testing.T) {
	x := csiVolume("x", "csi")
	objects := together(x, []metav1.Object{node("a"), node("b"), pvc("q-v0", "fast", ownedBy("other")), on("a", "q", podWith("ephemeral"))})
	untranslated := together(x, []metav1.Object{node("a"), node("b"), on("a", "q", aws("aws://", false))})
	migrates := attaches("a", "csi", 5)
	migrates.Annotations = map[string]string{corev1.MigratedPluginsAnnotationKey: "kubernetes.io/aws-ebs"}
	migrated := liveSnapshot(aws("vol-1", false), append(objects, migrates)...)
	migrated.minor = 35
	runStorage(t, NodeVolumeLimits, map[string]storageTest{
		"its own counts on a":   {migrated, "a: VolumeLimit; b: []", "the scheduler gives up on the pod as soon as it looks at node a"},
		"without limits":        {liveSnapshot(podWith("x"), objects...), "", ""},
		"with a limit":          {liveSnapshot(podWith("x"), append(objects, attaches("a", "csi", 5))...), "a: VolumeLimit; b: []", "the volume claim ml/q-v0 was not made for pod ml/q"},
		"with a limit, no CSI":  {liveSnapshot(podWith(), append(objects, attaches("a", "csi", 5))...), "", ""},
		"a disk, with a limit":  {liveSnapshot(podWith("x"), append(untranslated, attaches("a", "csi", 5))...), "a: VolumeLimit; b: []", "the scheduler gives up on the pod as soon as it looks at node a"},
		"the pod's own disk":    {liveSnapshot(aws("aws://", false), node("a"), node("b"), attaches("a", "csi", 5)), "*: []; a: VolumeNode", "the pod's volume disk cannot be served by its CSI driver"},
		"its own, migrated not": {liveSnapshot(aws("aws://", false), node("a"), node("b")), "", ""},
	})
}

// TestBrokenCountsEnd: the pod ends because of which the scheduler gives up.
func TestBrokenCountsEnd(t *testing.T) {
	c := liveSnapshot(podWith("x"), together(csiVolume("x", "csi"), []metav1.Object{node("a"), node("b"), on("a", "q", aws("aws://", false)), attaches("a", "csi", 5)})...)
	broken := func(p *Prepared) string { return fmt.Sprintf("%+v%+v", p.On("a"), p.On("b")) }
	p := NewIndex(c.snapshot(), nil).Prepare(c.pod)
	const why = "cannot count the volumes"
	if before, after := broken(p), broken(p.Without(inspect.PodRef{Namespace: "ml", Name: "q"})); !strings.Contains(before, why) || strings.Contains(after, why) {
		t.Errorf("%s with the pod, %s without it", before, after)
	}
}

// TestMigratedLimits: disks of what Kubernetes once had built in count for the CSI driver that serves them
// now.
func TestMigratedLimits(t *testing.T) {
	const driver, full = "ebs.csi.aws.com", "a: VolumeLimit a"
	a := node("a")
	one := attaches("a", driver, 1)
	none, says := attaches("a", "pxd.portworx.com", 0), attaches("a", "pxd.portworx.com", 0)
	says.Annotations = map[string]string{corev1.MigratedPluginsAnnotationKey: "kubernetes.io/portworx-volume"}
	user := on("a", "q", aws("vol-2", false))
	ebs := func(v *corev1.PersistentVolume) {
		v.Spec.AWSElasticBlockStore = &corev1.AWSElasticBlockStoreVolumeSource{VolumeID: "vol-1"}
	}
	portworx := func(v *corev1.PersistentVolume) {
		v.Spec.PortworxVolume = &corev1.PortworxVolumeSource{VolumeID: "vol-1"}
	}
	file := func(v *corev1.PersistentVolume) {
		v.Spec.AzureFile = &corev1.AzureFilePersistentVolumeSource{ShareName: "s", SecretName: "s"}
	}
	at := func(minor int, c storageCase) storageCase { c.minor = minor; return c }
	runStorage(t, NodeVolumeLimits, map[string]storageTest{
		"a disk":                     {liveSnapshot(aws("vol-1", false), a, one, user), full, ""},
		"the same disk":              {liveSnapshot(aws("vol-2", false), a, one, user), "", ""},
		"a volume":                   {liveSnapshot(podWith("x"), a, one, user, pvc("x", "fast", bound("v")), pv("v", "fast", ebs)), full, ""},
		"a class":                    {liveSnapshot(podWith("x"), a, one, user, pvc("x", "gp2"), late("gp2", "kubernetes.io/aws-ebs")), full, ""},
		"a plugin that is not asked": {liveSnapshot(podWith("x"), a, attaches("a", "file.csi.azure.com", 0), pvc("x", "fast", bound("v")), pv("v", "fast", file)), "", ""},
		"1.35":                       {at(35, liveSnapshot(aws("vol-1", false), a, one, user)), full, ""},
		"1.35, Portworx":             {at(35, liveSnapshot(podWith("x"), a, none, pvc("x", "fast", bound("v")), pv("v", "fast", portworx))), "", ""},
		"1.35, the node says it":     {at(35, liveSnapshot(podWith("x"), a, says, pvc("x", "fast", bound("v")), pv("v", "fast", portworx))), full, ""},
		"1.36, Portworx":             {at(36, liveSnapshot(podWith("x"), a, none, pvc("x", "fast", bound("v")), pv("v", "fast", portworx))), full, ""},
	})
}

// TestMissingDriver: since 1.37 a node without the driver is refused if the driver wants that.
func TestMissingDriver(t *testing.T) {
	wants := func(name string) *storagev1.CSIDriver {
		return &storagev1.CSIDriver{ObjectMeta: named(name), Spec: storagev1.CSIDriverSpec{PreventPodSchedulingIfMissing: ptr.To(true)}}
	}
	x := csiVolume("x", "csi")
	of := func(minor int, gates map[inspect.Gate]bool, objects ...metav1.Object) storageCase {
		c := liveSnapshot(podWith("x"), together(x, objects)...)
		c.minor, c.gates = minor, gates
		return c
	}
	on := map[inspect.Gate]bool{inspect.GateVolumeLimitScaling: true}
	off := map[inspect.Gate]bool{inspect.GateVolumeLimitScaling: false}
	a, b := node("a"), node("b")
	const missing = "a: VolumeNode csi"
	runStorage(t, NodeVolumeLimits, map[string]storageTest{
		"wanted, no CSINode":      {of(37, nil, a, wants("csi")), missing, "the CSI driver csi, which serves the claim ml/x, is not installed on the node"},
		"wanted, another driver":  {of(37, nil, a, b, wants("csi"), attaches("a", "other", 1), attaches("b", "csi", 1)), missing, ""},
		"not wanted":              {of(37, nil, a, driver("csi", true)), "", ""},
		"no CSIDriver":            {of(37, nil, a), "", ""},
		"drivers not read":        {of(37, nil, a, b, attaches("b", "csi", 1)).without(inspect.CSIDrivers), "a: [csidrivers]", "whether it has to be could not be read"},
		"wanted, the gate is off": {of(37, off, a, wants("csi")), "", ""},
		"1.36":                    {of(36, nil, a, wants("csi")), "", ""},
		"1.36, the gate is on":    {of(36, on, a, wants("csi")), missing, ""},
		"1.35, the gate is on":    {of(35, on, a, driver("csi", true)), missing, ""}, // where drivers could not say
		"1.36, on, not wanted":    {of(36, on, a, driver("csi", true)), "", ""},
	})
}

// TestVolumeAttributes: before 1.36 the gate could be off.
func TestVolumeAttributes(t *testing.T) {
	gold := func(c *corev1.PersistentVolumeClaim) { c.Spec.VolumeAttributesClassName = ptr.To("gold") }
	golden := func(v *corev1.PersistentVolume) { v.Spec.VolumeAttributesClassName = ptr.To("gold") }
	of := func(on bool, objects ...metav1.Object) storageCase {
		c := liveSnapshot(podWith("x"), append(objects, node("a"), late("local", noProvisioner))...)
		c.minor, c.gates = 35, map[inspect.Gate]bool{inspect.GateVolumeAttributesClass: on}
		return c
	}
	runStorage(t, VolumeBinding, map[string]storageTest{
		"both have it":           {of(true, pvc("x", "local", gold), pv("v", "local", golden)), "", ""},
		"only the claim":         {of(true, pvc("x", "local", gold), pv("v", "local")), "a: VolumeUnbound local", ""},
		"off, the claim has it":  {of(false, pvc("x", "local", gold), pv("v", "local", golden)), "*: VolumeUnbound", "gate VolumeAttributesClass is off"},
		"off, the volume has it": {of(false, pvc("x", "local"), pv("v", "local", golden)), "a: VolumeUnbound local", ""},
		"off, none has it":       {of(false, pvc("x", "local"), pv("v", "local")), "", ""},
	})
}
