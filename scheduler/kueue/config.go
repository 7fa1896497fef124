package kueue

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/scheduler/kueue/podrequests"
	"github.com/kubectl-dra/kubectl-dra/scheduler/kueue/quota"
)

// Config is what decides in Kueue's Configuration (config.kueue.x-k8s.io).
type Config struct {
	// Assumed says that nobody read a Configuration and this is [DefaultConfig]. Decisions on which it bears
	// name it among their assumptions.
	Assumed bool
	// Gates are the feature gates that the Configuration sets; all others have the defaults of Kueue 0.19.
	Gates map[string]bool
	// DeviceClassMappings are resources.deviceClassMappings.
	DeviceClassMappings []DeviceClassMapping
	// ExcludeResourcePrefixes are resources.excludeResourcePrefixes: such requests need no quota.
	ExcludeResourcePrefixes []string
	// Transformations are resources.transformations.
	Transformations []Transformation
	// IgnoreUndeclared is resources.quotaCheckStrategy IgnoreUndeclared: what no group of a ClusterQueue
	// covers needs no quota.
	IgnoreUndeclared bool
	// FairSharing is not nil where preemption and order follow the dominant resource share.
	FairSharing *FairSharing
	// AdmissionFairSharing says that the use of LocalQueues in the past orders their workloads.
	AdmissionFairSharing bool
	// WaitForPodsReady is not nil where admission waits for the pods of admitted workloads.
	WaitForPodsReady *WaitForPodsReady
	// ManageJobsWithoutQueueName says that also jobs without a label for a queue are held.
	ManageJobsWithoutQueueName bool
	// Frameworks are the integrations that are switched on, such as "batch/job".
	Frameworks []string
	// LimitRanges are those of all namespaces; nil if they were not read, which is an assumption of decisions
	// then.
	LimitRanges []*corev1.LimitRange
}

// DeviceClassMapping says for which resource devices of some DeviceClasses count.
type DeviceClassMapping struct {
	Resource      corev1.ResourceName
	DeviceClasses []string
	// Sources, if there are any, say what is counted instead of devices.
	Sources []DeviceSource
}

// DeviceSource is a counter that devices consume, or a capacity of theirs.
type DeviceSource struct {
	Driver string
	// Counter or Capacity is the name of what is counted; the other is "".
	Counter, Capacity string
	// Selector is the CEL expression of deviceSelector, or "".
	Selector string
}

// Transformation counts a request for other resources.
type Transformation = podrequests.Transformation

// FairSharing is the fairSharing of the Configuration.
type FairSharing struct {
	// PreemptionStrategies are names as in the Configuration; none means LessThanOrEqualToFinalShare and
	// LessThanInitialShare.
	PreemptionStrategies []string
}

// WaitForPodsReady is the waitForPodsReady of the Configuration.
type WaitForPodsReady struct {
	// BlockAdmission admits nothing while the pods of an admitted workload are not ready.
	BlockAdmission bool
	// ByCreation is requeuingStrategy.timestamp Creation: a workload evicted because its pods were not ready
	// keeps its place.
	ByCreation bool
}

// gatesOn are the gates of Kueue 0.19 on which decisions depend and that are on unless they are switched off.
var gatesOn = map[string]bool{
	"PartialAdmission": true, "FlavorFungibility": true, "PrioritySortingWithinCohort": true,
	"FairSharingPreemptWithinNominal": true, "FairSharingPrioritizeNonBorrowing": true, "TopologyAwareScheduling": true,
	"ReclaimablePods": true, "KueueDRAIntegration": true, "KueueDRAIntegrationExtendedResource": true,
	"KueueDRARejectWorkloadsWhenDRADisabled": true, "KueueDRAIntegrationPartitionableDevices": true, "AdmissionGatedBy": true,
	"SchedulingEquivalenceHashing": true, "QuotaCheckStrategy": true, "FlavorFungibilityPreserveScanProgress": true,
	"VectorizedResourceRequests": true, "ElasticJobsViaWorkloadSlices": true, "AdmissionFairSharing": true,
}

// DefaultConfig is the Configuration of a Kueue that was installed without changes.
func DefaultConfig() Config { return Config{Assumed: true, Frameworks: []string{"batch/job"}} }

// gate reports whether a feature gate is on.
func (c *Config) gate(name string) bool {
	if on, set := c.Gates[name]; set {
		return on
	}
	return gatesOn[name]
}

// rules are those that the Configuration gives for evictions.
func (c *Config) rules() quota.Rules {
	out := quota.Rules{
		FairSharing: c.FairSharing != nil, WithinNominal: c.gate("FairSharingPreemptWithinNominal"), NonBorrowingFirst: c.gate("FairSharingPrioritizeNonBorrowing"),
		PriorityFirst: c.gate("PrioritySortingWithinCohort"), Buffered: c.gate("SchedulerTimestampPreemptionBuffer"),
	}
	if out.FairSharing {
		out.Strategies = c.FairSharing.PreemptionStrategies
	}
	return out
}
