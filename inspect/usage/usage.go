package usage

import (
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// By says what the rows of a Report are about.
type By string

// What rows can be about.
const (
	Namespace By = "namespace"
	Class     By = "class"    // the device class of the request that got the device
	Workload  By = "workload" // the top controller of the pods that use the claim
	Driver    By = "driver"   // and model
	Queue     By = "queue"    // the ClusterQueue of Kueue that the pods which use the claim are for
	Cohort    By = "cohort"   // of ClusterQueues: what is in one is in all above it too
)

// Groupings returns what rows can be about in every cluster, the default first. Only where there is Kueue
// they can be about queues and cohorts too: see [In].
func Groupings() []By { return []By{Namespace, Class, Workload, Driver} }

// Key names a row. Which fields are set depends on By.
type Key struct {
	// Namespace is that of the claims. It is empty for classes and drivers.
	Namespace string
	// Kind is the kind of a workload: that of the last controller to which the owners of its pods lead, "Pod"
	// for a pod without controller, or "ResourceClaim" for a claim that no pod uses.
	Kind string
	// Name is that of the workload, the class, the driver, the queue or the cohort. It is empty for a
	// namespace, for a request that the claim no longer has, for claims that have no devices yet and so no
	// driver, and for those of no queue or cohort.
	Name string
	// Model is what the driver says of its devices, see [inspect.ModelOf]. It is empty if it says nothing.
	Model string
}

// Amount counts what is held. A device is whole, shared or a partition, so Devices = Whole + Shared +
// Partitions.
type Amount struct {
	// Devices are published and held, each counted once, whole or in part.
	Devices int
	// Whole are held alone and draw on no counters, Partitions are those that do, and of the Shared ones
	// claims hold shares.
	Whole, Shared, Partitions int
	// Shares adds up which parts of the Shared devices are held, each from 0 to 1: that of the capacity of
	// which most is taken.
	Shares float64
	// Joint are those of the Devices that others hold a part of too.
	Joint int
	// Gone are held though no ResourceSlice publishes them any more, each counted once. They are not among
	// the Devices.
	Gone int
	// Idle are those of the Devices that only idle claims hold.
	Idle int
}

// Row is what one user of devices holds and waits for.
type Row struct {
	Key
	Amount
	// Drivers are the Devices by driver, those with most devices first.
	Drivers []DriverAmount
	// Counters are what the Partitions take of the counters of their pools, sorted by driver and counter.
	Counters []CounterAmount
	// Claims are all that are counted, those that need a look first: refused, idle, held, waiting.
	Claims []Claim
	// Refused, IdleClaims and Waiting count them. The others hold devices for somebody.
	Refused, IdleClaims, Waiting int
	// Wanted is how many devices the refused claims ask for, at least.
	Wanted int
	// RefusedSince and IdleSince are the earliest moments that objects tell. They are zero if none does.
	RefusedSince, IdleSince time.Time
}

// DriverAmount is how many devices of a driver are held.
type DriverAmount struct {
	Driver  string
	Devices int
}

// CounterAmount is how much of a counter is taken, summed up over the counter sets of a driver.
type CounterAmount struct {
	Driver, Counter string
	Taken           resource.Quantity
}

// State is what a claim does with its devices.
type State string

// The states, in the order of rows.
const (
	Refused State = "Refused" // it has none, and the scheduler has refused a pod that waits for it
	Idle    State = "Idle"    // it has some, for nobody
	Held    State = "Held"    // it has some
	Waiting State = "Waiting" // it has none, and nothing is known to be in the way
)

// Claim is what a claim has to do with a row.
type Claim struct {
	Ref   inspect.ClaimRef
	State State
	// Devices is how many published ones it holds in the row.
	Devices int
	// Wanted is how many devices a claim without devices asks for, at least.
	Wanted int
	// Since is when it became refused or idle. It is zero if no object tells.
	Since time.Time
	// Pod is the one that tells since when: it was refused, or has ended. It is empty if none does.
	Pod inspect.PodRef
}

// Report is who uses how much.
type Report struct {
	By   By
	Rows []Row // the largest first: by devices held, then by devices wanted, then by name
	// Total is about everything that the rows are about, each claim and device once. It has no claims, and
	// its Joint are the devices that are in several rows.
	Total Row

	counter *counter
	// Counted is how many claims there are in all rows together.
	Counted int
	// Unseen says that there may be pods which could not be read: then more may be refused or idle than is
	// counted, and the workloads of claims are only those of the pods that were.
	Unseen bool
	// Cluster are all devices that are published, whoever holds them.
	Cluster inspect.DeviceCount
}
