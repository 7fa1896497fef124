package explain

import (
	"time"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// ProblemCode says what keeps a pod from running that has its devices, or will end it. Codes are stable and
// documented: they are part of the output.
type ProblemCode string

// The problems, in the order in which they are told. The comment of each says when it is given.
const (
	// PodFailed: the pod has ended because something failed.
	PodFailed ProblemCode = "PodFailed"
	// ClaimNotCreated: a claim of the pod could not be made from its template, such as for a quota that is
	// exhausted.
	ClaimNotCreated ProblemCode = "ClaimNotCreated"
	// NodeSilent: the node of the pod is gone, or its kubelet does not report, so that what the pod says of
	// itself may be old.
	NodeSilent ProblemCode = "NodeSilent"
	// PrepareFailed: the kubelet could not have the driver prepare the devices on the node.
	PrepareFailed ProblemCode = "PrepareFailed"
	// DriverMissing: what seems to be the driver's pod is not there on the node, or is not ready, although
	// devices of the driver are published for it.
	DriverMissing ProblemCode = "DriverMissing"
	// MountFailed: the kubelet could not mount a volume of the pod.
	MountFailed ProblemCode = "MountFailed"
	// SandboxFailed: the container runtime could not make the pod's sandbox, which includes its network.
	SandboxFailed ProblemCode = "SandboxFailed"
	// ContainerFailed: a container does not start, or does not keep running.
	ContainerFailed ProblemCode = "ContainerFailed"
	// BindingFailed: a device reports a binding failure, or has not met its binding conditions in time. The
	// scheduler gives it back and tries again.
	BindingFailed ProblemCode = "BindingFailed"
	// BindingPending: the scheduler waits for a binding condition of a device before it puts the pod on the
	// node.
	BindingPending ProblemCode = "BindingPending"
	// VolumePending: the scheduler has chosen a node, and waits for a volume to be made there before it puts
	// the pod on the node.
	VolumePending ProblemCode = "VolumePending"
	// Evicting: a device or the node has a NoExecute taint for which the pod is evicted, now or later.
	Evicting ProblemCode = "Evicting"
	// DeviceGone: devices of the pod or claim are in no ResourceSlice any more.
	DeviceGone ProblemCode = "DeviceGone"
	// DeviceUnhealthy: the driver reports that a device of the pod is unhealthy.
	DeviceUnhealthy ProblemCode = "DeviceUnhealthy"
)

// ProblemCodes returns every code, in the order of their declaration.
func ProblemCodes() []ProblemCode {
	return []ProblemCode{
		PodFailed, ClaimNotCreated, NodeSilent, PrepareFailed, DriverMissing, MountFailed, SandboxFailed, ContainerFailed, BindingFailed,
		BindingPending, VolumePending, Evicting, DeviceGone, DeviceUnhealthy,
	}
}

// Problem is something that keeps a pod from running although it has its devices, or that will end it.
type Problem struct {
	Code ProblemCode
	// Fails says that something went wrong. Otherwise the pod merely waits.
	Fails bool
	// Object is what the problem is about: the pod, a claim or the node.
	Object Subject
	// Devices are the devices at fault, if any, in the order of the allocation.
	Devices []inspect.DeviceID
	// Driver is the driver at fault, if it is one.
	Driver string
	// Container is the container of the pod at fault, if it is one.
	Container string
	// Reason is the code that a component of Kubernetes or the driver gave, such as CrashLoopBackOff. It may
	// be empty.
	Reason string
	// Count is how often it happened. It is 0 if that is not counted.
	Count int
	// Since is when it began or first happened, and Last when it last happened. Either is zero if it is not
	// known.
	Since, Last time.Time
	// Until is when something follows from it: for Evicting when the pod is evicted, for BindingPending when
	// the scheduler gives the devices back. It is zero if that is not known.
	Until time.Time
	// Message is the problem in a clause, and Brief the same in a few words, to follow "but".
	Message, Brief string
	// Said is what the component itself says, in its own words. It may be empty.
	Said string
	// TaintRules are the DeviceTaintRules that set the taint of Evicting.
	TaintRules []TaintRule
	// Actor is who can do something about it.
	Actor Actor
	// Logs are the pods whose logs may say more: those of the drivers at fault. It is empty where it is not
	// known which pods these are.
	Logs []Subject
	// Commands are ready to paste. They only look: none of them changes anything.
	Commands []string
}
