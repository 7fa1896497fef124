package filters

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// disk is pod ml/p with a disk of its own.
func disk(source corev1.VolumeSource) *corev1.Pod {
	p := podWith()
	p.Spec.Volumes = []corev1.Volume{{Name: "disk", VolumeSource: source}}
	return p
}

func gce(name string, readOnly bool) *corev1.Pod {
	return disk(corev1.VolumeSource{GCEPersistentDisk: &corev1.GCEPersistentDiskVolumeSource{PDName: name, ReadOnly: readOnly}})
}

func aws(id string, readOnly bool) *corev1.Pod {
	return disk(corev1.VolumeSource{AWSElasticBlockStore: &corev1.AWSElasticBlockStoreVolumeSource{VolumeID: id, ReadOnly: readOnly}})
}

func iscsi(iqn, portal string, readOnly bool) *corev1.Pod {
	return disk(corev1.VolumeSource{ISCSI: &corev1.ISCSIVolumeSource{IQN: iqn, TargetPortal: portal, ReadOnly: readOnly}})
}

func rbd(pool, image string, readOnly bool, monitors ...string) *corev1.Pod {
	return disk(corev1.VolumeSource{RBD: &corev1.RBDVolumeSource{RBDPool: pool, RBDImage: image, ReadOnly: readOnly, CephMonitors: monitors}})
}

// waits makes a pod wait for room on a node under another name.
func waits(node, name string, p *corev1.Pod) *corev1.Pod {
	p = on("", name, p)
	p.Status.NominatedNodeName = node
	return p
}

// TestDisks: pods on a node that name the same disk.
func TestDisks(t *testing.T) {
	const taken = "a: VolumeInUse"
	a, b := node("a"), node("b")
	runStorage(t, VolumeRestrictions, map[string]storageTest{
		"GCE, both write":                {liveSnapshot(gce("d", false), a, b, on("a", "q", gce("d", false))), taken, "the disk of the pod's volume disk is in use on the node by pod ml/q"},
		"GCE, one reads":                 {liveSnapshot(gce("d", true), a, b, on("a", "q", gce("d", false))), taken, ""},
		"GCE, the other reads":           {liveSnapshot(gce("d", false), a, b, on("a", "q", gce("d", true))), taken, ""},
		"GCE, both read":                 {liveSnapshot(gce("d", true), a, b, on("a", "q", gce("d", true))), "", ""},
		"GCE, another disk":              {liveSnapshot(gce("d", false), a, b, on("a", "q", gce("e", false))), "", ""},
		"AWS, both read":                 {liveSnapshot(aws("d", true), a, b, on("a", "q", aws("d", true))), taken, ""},
		"AWS, another disk":              {liveSnapshot(aws("d", true), a, b, on("a", "q", aws("e", true))), "", ""},
		"iSCSI, one name at two portals": {liveSnapshot(iscsi("iqn", "x", false), a, b, on("a", "q", iscsi("iqn", "y", true))), taken, ""},
		"iSCSI, both read":               {liveSnapshot(iscsi("iqn", "x", true), a, b, on("a", "q", iscsi("iqn", "x", true))), "", ""},
		"iSCSI, another name":            {liveSnapshot(iscsi("iqn", "x", false), a, b, on("a", "q", iscsi("other", "x", false))), "", ""},
		"RBD, one monitor in common":     {liveSnapshot(rbd("p", "i", false, "m1", "m2"), a, b, on("a", "q", rbd("p", "i", false, "m2", "m3"))), taken, ""},
		"RBD, no monitor in common":      {liveSnapshot(rbd("p", "i", false, "m1"), a, b, on("a", "q", rbd("p", "i", false, "m2"))), "", ""},
		"RBD, another pool":              {liveSnapshot(rbd("p", "i", false, "m1"), a, b, on("a", "q", rbd("o", "i", false, "m1"))), "", ""},
		"RBD, another image":             {liveSnapshot(rbd("p", "i", false, "m1"), a, b, on("a", "q", rbd("p", "j", false, "m1"))), "", ""},
		"RBD, both read":                 {liveSnapshot(rbd("p", "i", true, "m1"), a, b, on("a", "q", rbd("p", "i", true, "m1"))), "", ""},
		"a disk of another kind":         {liveSnapshot(aws("d", false), a, b, on("a", "q", gce("d", false))), "", ""},
		"a pod that waits for room":      {liveSnapshot(gce("d", false), a, b, waits("b", "q", gce("d", false))), "b: VolumeInUse", ""},
		"pods not read":                  {liveSnapshot(gce("d", false), a, b).without("pods"), "*: [pods]", ""},
		"a pod on each node":             {liveSnapshot(gce("d", false), a, b, on("a", "q", gce("d", false)), on("b", "r", gce("d", false))), "a: VolumeInUse; b: VolumeInUse", "by pod ml/r"},
	})
}

