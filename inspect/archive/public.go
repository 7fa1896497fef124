package archive

import (
	"regexp"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// What everybody knows. Nothing else stays as it is in an anonymized archive; so a word that is missing
// here costs a reader of the archive something, but tells nothing. Names of hardware are left out: what
// somebody has bought is not public.

var (
	// number is a small number or amount. Long ones may be serial numbers.
	number           = regexp.MustCompile(`^-?[0-9]{1,9}(\.[0-9]{1,3})?(Ki|Mi|Gi|Ti|Pi|Ei|k|M|G|T|P|E|m|%)?$`)
	versionParts     = regexp.MustCompile(`^(v?[0-9]{1,9}(?:\.[0-9]{1,9}){2})([-+]?)(.*)$`)
	publicSuffix     = regexp.MustCompile(`^(alpha|beta|rc|dev)?[.-]?[0-9]{0,3}$`)
	generatedRequest = regexp.MustCompile(`^container-[0-9]{1,3}-request-[0-9]{1,3}$`) // by kube-scheduler
	hugePages        = regexp.MustCompile(`^hugepages-[0-9]{1,4}(Ki|Mi|Gi)$`)
	serverVersion    = regexp.MustCompile(`^v?[0-9]+\.[0-9]+(\.[0-9]+(-(alpha|beta|rc)\.[0-9]+)?)?`)
)

// public reports whether text stays as it is.
func public(s string) bool {
	return publicWords[s] || inspect.KnownGate(inspect.Gate(s)) || number.MatchString(s) || hugePages.MatchString(s)
}

// publicName reports whether a name of that sort stays as it is.
func publicName(of names, name string) bool {
	switch of {
	case drivers:
		return publicDrivers[name]
	case classes:
		return publicClasses[name]
	case identifiers:
		return publicIdentifiers[name]
	case flowSchemas, priorityLevels, users, groups:
		return publicFlow[name]
	case csiDrivers:
		return publicCSI[name]
	case namespaces:
		return name == "*"
	}
	return false
}

func words(lists ...string) map[string]bool {
	out := map[string]bool{}
	for _, list := range lists {
		for word := range strings.FieldsSeq(list) {
			out[word] = true
		}
	}
	return out
}

// publicWords are values of enumerations of the Kubernetes API, and what Kubernetes itself calls labels,
// resources, conditions and reasons.
var publicWords = words(`
	kubectl-dra.dev/announcement kubectl-dra.dev/newer-fields true false True False Unknown * amd64 arm64 arm ppc64le
	s390x riscv64 linux windows
	v1 apps/v1 batch/v1 resource.k8s.io resource.k8s.io/v1 resource.k8s.io/v1alpha3 resource.k8s.io/v1beta1 resource.k8s.io/v1beta2 flowcontrol.apiserver.k8s.io/v1beta3 storage.k8s.io/v1beta1 core apps batch
	Pod Node ResourceClaim ResourceClaimTemplate ReplicaSet Deployment StatefulSet DaemonSet Job CronJob PodGroup Workload pods
	resource.kubernetes.io/delete-protection kubernetes.io/pv-protection kubernetes.io/pvc-protection batch.kubernetes.io/job-tracking

	ExactCount All Exists Equal Lt Gt In NotIn DoesNotExist NoSchedule NoExecute PreferNoSchedule None FromClass FromClaim
	Active Terminating
	Pending Running Succeeded Failed Always Never OnFailure default-scheduler system-cluster-critical system-node-critical
	PodScheduled Initialized Ready ContainersReady DisruptionTarget PodReadyToStartContainers PodResizePending PodResizeInProgress
	Unschedulable SchedulerError SchedulingGated NominatedNodeNameNotFound
	ContainerCreating PodInitializing CrashLoopBackOff ErrImagePull ImagePullBackOff ErrImageNeverPull InvalidImageName CreateContainerError
	CreateContainerConfigError RunContainerError PostStartHookError OOMKilled Error Completed ContainerCannotRun StartError DeadlineExceeded
	Evicted NodeLost NodeShutdown Terminated UnexpectedAdmissionError Preempting ContainersNotReady Healthy Unhealthy
	/var/lib/kubelet/plugins_registry
	MemoryPressure DiskPressure PIDPressure NetworkUnavailable KubeletReady KubeletNotReady
	KubeletHasSufficientMemory KubeletHasNoDiskPressure KubeletHasSufficientPID NodeStatusUnknown RouteCreated

	cpu memory ephemeral-storage storage
	requests.cpu requests.memory requests.ephemeral-storage requests.storage limits.cpu limits.memory limits.ephemeral-storage
	persistentvolumeclaims services secrets configmaps replicationcontrollers resourcequotas services.nodeports services.loadbalancers
	count/resourceclaims.resource.k8s.io count/resourceclaimtemplates.resource.k8s.io count/pods count/persistentvolumeclaims
	NotTerminating BestEffort NotBestEffort PriorityClass CrossNamespacePodAffinity VolumeAttributesClass
	kubernetes.io/hostname kubernetes.io/arch kubernetes.io/os beta.kubernetes.io/arch beta.kubernetes.io/os
	node.kubernetes.io/instance-type beta.kubernetes.io/instance-type
	topology.kubernetes.io/zone topology.kubernetes.io/region failure-domain.beta.kubernetes.io/zone failure-domain.beta.kubernetes.io/region
	node-role.kubernetes.io/control-plane node-role.kubernetes.io/master node-role.kubernetes.io/worker node.kubernetes.io/exclude-from-external-load-balancers
	metadata.name node.kubernetes.io/not-ready node.kubernetes.io/unreachable node.kubernetes.io/unschedulable node.kubernetes.io/memory-pressure
	node.kubernetes.io/disk-pressure node.kubernetes.io/pid-pressure node.kubernetes.io/network-unavailable
	node.cloudprovider.kubernetes.io/uninitialized node.kubernetes.io/out-of-service

	ReadWriteOnce ReadOnlyMany ReadWriteMany ReadWriteOncePod Filesystem Block Retain Delete Recycle Available Bound Released Lost
	Immediate WaitForFirstConsumer Persistent Ephemeral File ReadWriteOnceWithFSType Resizing FileSystemResizePending

	kubernetes.io/metadata.name kubernetes.io/ingress-bandwidth kubernetes.io/egress-bandwidth
	resource.kubernetes.io/pod-claim-name resource.kubernetes.io/extended-resource-claim resource.kubernetes.io/admin-access
	volume.kubernetes.io/selected-node volume.kubernetes.io/storage-provisioner volume.beta.kubernetes.io/storage-provisioner
	volume.beta.kubernetes.io/storage-class storage.alpha.kubernetes.io/migrated-plugins storageclass.kubernetes.io/is-default-class
	apf.kubernetes.io/autoupdate-spec storageclass.beta.kubernetes.io/is-default-class pv.kubernetes.io/bind-completed pv.kubernetes.io/bound-by-controller
	pv.kubernetes.io/provisioned-by pv.kubernetes.io/migrated-to yes
	kubernetes.io/aws-ebs kubernetes.io/gce-pd kubernetes.io/azure-disk kubernetes.io/azure-file kubernetes.io/cinder
	kubernetes.io/vsphere-volume kubernetes.io/portworx-volume

	TCP UDP SCTP DoNotSchedule ScheduleAnyway Honor Ignore PreemptLowerPriority Restart RestartAllContainers Infeasible Deferred
	scheduling.k8s.io scheduling.k8s.io/v1beta1 scheduling.k8s.io/v1alpha3 scheduling.k8s.io/v1alpha2 podgroups
	PodGroupInitiallyScheduled PodGroupScheduled PreemptionByScheduler DeletionByTaintManager EvictionByEvictionAPI
	ExtendWebSocketsToKubelet InPlacePodLevelResourcesVerticalScaling InPlacePodVerticalScalingInitContainers
	InPlacePodVerticalScalingMemoryBackedVolumes RestartAllContainersOnContainerExits UserNamespacesHostNetworkSupport
	VolumeBindMountOptions

	policy policy/v1 PodDisruptionBudget DisruptionAllowed SufficientPods InsufficientPods SyncFailed IfHealthyBudget AlwaysAllow

	Apply Update kubectl kubectl-create kubectl-client-side-apply kubectl-edit kubectl-patch kubectl-replace kubectl-dra helm

	Limited Exempt Queue Reject ByUser ByNamespace User Group ServiceAccount Dangling Found NotFound
	kueue.x-k8s.io kueue.x-k8s.io/v1beta1 kueue.x-k8s.io/v1beta2 kueue.x-k8s.io/queue-name kueue.x-k8s.io/priority-class
	kueue.x-k8s.io/admission kueue.x-k8s.io/topology kueue.x-k8s.io/managed kueue.x-k8s.io/pod-group-name kueue.x-k8s.io/podset
	kueue.x-k8s.io/multikueue kueue.x-k8s.io/provisioning-request kueue.x-k8s.io/resource-in-use
	StrictFIFO BestEffortFIFO Hold HoldAndDrain Any LowerPriority LowerOrNewerEqualPriority MayStopSearch TryNextFlavor
	BorrowingOverPreemption PreemptionOverBorrowing Retry Rejected Open Closed WorkloadPriorityClass UsageBasedAdmissionFairSharing
	NoAdmissionFairSharing QuotaReserved Admitted Finished PodsReady Preempted Requeued DeactivationTarget Inadmissible Waiting
	AdmittedWithoutQuota Misconfigured Suspended WaitingForQuota ExceedsMaxQuota NoMatchingFlavor PendingEvaluation PodsReadyTimeout
	AdmissionCheck ClusterQueueStopped LocalQueueStopped InClusterQueue InCohortReclamation InCohortReclaimWhileBorrowing
	NodeFailures Deactivated BackoffFinished Preemption FlavorNotFound CheckNotFoundOrInactive Stopped
	Creation Eviction BlockUndeclared IgnoreUndeclared Replace LessThanOrEqualToFinalShare LessThanInitialShare kueue-system
	batch/job kubeflow.org/mpijob ray.io/rayjob ray.io/raycluster ray.io/rayservice jobset.x-k8s.io/jobset kubeflow.org/paddlejob
	kubeflow.org/pytorchjob kubeflow.org/tfjob kubeflow.org/xgboostjob kubeflow.org/jaxjob workload.codeflare.dev/appwrapper
	trainer.kubeflow.org/trainjob sparkoperator.k8s.io/sparkapplication pod deployment statefulset leaderworkerset.x-k8s.io/leaderworkerset

	get list watch create update patch delete deletecollection proxy
	/healthz /livez /readyz /version /metrics /api /apis /openapi/v2 /openapi/v3
`)

// publicDrivers are drivers that are published, with the domains of their attributes.
var publicDrivers = words(`
	gpu.nvidia.com compute-domain.nvidia.com gpu.amd.com gpu.intel.com gaudi.intel.com qat.intel.com tpu.google.com neuron.aws.com
	dra.net azure.dra.net oke.dra.net dra.cpu dra.memory cni.dra.networking.x-k8s.io sriovnetwork.k8snetworkplumbingwg.io k8s.cni.cncf.io
	test-driver.cdi.k8s.io resource.kubernetes.io gpu.example.com mig.example.com nic.example.com fpga.example.com
`)

// publicRuntimes run containers.
var publicRuntimes = words(`containerd cri-o docker`)

var publicClasses = words(`
	gpu.nvidia.com mig.nvidia.com imex.nvidia.com vfio.gpu.nvidia.com compute-domain-daemon.nvidia.com compute-domain-default-channel.nvidia.com
	gpu.amd.com gpu.intel.com gaudi.intel.com qat.intel.com tpu.google.com dra.cpu dra.memory dranet.net
	cni.networking.x-k8s.io sriovnetwork.k8snetworkplumbingwg.io gpu.example.com mig.example.com nic.example.com fpga.example.com
`)

// publicIdentifiers are the words of CEL, as the scheduler compiles it, and what published drivers call the
// attributes and capacities of their devices.
var publicIdentifiers = words(`
	device driver attributes capacity allowMultipleAllocations true false null in invalid
	has all exists exists_one filter map bind cel type dyn int uint double bool string bytes list duration timestamp size
	quantity isQuantity semver isSemver major minor patch isLessThan isGreaterThan compareTo add sub sign isInteger asInteger asApproximateFloat
	startsWith endsWith contains matches find findAll split join replace substring charAt indexOf lastIndexOf lowerAscii upperAscii trim
	format reverse includes optional of none ofNonZeroValue hasValue value orValue or optMap optFlatMap optional_type sets intersects equivalent
	isSorted sum min max getDate getFullYear getHours

	accelerator addressingMode alias architecture bandwidth brand cacheL3ID cardIndex channel computeUnits coreID coreType cpu cpuID
	cudaComputeCapability cudaDriverVersion deviceID driverSrcVersion driverVersion ebpf encapsulation family gpuMemoryFabricId health healthy
	hpcIslandId hugeTLB id ifName index ipv4 localBlockId logicCells mac memory millicores model mtu name network networkBlockId numCPUs numa
	numaNode numaNodeID nvlinkGeneration pageSize parentIndex parentUUID partitionProfile pciAddr pciAddress pciBusID pciDevice pciId pciRoot
	pciSubsystem pciVendor pcieRoot placementGroupId productName profile rackId rdma rdmaDevice renderIndex requests resourceName serial
	simdUnits smtEnabled socketID sriov sriovVfs state tpuGen uuid virtual vmSize
`)

// publicFlow are the objects and subjects of API Priority and Fairness that every cluster has.
var publicFlow = words(`
	* exempt catch-all system leader-election workload-high workload-low global-default node-high probes system-leader-election
	workload-leader-election endpoint-controller system-node-high system-nodes kube-controller-manager kube-scheduler kube-system-service-accounts
	service-accounts system:anonymous system:authenticated system:unauthenticated system:masters system:nodes system:serviceaccounts
	system:kube-controller-manager system:kube-scheduler system:apiserver
`)

var publicCSI = words(`
	kubernetes.io/no-provisioner ebs.csi.aws.com efs.csi.aws.com pd.csi.storage.gke.io filestore.csi.storage.gke.io disk.csi.azure.com
	file.csi.azure.com blob.csi.azure.com csi.vsphere.vmware.com secrets-store.csi.k8s.io local.csi.openebs.io topolvm.io driver.longhorn.io
	rancher.io/local-path hostpath.csi.k8s.io nfs.csi.k8s.io smb.csi.k8s.io blockvolume.csi.oraclecloud.com cinder.csi.openstack.org
`)
