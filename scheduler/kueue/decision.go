package kueue

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Ref names an object of a namespace.
type Ref struct{ Namespace, Name string }

// Outcome is what Kueue does with a workload.
type Outcome string

const (
	// Unknown means that something that decides is not known, or that this package does not decide it; the
	// reasons say what.
	Unknown Outcome = "Unknown"
	// Admitted means that Kueue let it go already.
	Admitted Outcome = "Admitted"
	// Reserved means that it has quota already and waits for admission checks.
	Reserved Outcome = "Reserved"
	// Finished means that it has ended.
	Finished Outcome = "Finished"
	// Fits means that it will get quota, in one of the next cycles. Then the admission checks follow that
	// Decision.Checks names.
	Fits Outcome = "Fits"
	// Preempts means that Kueue will evict the victims to make room for it.
	Preempts Outcome = "Preempts"
	// Waits means that it stays in the queue until something changes: others end, or quota grows.
	Waits Outcome = "Waits"
	// Refused means that Kueue does not consider it at all until somebody changes an object.
	Refused Outcome = "Refused"
)

// Code says why, in a word that keeps its meaning.
type Code string

// Codes of workloads that wait for quota.
const (
	InsufficientUnusedQuota Code = "InsufficientUnusedQuota" // others hold what is needed
	InsufficientQuota       Code = "InsufficientQuota"       // more than there can ever be
	ResourceUnavailable     Code = "ResourceUnavailable"     // no resource group covers it
	UntoleratedTaint        Code = "UntoleratedTaint"        // of a flavor
	NodeAffinityMismatch    Code = "NodeAffinityMismatch"    // with the labels of a flavor
	FlavorNotFound          Code = "FlavorNotFound"
	TopologyMismatch        Code = "TopologyMismatch"      // a flavor with a topology for pods without, or the reverse
	TakenInCycle            Code = "TakenInCycle"          // by a workload of another queue
	OverlappingVictims      Code = "OverlappingVictims"    // of a workload of another queue
	BehindHead              Code = "BehindHead"            // the first of the queue does not go, and blocks
	NoPreemptionCandidate   Code = "NoPreemptionCandidate" // nobody whom it may evict
)

// Codes of workloads that Kueue does not consider.
const (
	NoLocalQueue          Code = "NoLocalQueue" // it names none
	LocalQueueNotFound    Code = "LocalQueueNotFound"
	LocalQueueStopped     Code = "LocalQueueStopped"
	ClusterQueueNotFound  Code = "ClusterQueueNotFound"
	ClusterQueueStopped   Code = "ClusterQueueStopped"
	ClusterQueueInactive  Code = "ClusterQueueInactive" // flavors or admission checks are missing or inactive
	CohortCycle           Code = "CohortCycle"
	NamespaceMismatch     Code = "NamespaceMismatch"    // with the namespaceSelector of the ClusterQueue
	Deactivated           Code = "Deactivated"          // spec.active is false
	AdmissionGated        Code = "AdmissionGated"       // by annotation
	OnHold                Code = "OnHold"               // by its integration
	Backoff               Code = "Backoff"              // until Decision.NotBefore
	Requeuing             Code = "Requeuing"            // its condition Requeued is False
	AdmissionCheckFailed  Code = "AdmissionCheckFailed" // Retry or Rejected
	RequestsExceedLimits  Code = "RequestsExceedLimits"
	Evicting              Code = "Evicting" // it still holds quota, but is on its way out
	WaitingForReplacement Code = "WaitingForReplacementPods"
)

// Codes of claims that Kueue refuses to count.
const (
	ClaimNotTemplate      Code = "ClaimNotTemplate" // pods name a claim, not a template
	TemplateNotFound      Code = "TemplateNotFound"
	FirstAvailable        Code = "FirstAvailable"
	AdminAccess           Code = "AdminAccess"
	AllDevices            Code = "AllDevices" // allocationMode All
	AllocationModeUnknown Code = "AllocationModeUnknown"
	UnmappedClass         Code = "UnmappedClass" // deviceClassMappings does not name the DeviceClass
	ClassNotFound         Code = "ClassNotFound"
	SelectorFails         Code = "SelectorFails"         // it does not compile, or fails on a device
	TooFewDevices         Code = "TooFewDevices"         // that match the selectors, in the whole cluster
	CounterMissing        Code = "CounterMissing"        // no matching device consumes the counter
	CapacityMissing       Code = "CapacityMissing"       // no matching device has the capacity
	CapacityUnsatisfiable Code = "CapacityUnsatisfiable" // by the policy of any device
	ExtendedNotCountable  Code = "ExtendedNotCountable"  // an extended resource of a class with sources
	NotInteger            Code = "NotInteger"            // quantity of an extended resource
	DRADisabled           Code = "DRADisabled"           // gate KueueDRAIntegration
)