// TestReadWriteOncePod: claims that serve one pod in the whole cluster.
func TestReadWriteOncePod(t *testing.T) {
	const everyNode = "a: VolumeInUse; b: VolumeInUse"
	a, b := node("a"), node("b")
	once := func(name string) claimChange { return access(corev1.ReadWriteOncePod) }
	mine := pvc("mine", "fast", once(""), bound("v"))
	ended := on("a", "q", podWith("mine"))
	ended.Status.Phase = corev1.PodSucceeded
	elsewhere := on("a", "q", podWith("mine"))
	elsewhere.Namespace = "other"
	ephemeral := podWith("ephemeral")
	own := pvc("p-v0", "fast", once(""), ownedBy("p"))
	both := podWith("mine")
	both.Spec.Volumes = append(both.Spec.Volumes, gce("d", false).Spec.Volumes...)
	stranger := waits("b", "q", podWith("mine"))
	stranger.Namespace = "other"
	runStorage(t, VolumeRestrictions, map[string]storageTest{
		"free":                              {liveSnapshot(podWith("mine"), a, b, mine), "", ""},
		"in use":                            {liveSnapshot(podWith("mine"), a, b, mine, on("a", "q", podWith("mine"))), everyNode, "the volume claim ml/mine serves only one pod (ReadWriteOncePod), and pod ml/q has it"},
		"in use on a node that is gone":     {liveSnapshot(podWith("mine"), a, b, mine, on("c", "q", podWith("mine"))), "", ""},
		"its user has ended":                {liveSnapshot(podWith("mine"), a, b, mine, ended), "", ""},
		"another namespace":                 {liveSnapshot(podWith("mine"), a, b, mine, elsewhere), "", ""},
		"other access modes are no concern": {liveSnapshot(podWith("mine"), a, b, pvc("mine", "fast", bound("v")), on("a", "q", podWith("mine"))), "", ""},
		"an ephemeral volume":               {liveSnapshot(ephemeral, a, b, own, on("a", "q", podWith("p-v0"))), "", ""},
		"pods not read, one has it":         {liveSnapshot(podWith("mine"), a, b, mine, on("a", "q", podWith("mine"))).without("pods"), everyNode, ""},
		"pods not read":                     {liveSnapshot(podWith("mine"), a, b, mine).without("pods"), "*: [pods]", ""},
		"a missing claim":                   {liveSnapshot(podWith("gone"), a, b), "*: VolumeUnbound", "the volume claim ml/gone does not exist"},
		"a claim that could not be read":    {liveSnapshot(podWith("gone"), a, b).without("persistentvolumeclaims"), "*: [persistentvolumeclaims]", ""},
		// The scheduler does not ask the plugin at all about a pod with neither a disk nor a claim in use, so
		// one that waits for room does not count; if it does ask, it counts claims of any namespace.
		"a pod that waits for room":                 {liveSnapshot(podWith("mine"), a, b, mine, waits("b", "q", podWith("mine"))), "", ""},
		"a pod that waits, beside a disk":           {liveSnapshot(both, a, b, mine, waits("b", "q", podWith("mine"))), "b: VolumeInUse", ""},
		"a pod of another namespace, beside a disk": {liveSnapshot(both, a, b, mine, stranger), "b: VolumeInUse", ""},
	})
}
