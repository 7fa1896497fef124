package filters

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// TestVolumeBindingEverywhere: claims because of which a pod runs nowhere.
func TestVolumeBindingEverywhere(t *testing.T) {
	const nowhere = "*: VolumeUnbound"
	a := node("a")
	lost := pvc("data", "fast", bound("v"))
	lost.Status.Phase = corev1.ClaimLost
	modeless := &storagev1.StorageClass{ObjectMeta: named("fast"), Provisioner: "csi"}
	runStorage(t, VolumeBinding, map[string]storageTest{
		"no claims":             {liveSnapshot(podWith(), a), "", ""},
		"missing":               {liveSnapshot(podWith("data"), a), nowhere, "the volume claim ml/data does not exist"},
		"missing, in files":     {liveSnapshot(podWith("data"), a).asFiles(), nowhere, ""},
		"not read":              {liveSnapshot(podWith("data"), a).without(inspect.VolumeClaims), "*: [persistentvolumeclaims]", "could not be read"},
		"in another namespace":  {liveSnapshot(podWith("data"), a, &corev1.PersistentVolumeClaim{ObjectMeta: in("other", "data")}), nowhere, ""},
		"lost":                  {liveSnapshot(podWith("data"), a, lost, pv("v", "fast")), nowhere, "has lost its volume v"},
		"being deleted":         {liveSnapshot(podWith("data"), a, pvc("data", "fast", bound("v"), deletedClaim), pv("v", "fast")), nowhere, "is being deleted"},
		"ephemeral, not there":  {liveSnapshot(podWith("ephemeral"), a), nowhere, "ml/p-v0, which is made for the pod, does not exist yet"},
		"ephemeral, another's":  {liveSnapshot(podWith("ephemeral"), a, pvc("p-v0", "fast", bound("v"), ownedBy("q")), pv("v", "fast")), nowhere, "was not made for the pod"},
		"ephemeral, its own":    {liveSnapshot(podWith("ephemeral"), a, pvc("p-v0", "fast", bound("v"), ownedBy("p")), pv("v", "fast")), "", ""},
		"immediate":             {liveSnapshot(podWith("data"), a, pvc("data", "fast"), early("fast", "csi")), nowhere, "binds at once, before a node is chosen"},
		"without class":         {liveSnapshot(podWith("data"), a, pvc("data", "")), nowhere, "has no storage class"},
		"class does not exist":  {liveSnapshot(podWith("data"), a, pvc("data", "fast")), nowhere, "its storage class fast does not exist"},
		"class not read":        {liveSnapshot(podWith("data"), a, pvc("data", "fast")).without(inspect.StorageClasses), "*: [storageclasses]", ""},
		"class without mode":    {liveSnapshot(podWith("data"), a, pvc("data", "fast"), modeless), nowhere, "has no volumeBindingMode"},
		"names a volume, late":  {liveSnapshot(podWith("data"), a, pvc("data", "fast", prebound("v")), late("fast", "csi"), pv("v", "fast")), nowhere, "names the volume v and is not bound to it yet"},
		"volume does not exist": {liveSnapshot(podWith("data"), a, pvc("data", "fast", bound("v"))), "a: VolumeUnbound", "the volume v, to which the claim ml/data is bound, does not exist"},
		"volume not read":       {liveSnapshot(podWith("data"), a, pvc("data", "fast", bound("v"))).without(inspect.Volumes), "*: [persistentvolumes]", ""},
		"two that are missing":  {liveSnapshot(podWith("data", "logs", "logs"), a), "*: VolumeUnbound, VolumeUnbound", "ml/logs"},
		"invalid selector": {liveSnapshot(podWith("data"), a, late("fast", "csi"), pvc("data", "fast", func(c *corev1.PersistentVolumeClaim) {
			c.Spec.Selector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "k", Operator: "near"}}}
		})), nowhere, "is invalid"},
		// Volumes that there are already are not looked at, so neither is the selector.
		"invalid selector, node chosen": {liveSnapshot(podWith("data"), a, late("fast", "csi"), pvc("data", "fast", nodeChosen("a"), func(c *corev1.PersistentVolumeClaim) {
			c.Spec.Selector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "k", Operator: "near"}}}
		})), "", ""},
		"the annotation for the class counts first": {liveSnapshot(podWith("data"), a, late("fast", "csi"), pvc("data", "fast", func(c *corev1.PersistentVolumeClaim) {
			c.Annotations = map[string]string{corev1.BetaStorageClassAnnotation: "gone"}
		})), nowhere, "its storage class gone does not exist"},
	})
}

