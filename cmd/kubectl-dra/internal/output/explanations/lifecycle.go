package explanations

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Lifecycle says what has become of pods since they got their devices.
type Lifecycle struct {
	// Outcome is Fine, Waiting or Failing, or Undecided for a pod that is on no node.
	Outcome    string        `json:"outcome" enum:"explain.Outcome"`
	Pods       []PodProgress `json:"pods"`
	Problems   []Problem     `json:"problems"`
	Containers []Container   `json:"containers,omitempty"`
	Devices    []DeviceState `json:"devices,omitempty"`
	// Events are the newest first; MoreEvents are left out.
	Events     []Event `json:"events,omitempty"`
	MoreEvents int     `json:"moreEvents,omitempty"`
}

// PodProgress is how far a pod has come: Unbound, Binding, Bound, Starting, Running, Stopping or Ended.
type PodProgress struct {
	Pod   string       `json:"pod"`
	Node  string       `json:"node,omitempty"`
	Stage string       `json:"stage" enum:"explain.Stage"`
	Since *metav1.Time `json:"since,omitempty"`
	// Prepared: the devices, volumes and the network of the pod are ready on the node.
	Prepared bool   `json:"prepared"`
	Reason   string `json:"reason,omitempty"`
}

// Problem is something that keeps a pod from running, or will end it.
type Problem struct {
	Code string `json:"code" enum:"explain.ProblemCode"`
	// Fails: it went wrong; otherwise the pod waits.
	Fails     bool            `json:"fails"`
	Object    explain.Subject `json:"object"`
	Devices   []string        `json:"devices,omitempty"`
	Driver    string          `json:"driver,omitempty"`
	Container string          `json:"container,omitempty"`
	// Reason is the code of the component that reports it.
	Reason string       `json:"reason,omitempty"`
	Count  int          `json:"count,omitempty"`
	Since  *metav1.Time `json:"since,omitempty"`
	Last   *metav1.Time `json:"last,omitempty"`
	// Until is when the pod is evicted, or when the scheduler gives the devices back.
	Until      *metav1.Time        `json:"until,omitempty"`
	Message    string              `json:"message"`
	Said       string              `json:"said,omitempty"`
	TaintRules []explain.TaintRule `json:"taintRules,omitempty"`
	Actor      string              `json:"actor" enum:"explain.Actor"`
	Commands   []string            `json:"commands,omitempty"`
}

// Container is a container that does not simply run.
type Container struct {
	Pod      string         `json:"pod"`
	Name     string         `json:"name"`
	Init     bool           `json:"init,omitempty"`
	State    string         `json:"state" enum:"explain.ContainerStage"`
	Reason   string         `json:"reason,omitempty"`
	Said     string         `json:"said,omitempty"`
	Restarts int            `json:"restarts"`
	Since    *metav1.Time   `json:"since,omitempty"`
	Exit     *ContainerExit `json:"exit,omitempty"`
}

// ContainerExit is how a container ended, now or the last time.
type ContainerExit struct {
	Code   int          `json:"code"`
	Signal int          `json:"signal,omitempty"`
	Reason string       `json:"reason,omitempty"`
	At     *metav1.Time `json:"at,omitempty"`
}

// DeviceState is what is reported of an allocated device.
type DeviceState struct {
	Claim  string `json:"claim,omitempty"`
	Driver string `json:"driver"`
	Pool   string `json:"pool"`
	Device string `json:"device"`
	// Health is Healthy, Unhealthy or Unknown.
	Health      string             `json:"health,omitempty" enum:"explain.DeviceHealth"`
	Said        string             `json:"said,omitempty"`
	Conditions  []metav1.Condition `json:"conditions,omitempty"`
	NetworkData *explain.Network   `json:"networkData,omitempty"`
}

// Event is what happened to an object, all together that happened again.
type Event struct {
	Object    explain.Subject `json:"object"`
	Container string          `json:"container,omitempty"`
	Type      string          `json:"type"`
	Reason    string          `json:"reason"`
	Message   string          `json:"message"`
	Source    string          `json:"source,omitempty"`
	Count     int             `json:"count"`
	First     *metav1.Time    `json:"first,omitempty"`
	Last      *metav1.Time    `json:"last,omitempty"`
}

func (c claimName) lifecycle(l explain.Lifecycle) Lifecycle {
	return Lifecycle{
		Outcome: string(l.Outcome), Pods: words.Each(l.Pods, podProgress), Problems: words.Each(l.Problems, problem),
		Containers: output.Optional(l.Containers, container), Devices: output.Optional(l.Devices, c.deviceState),
		Events: output.Optional(l.Events, event), MoreEvents: l.MoreEvents,
	}
}

func podProgress(p explain.PodProgress) PodProgress {
	return PodProgress{Pod: p.Pod.String(), Node: string(p.Node), Stage: string(p.Stage), Since: output.OptionalTime(p.Since), Prepared: p.Prepared, Reason: p.Reason}
}

func problem(p explain.Problem) Problem {
	return Problem{
		Code: string(p.Code), Fails: p.Fails, Object: p.Object, Devices: output.DeviceNames(p.Devices), Driver: p.Driver, Container: p.Container,
		Reason: p.Reason, Count: p.Count, Since: output.OptionalTime(p.Since), Last: output.OptionalTime(p.Last), Until: output.OptionalTime(p.Until), Message: p.Message, Said: p.Said,
		TaintRules: p.TaintRules, Actor: string(p.Actor), Commands: p.Commands,
	}
}

func container(c explain.Container) Container {
	return Container{
		Pod: c.Pod.String(), Name: c.Name, Init: c.Init, State: string(c.Stage), Reason: c.Reason, Said: c.Said, Restarts: c.Restarts, Since: output.OptionalTime(c.Since),
		Exit: output.Maybe(c.Exit, func(e explain.ContainerExit) ContainerExit {
			return ContainerExit{Code: e.Code, Signal: e.Signal, Reason: e.Reason, At: output.OptionalTime(e.At)}
		}),
	}
}

func (c claimName) deviceState(d explain.DeviceState) DeviceState {
	return DeviceState{
		Claim: c.of(d.Claim), Driver: d.ID.Driver, Pool: d.ID.Pool, Device: d.ID.Device, Health: string(d.Health), Said: d.HealthSaid, Conditions: d.Conditions, NetworkData: d.Network,
	}
}

func event(e inspect.Event) Event {
	return Event{
		Object: explain.Subject{Kind: e.Kind, Namespace: e.Namespace, Name: e.Name}, Container: e.Container, Type: e.Type, Reason: e.Reason,
		Message: e.Message, Source: e.Source, Count: e.Count, First: output.OptionalTime(e.First), Last: output.OptionalTime(e.Last),
	}
}
