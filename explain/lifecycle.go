package explain

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Lifecycle says what has become of pods since they got their devices or were bound to a node: of the pod
// that was asked about, or of those that use the claim that was asked about.
type Lifecycle struct {
	Outcome Outcome
	// At is the moment that all ages are measured from. It is zero if that is not known.
	At time.Time
	// Pods are sorted by name.
	Pods []PodProgress
	// Problems are what is in the way, the most decisive first, and those that fail before those that only
	// wait.
	Problems []Problem
	// Containers are those of the pods that do not simply run, in the order of the pods and of their specs.
	Containers []Container
	// Devices are those allocated devices of which somebody reports a state, in the order of the allocation.
	Devices []DeviceState
	// Events are those of the pods and claims, the newest first. What happened repeatedly is one Event.
	Events []inspect.Event
	// MoreEvents is the number of those that are left out.
	MoreEvents int
}

// Failing returns the problems that fail.
func (l *Lifecycle) Failing() []Problem {
	for i := range l.Problems {
		if !l.Problems[i].Fails {
			return l.Problems[:i]
		}
	}
	return l.Problems
}

// Outcome sums a Lifecycle up.
type Outcome string

// The outcomes.
const (
	Fine    Outcome = "Fine"    // everything runs, or has run to its end
	Waiting Outcome = "Waiting" // something does not run yet or is about to stop, and nothing is known to fail
	Failing Outcome = "Failing" // something fails
	// Undecided means that the pod is on no node: the verdict says what can become of it.
	Undecided Outcome = "Undecided"
)

// Stage says how far a pod has come.
type Stage string

// The stages of a pod, in the order of its life.
const (
	Unbound  Stage = "Unbound"  // it is on no node, and nothing of it is being bound
	Binding  Stage = "Binding"  // the scheduler waits until its devices are ready to be bound
	Bound    Stage = "Bound"    // it is on a node, and does not say how far it has come
	Starting Stage = "Starting" // it is on a node, and not all of its containers run
	Running  Stage = "Running"  // its containers run
	Stopping Stage = "Stopping" // it is being deleted
	Ended    Stage = "Ended"    // its containers have ended for good
)

// PodProgress is how far a pod has come.
type PodProgress struct {
	Pod   inspect.PodRef
	Node  inspect.NodeName
	Stage Stage
	// Since is when the stage began. It is zero if that is not known.
	Since time.Time
	// Heard says that the kubelet of the node has taken notice of the pod.
	Heard bool
	// Prepared says that its devices, volumes and network are ready on the node, so that only its containers
	// can fail.
	Prepared bool
	// Reason is why the pod ended, as it says itself. It may be empty.
	Reason string
}

// ContainerStage is the state of a container.
type ContainerStage string

// The states of a container.
const (
	ContainerWaiting    ContainerStage = "Waiting"
	ContainerRunning    ContainerStage = "Running"
	ContainerTerminated ContainerStage = "Terminated"
)

// Container is what a pod says of one of its containers.
type Container struct {
	Pod  inspect.PodRef
	Name string
	// Init says that it runs before the others.
	Init  bool
	Stage ContainerStage
	// Reason is the code that the kubelet gives, such as ContainerCreating, and Said what it says besides.
	Reason, Said string
	// Coming says that it waits while nothing has gone wrong, such as for its image.
	Coming   bool
	Restarts int
	// Since is when the state began. It is zero if that is not known.
	Since time.Time
	// Exit is how the container ended: now, or the last time if it waits to be started again. It is nil if it
	// has not ended.
	Exit *ContainerExit
}

// ContainerExit is how a container ended.
type ContainerExit struct {
	Code   int
	Signal int
	Reason string // such as OOMKilled
	At     time.Time
}

// DeviceHealth is what a driver says of a device that a pod uses.
type DeviceHealth string

// The states of health. A driver that does not report health leaves it Unknown.
const (
	Healthy       DeviceHealth = "Healthy"
	Unhealthy     DeviceHealth = "Unhealthy"
	UnknownHealth DeviceHealth = "Unknown"
)

// DeviceState is what is reported of an allocated device: by its driver in the claim, and by the kubelet in
// the pod.
type DeviceState struct {
	Claim inspect.ClaimRef
	ID    inspect.DeviceID
	// Health is "" if nothing is said of it, and HealthSaid what the driver says besides.
	Health     DeviceHealth
	HealthSaid string
	// Conditions are those of the device in the status of the claim.
	Conditions []metav1.Condition
	Network    *Network
}

// Network is the network interface that a device is for a pod.
type Network struct {
	Interface string   `json:"interfaceName,omitempty"`
	Addresses []string `json:"ips,omitempty"` // with the length of the prefix, as 10.0.0.5/24
	Hardware  string   `json:"hardwareAddress,omitempty"`
}