// TestBoundVolumes: claims that are bound to a volume which not all nodes reach.
func TestBoundVolumes(t *testing.T) {
	a, b := node("a", zone, "z1"), node("b", zone, "z2")
	data := pvc("data", "fast", bound("v"))
	invalid := func(v *corev1.PersistentVolume) {
		nodesIn(zone, "z1")(v)
		v.Spec.NodeAffinity.Required.NodeSelectorTerms[0].MatchExpressions[0].Operator = "Near"
	}
	runStorage(t, VolumeBinding, map[string]storageTest{
		"reached by all":          {liveSnapshot(podWith("data"), a, b, data, pv("v", "fast")), "", ""},
		"reached by one":          {liveSnapshot(podWith("data"), a, b, data, pv("v", "fast", nodesIn(zone, "z1"))), "b: VolumeNode v", "the claim ml/data is bound to volume v, which only nodes with topology.kubernetes.io/zone=z1 reach"},
		"reached by none":         {liveSnapshot(podWith("data"), a, b, data, pv("v", "fast", nodesIn(zone, "z3", "z4"))), "a: VolumeNode v; b: VolumeNode v", "topology.kubernetes.io/zone in (z3, z4)"},
		"an invalid affinity":     {liveSnapshot(podWith("data"), a, data, pv("v", "fast", invalid)), "a: VolumeNode v", ""},
		"fields select all nodes": {liveSnapshot(podWith("data"), a, b, data, pv("v", "fast", onlyField("a"))), "", ""},
		"two claims, one each": {liveSnapshot(podWith("data", "logs"), a, b, data, pvc("logs", "fast", bound("w")), pv("v", "fast", nodesIn(zone, "z1")), pv("w", "fast", nodesIn(zone, "z2"))),
			"a: VolumeNode w; b: VolumeNode v", ""},
		"nodes not known":            {storageCase{objects: []metav1.Object{data, pv("v", "fast", nodesIn(zone, "z1"))}, pod: podWith("data")}.asFiles(), "any-node: [nodes]", "depends on their labels"},
		"nodes not known, no matter": {storageCase{objects: []metav1.Object{data, pv("v", "fast")}, pod: podWith("data")}.asFiles(), "", ""},
	})
}

// TestMigratedVolumes: volumes of what Kubernetes once had built in, on nodes that serve them by a CSI driver
// and on others.
func TestMigratedVolumes(t *testing.T) {
	const driverZone = "topology.ebs.csi.aws.com/zone"
	// Node a has only the label of the CSI driver, node b only the general one.
	a, b := node("a", driverZone, "z1"), node("b", zone, "z1")
	ebs := func(v *corev1.PersistentVolume) {
		v.Spec.AWSElasticBlockStore = &corev1.AWSElasticBlockStoreVolumeSource{VolumeID: "vol-1"}
		nodesIn(zone, "z1")(v)
	}
	migrated := func(node, plugins string) *storagev1.CSINode {
		n := &storagev1.CSINode{ObjectMeta: named(node)}
		n.Annotations = map[string]string{corev1.MigratedPluginsAnnotationKey: plugins}
		return n
	}
	data := pvc("data", "fast", bound("v"))
	file := func(v *corev1.PersistentVolume) {
		v.Spec.AzureFile = &corev1.AzureFilePersistentVolumeSource{ShareName: "s", SecretName: "s"}
		nodesIn(zone, "z1")(v)
	}
	broken := func(v *corev1.PersistentVolume) {
		ebs(v)
		v.Spec.AWSElasticBlockStore.VolumeID = "aws://"
	}
	noNodes := func(v *corev1.PersistentVolume) {
		broken(v)
		v.Spec.NodeAffinity = nil
	}
	runStorage(t, VolumeBinding, map[string]storageTest{
		"no node says it has migrated": {liveSnapshot(podWith("data"), a, b, data, pv("v", "fast", ebs)), "a: VolumeNode v", ""},
		"both have migrated": {liveSnapshot(podWith("data"), a, b, data, pv("v", "fast", ebs),
			migrated("a", "kubernetes.io/gce-pd,kubernetes.io/aws-ebs"), migrated("b", "kubernetes.io/aws-ebs")), "b: VolumeNode v", driverZone + "=z1"},
		"migrated from something else": {liveSnapshot(podWith("data"), a, b, data, pv("v", "fast", ebs), migrated("a", "kubernetes.io/cinder")), "a: VolumeNode v", ""},
		"a plugin that is not looked at": {liveSnapshot(podWith("data"), a, b, data, pv("v", "fast", file), migrated("a", "kubernetes.io/azure-file"), migrated("b", "kubernetes.io/azure-file")),
			"a: VolumeNode v", ""},
		"cannot be translated":                        {liveSnapshot(podWith("data"), b, data, pv("v", "fast", broken), migrated("b", "kubernetes.io/aws-ebs")), "*: []; b: VolumeNode v", "cannot be served by its CSI driver"},
		"cannot be translated, another node would do": {liveSnapshot(podWith("data"), a, b, data, pv("v", "fast", noNodes), migrated("b", "kubernetes.io/aws-ebs")), "*: []; b: VolumeNode v", "may then place the pod on no node"},
		"cannot be translated, which nobody wants":    {liveSnapshot(podWith("data"), a, b, data, pv("v", "fast", noNodes)), "", ""},
		"CSINodes not read":                           {liveSnapshot(podWith("data"), a, b, data, pv("v", "fast", ebs)).without(inspect.CSINodes), "a: [csinodes]; b: [csinodes]", ""},
	})
}