// Codes of what is not decided or not known.
const (
	WorkloadNotFound              Code = "WorkloadNotFound"
	ConfigurationAssumed          Code = "ConfigurationAssumed"
	LimitRangesUnread             Code = "LimitRangesUnread"
	LimitRangeUndecided           Code = "LimitRangeUndecided"
	RuntimeClassUnread            Code = "RuntimeClassUnread" // which may add an overhead
	TopologyUndecided             Code = "TopologyUndecided"
	AdmissionFairSharingUndecided Code = "AdmissionFairSharingUndecided"
	PodsReadyUndecided            Code = "PodsReadyUndecided"
	MultiKueueUndecided           Code = "MultiKueueUndecided" // whether another cluster has room
	ElasticUndecided              Code = "ElasticUndecided"    // slices of an elastic job
	GateUndecided                 Code = "GateUndecided"       // a feature gate that is not decided is on
	SelectorUndecided             Code = "SelectorUndecided"
	TemplateUndecided             Code = "TemplateUndecided" // whether Kueue has counted a newer claim template
	TieUndecided                  Code = "TieUndecided"      // Kueue's own order is random there
	NamespaceUnread               Code = "NamespaceUnread"
	NewerUndecided                Code = "NewerUndecided" // an object has fields that this program does not know
	OtherUndecided                Code = "OtherUndecided" // an earlier workload of the cohort is
	TooManyCycles                 Code = "TooManyCycles"
)

// Reason is one thing that decides.
type Reason struct {
	Code Code
	// Message is as Kueue words it, where Kueue has words for it. Nothing follows from it.
	Message string
	// ClusterQueue, PodSet, Flavor, Resource and Workload name what it is about, where it is about one.
	ClusterQueue string
	PodSet       string
	Flavor       string
	Resource     corev1.ResourceName
	Workload     Ref
	// Needed is how much more of Resource would be needed; see [Amount].
	Needed Amount
	// Name names anything else: a DeviceClass, a template, an AdmissionCheck, a taint, a gate.
	Name string
}

// PodSet is what a set of pods of a workload would get, or has.
type PodSet struct {
	Name string
	// Count is how many pods are admitted, Asked how many it wants; fewer are admitted if it has a minCount.
	Count, Asked int32
	// Requests are what all Count pods count for; see [Amount].
	Requests map[corev1.ResourceName]Amount
	// Flavors are the flavor of each resource; empty if it gets none.
	Flavors map[corev1.ResourceName]string
}

// Victim is a workload that Kueue evicts.
type Victim struct {
	Workload     Ref
	ClusterQueue string
	// Why is Kueue's reason: InClusterQueue, InCohortReclamation, InCohortReclaimWhileBorrowing or
	// InCohortFairSharing.
	Why string
}

// Ahead is a workload of the same ClusterQueue whose turn comes earlier.
type Ahead struct {
	Workload Ref
	Priority int32
	Outcome  Outcome
	// Reason is the first one of its own decision, if it does not go.
	Reason *Reason
	// Blocks says that nobody behind it is considered while it stays.
	Blocks bool
}

// Decision is what Kueue does about a workload.
type Decision struct {
	Workload     Ref
	LocalQueue   string
	ClusterQueue string
	Outcome      Outcome
	// PodSets are in the order of the workload.
	PodSets []PodSet
	// Message is what Kueue writes into the condition QuotaReserved, if it is its scheduler that does not
	// admit the workload. Nothing follows from it.
	Message string
	// Borrows says that it takes quota of others in the cohort.
	Borrows bool
	// Reasons say why it does not go, for each flavor that was tried, in the order of the workload.
	Reasons []Reason
	// Assumptions name what was not read and could make the answer another one.
	Assumptions []Reason
	Victims     []Victim
	// Ahead are the pending workloads of the ClusterQueue before it, in the order of the queue.
	Ahead []Ahead
	// Checks are the AdmissionChecks that follow, or that it waits for.
	Checks []string
	// NotBefore is when Kueue considers it again after a back-off, or zero.
	NotBefore time.Time
}