// TestProvisioning: volumes that are made once a node has been chosen.
func TestProvisioning(t *testing.T) {
	a, b := node("a", zone, "z1"), node("b", zone, "z2")
	fast, tracks := late("fast", "csi"), driver("csi", true)
	data := pvc("data", "fast")
	unreachable := room("c", "fast", "1Ti", "")
	unreachable.NodeTopology = nil
	invalid := room("c", "fast", "1Ti", "")
	invalid.NodeTopology.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: "k", Operator: "near"}}
	empty := allowed(late("fast", "csi"), zone)
	empty.AllowedTopologies = []corev1.TopologySelectorTerm{{}}
	runStorage(t, VolumeBinding, map[string]storageTest{
		"no CSIDriver":                 {liveSnapshot(podWith("data"), a, b, fast, data), "", ""},
		"a CSIDriver that is not read": {liveSnapshot(podWith("data"), a, fast, data).without(inspect.CSIDrivers), "a: [csidrivers]", "which says whether the scheduler looks at what is left"},
		"not read, and enough room":    {liveSnapshot(podWith("data"), a, fast, data, room("c", "fast", "1Ti", "")).without(inspect.CSIDrivers), "", ""},
		"capacity is not looked at":    {liveSnapshot(podWith("data"), a, b, fast, data, driver("csi", false)), "", ""},
		"nothing is said of capacity":  {liveSnapshot(podWith("data"), a, fast, data, &storagev1.CSIDriver{ObjectMeta: named("csi")}), "", ""},
		"no capacity at all":           {liveSnapshot(podWith("data"), a, b, fast, data, tracks), "a: VolumeCapacity; b: VolumeCapacity", "no storage capacity of that class reaches the node"},
		"capacities not read":          {liveSnapshot(podWith("data"), a, fast, data, tracks).without(inspect.StorageCapacities), "a: [csistoragecapacities]", ""},
		"room on one node": {liveSnapshot(podWith("data"), a, b, fast, data, tracks, room("c", "fast", "10Gi", "", zone, "z1"), room("d", "fast", "9Gi", "", zone, "z2")),
			"b: VolumeCapacity d", "the claim ml/data asks for 10Gi of class fast; the node can have at most 9Gi (CSIStorageCapacity d)"},
		"the largest volume counts":            {liveSnapshot(podWith("data"), a, fast, data, tracks, room("c", "fast", "1Ti", "5Gi")), "a: VolumeCapacity c", "5Gi (maximumVolumeSize of CSIStorageCapacity c)"},
		"the largest volume is enough":         {liveSnapshot(podWith("data"), a, fast, data, tracks, room("c", "fast", "1Gi", "10Gi")), "", ""},
		"no size is no room":                   {liveSnapshot(podWith("data"), a, fast, data, tracks, room("c", "fast", "", "")), "a: VolumeCapacity c", "c, which the node reaches, does not say at the moment what is left"},
		"capacities do not add up":             {liveSnapshot(podWith("data"), a, fast, data, tracks, room("c", "fast", "6Gi", ""), room("d", "fast", "7Gi", "")), "a: VolumeCapacity d", ""},
		"no topology reaches nobody":           {liveSnapshot(podWith("data"), a, fast, data, tracks, unreachable), "a: VolumeCapacity", ""},
		"an invalid topology reaches nobody":   {liveSnapshot(podWith("data"), a, fast, data, tracks, invalid), "a: VolumeCapacity", ""},
		"another class":                        {liveSnapshot(podWith("data"), a, fast, data, tracks, room("c", "slow", "1Ti", "")), "a: VolumeCapacity", ""},
		"each claim is compared alone":         {liveSnapshot(podWith("data", "logs"), a, fast, data, pvc("logs", "fast"), tracks, room("c", "fast", "10Gi", "")), "", ""},
		"two claims, one too large":            {liveSnapshot(podWith("data", "logs"), a, fast, data, pvc("logs", "fast", size("11Gi")), tracks, room("c", "fast", "10Gi", "")), "a: VolumeCapacity c", "ml/logs asks for 11Gi"},
		"no size is asked for":                 {liveSnapshot(podWith("data"), a, fast, pvc("data", "fast", sizeless), tracks), "", ""},
		"a fraction of a byte":                 {liveSnapshot(podWith("data"), a, fast, pvc("data", "fast", size("1500m")), tracks, room("c", "fast", "1", "")), "a: VolumeCapacity c", ""},
		"the class allows one zone":            {liveSnapshot(podWith("data"), a, b, allowed(late("fast", "csi"), zone, "z1"), data), "b: VolumeNode fast", "makes volumes only for nodes with topology.kubernetes.io/zone=z1"},
		"the class allows one of two":          {liveSnapshot(podWith("data"), a, b, allowed(allowed(late("fast", "csi"), zone, "z1"), host, "b"), data), "", ""},
		"an empty term allows nothing":         {liveSnapshot(podWith("data"), a, empty, data), "a: VolumeNode fast", ""},
		"both the topology and room are asked": {liveSnapshot(podWith("data"), a, b, allowed(late("fast", "csi"), zone, "z1"), data, tracks, room("c", "fast", "1Gi", "")), "a: VolumeCapacity c; b: VolumeNode fast", ""},
		"no provisioner":                       {liveSnapshot(podWith("data"), a, late("fast", "kubernetes.io/no-provisioner"), data), "a: VolumeUnbound fast", "the claim ml/data needs a volume of class fast, and the node reaches none"},
		"a node was chosen":                    {liveSnapshot(podWith("data"), a, b, fast, pvc("data", "fast", nodeChosen("a"))), "b: VolumeNode a", "is being made for node a"},
		"a node was chosen, without room":      {liveSnapshot(podWith("data"), a, b, fast, pvc("data", "fast", nodeChosen("a")), tracks), "a: VolumeCapacity; b: VolumeNode a", ""},
		// For a claim whose node is chosen a volume is made, whatever volumes there are.
		"a node was chosen, volumes do not matter": {liveSnapshot(podWith("data"), a, fast, pvc("data", "fast", nodeChosen("a")), tracks, pv("v", "fast")), "a: VolumeCapacity", ""},
		"nodes not known":                          {liveSnapshot(podWith("data"), fast, data, tracks, room("c", "fast", "1Ti", "", zone, "z1")).asFiles(), "any-node: [nodes]", ""},
		"nodes not known, room for all":            {liveSnapshot(podWith("data"), fast, data, tracks, room("c", "fast", "1Ti", "")).asFiles(), "", ""},
	})
}

// TestExistingVolumes: volumes that there are already, for claims that are bound once a node has been chosen.
func TestExistingVolumes(t *testing.T) {
	a, b := node("a", zone, "z1"), node("b", zone, "z2")
	local := late("local", noProvisioner)
	data := pvc("data", "local")
	block := func(v *corev1.PersistentVolume) { v.Spec.VolumeMode = ptr.To(corev1.PersistentVolumeBlock) }
	gold := func(v *corev1.PersistentVolume) { v.Spec.VolumeAttributesClassName = ptr.To("gold") }
	deleted := func(v *corev1.PersistentVolume) { v.DeletionTimestamp = &metav1.Time{} }
	labelled := func(v *corev1.PersistentVolume) { v.Labels = map[string]string{"tier": "hot"} }
	wantsHot := func(c *corev1.PersistentVolumeClaim) {
		c.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"tier": "hot"}}
	}
	reader := access(corev1.ReadOnlyMany)
	readable := func(v *corev1.PersistentVolume) { v.Spec.AccessModes = append(v.Spec.AccessModes, corev1.ReadOnlyMany) }
	const none = "a: VolumeUnbound local"
	one := func(changes ...volumeChange) storageCase {
		return liveSnapshot(podWith("data"), a, local, data, pv("v", "local", changes...))
	}
	runStorage(t, VolumeBinding, map[string]storageTest{
		"suits":                         {one(), "", ""},
		"on one node":                   {liveSnapshot(podWith("data"), a, b, local, data, pv("v", "local", nodesIn(host, "b"))), none, "the node reaches none"},
		"too small":                     {one(holds("9Gi")), "a: VolumeUnbound v", "the largest volume that the node reaches and could have is 9Gi (v)"},
		"not available":                 {one(phase(corev1.VolumeReleased)), none, "suits the claim ml/data: 1 not available"},
		"of another claim":              {one(reservedFor("logs")), none, "1 taken"},
		"reserved":                      {one(reservedFor("data"), phase(corev1.VolumePending)), "", ""},
		"reserved, wherever its labels": {liveSnapshot(podWith("data"), a, local, pvc("data", "local", wantsHot, reader), pv("v", "local", reservedFor("data"))), "", ""},
		"reserved, too small":           {one(reservedFor("data"), holds("9Gi")), "a: VolumeUnbound v", ""},
		"reserved on another node keeps from others": {liveSnapshot(podWith("data"), a, b, local, data, pv("v", "local", reservedFor("data"), nodesIn(host, "b")), pv("w", "local")),
			"a: VolumeNode v", "the volume v is reserved for the claim ml/data, and only nodes with kubernetes.io/hostname=b reach it"},
		"reserved on another node, one is made":        {liveSnapshot(podWith("data"), a, b, late("local", "csi"), data, pv("v", "local", reservedFor("data"), nodesIn(host, "b"))), "", ""},
		"of another class":                             {liveSnapshot(podWith("data"), a, local, data, pv("v", "fast")), none, ""},
		"of another mode":                              {one(block), none, "1 of another volumeMode"},
		"of another attributes class":                  {one(gold), none, "1 of another VolumeAttributesClass"},
		"being deleted":                                {one(deleted), none, ""},
		"labels do not match":                          {liveSnapshot(podWith("data"), a, local, pvc("data", "local", wantsHot), pv("v", "local")), none, "1 not matched by its selector"},
		"labels match":                                 {liveSnapshot(podWith("data"), a, local, pvc("data", "local", wantsHot), pv("v", "local", labelled)), "", ""},
		"an access mode lacks":                         {liveSnapshot(podWith("data"), a, local, pvc("data", "local", reader), pv("v", "local")), none, "1 without one of its access modes"},
		"both access modes":                            {liveSnapshot(podWith("data"), a, local, pvc("data", "local", reader), pv("v", "local", readable)), "", ""},
		"reserved, a field affinity selects all nodes": {liveSnapshot(podWith("data"), b, local, data, pv("v", "local", reservedFor("data"), onlyField("a"))), "", ""},
		"a field affinity selects all nodes":           {liveSnapshot(podWith("data"), b, local, data, pv("v", "local", onlyField("a"))), "", ""},
		"volumes not read":                             {liveSnapshot(podWith("data"), a, local, data).without(inspect.Volumes), "a: [persistentvolumes]", ""},
		"not read, and one is made":                    {liveSnapshot(podWith("data"), a, late("local", "csi"), data).without(inspect.Volumes), "", ""},
		"a volume instead of room":                     {liveSnapshot(podWith("data"), a, late("local", "csi"), driver("csi", true), data, pv("v", "local")), "", ""},
		// Volumes of files that say no phase may be available or not.
		"a file does not say":            {one(phase("")).asFiles(), "a: []", "it is chance, or not said"},
		"a file does not say, no matter": {liveSnapshot(podWith("data"), a, local, data, pv("v", "local", phase("")), pv("w", "local")).asFiles(), "", ""},
		"a server always says":           {one(phase("")), none, ""},
		"nodes not known":                {liveSnapshot(podWith("data"), local, data, pv("v", "local", nodesIn(host, "a"))).asFiles(), "any-node: [nodes]", ""},
		"nodes not known, for all":       {liveSnapshot(podWith("data"), local, data, pv("v", "local")).asFiles(), "", ""},
		"nodes not known, none at all":   {liveSnapshot(podWith("data"), local, data).asFiles(), "any-node: VolumeUnbound local", ""},
	})
}

// TestVolumesOfSeveralClaims: claims of one pod that take volumes from each other.
func TestVolumesOfSeveralClaims(t *testing.T) {
	a := node("a", zone, "z1")
	local := late("local", noProvisioner)
	hot := func(v *corev1.PersistentVolume) { v.Labels = map[string]string{"tier": "hot"} }
	wantsHot := func(c *corev1.PersistentVolumeClaim) {
		c.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"tier": "hot"}}
	}
	runStorage(t, VolumeBinding, map[string]storageTest{
		"one volume for two": {liveSnapshot(podWith("x", "y"), a, local, pvc("x", "local"), pvc("y", "local"), pv("v", "local")),
			"a: VolumeUnbound local", "the volumes of class local that would suit the claim ml/y are taken by other claims of the pod"},
		"two for two": {liveSnapshot(podWith("x", "y"), a, local, pvc("x", "local"), pvc("y", "local"), pv("v", "local"), pv("w", "local")), "", ""},
		// The smallest claim is served first and takes the smallest volume, whatever the order in the pod.
		"the smallest is served first": {liveSnapshot(podWith("large", "small"), a, local, pvc("large", "local", size("20Gi")), pvc("small", "local"), pv("v", "local", holds("20Gi")), pv("w", "local")), "", ""},
		"the smallest takes the only volume": {liveSnapshot(podWith("large", "small"), a, local, pvc("large", "local", size("20Gi")), pvc("small", "local"), pv("v", "local", holds("20Gi"))),
			"a: VolumeUnbound local", "suit the claim ml/large are taken"},
		// Claims of one size are served in the order of the pod: "any" takes the smaller volume, which is the
		// only one that is hot.
		"greedy, in the order of the pod": {liveSnapshot(podWith("any", "hot"), a, local, pvc("any", "local"), pvc("hot", "local", wantsHot), pv("v", "local", hot), pv("w", "local", holds("20Gi"))),
			"a: VolumeUnbound local", "suit the claim ml/hot are taken"},
		"the other order": {liveSnapshot(podWith("hot", "any"), a, local, pvc("any", "local"), pvc("hot", "local", wantsHot), pv("v", "local", hot), pv("w", "local", holds("20Gi"))), "", ""},
		// Which of two volumes of one size a claim takes is chance.
		"chance":                                   {liveSnapshot(podWith("any", "hot"), a, local, pvc("any", "local"), pvc("hot", "local", wantsHot), pv("v", "local", hot), pv("w", "local")), "a: []", "ml/hot gets a volume is not known: it is chance"},
		"no chance where it makes no difference":   {liveSnapshot(podWith("any", "hot"), a, local, pvc("any", "local"), pvc("hot", "local", wantsHot), pv("v", "local", hot), pv("w", "local", hot)), "", ""},
		"one is made for whoever gets none":        {liveSnapshot(podWith("x", "y"), a, late("local", "csi"), pvc("x", "local"), pvc("y", "local"), pv("v", "local")), "", ""},
		"a claim twice needs two volumes":          {liveSnapshot(podWith("x", "x"), a, local, pvc("x", "local"), pv("v", "local")), "a: VolumeUnbound local", ""},
		"a claim twice, reserved once and no more": {liveSnapshot(podWith("x", "x"), a, local, pvc("x", "local"), pv("v", "local", reservedFor("x"))), "a: VolumeUnbound local", ""},
		"a claim twice, reserved once":             {liveSnapshot(podWith("x", "x"), a, local, pvc("x", "local"), pv("v", "local", reservedFor("x")), pv("w", "local")), "", ""},
		"volumes of two classes": {liveSnapshot(podWith("x", "y"), a, local, late("other", noProvisioner), pvc("x", "local"), pvc("y", "other"), pv("v", "local"), pv("w", "other")),
			"", ""},
		"bound and waiting": {liveSnapshot(podWith("x", "y"), a, local, pvc("x", "local", bound("v")), pvc("y", "local"), pv("v", "local", reservedFor("x"), phase(corev1.VolumeBound), nodesIn(zone, "z2"))),
			"a: VolumeNode v, VolumeUnbound local", ""},
	})
}
