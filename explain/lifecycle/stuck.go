package lifecycle

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// step is one of the things that a kubelet does, in this order, to make a bound pod run.
type step int

const (
	mounts step = iota + 1
	prepares
	sandboxes
	starts
)

// deed is what an Event of a kubelet tells of a step.
type deed struct {
	step  step
	fails bool
}

// deeds are the reasons of Events of a kubelet that tell how far it has come with a pod (pkg/kubelet/events).
// Whatever happens to containers shows that the steps before succeeded; what fails there the containers say
// themselves.
var deeds = map[string]deed{
	"FailedMount":                   {mounts, true},
	"FailedAttachVolume":            {mounts, true},
	"FailedMapVolume":               {mounts, true},
	"FailedPrepareDynamicResources": {prepares, true},
	"NetworkNotReady":               {sandboxes, true},
	"FailedCreatePodSandBox":        {sandboxes, true},
	"FailedPodSandBoxStatus":        {sandboxes, true},
	"Pulling":                       {starts, false},
	"Pulled":                        {starts, false},
	"Created":                       {starts, false},
	"Started":                       {starts, false},
	"BackOff":                       {starts, false},
	"Failed":                        {starts, false},
	"ErrImageNeverPull":             {starts, false},
	"InspectFailed":                 {starts, false},
}

// stuck adds the step at which a kubelet fails with a pod.
func (b *builder) stuck(pod *corev1.Pod, claims []*resourcev1.ResourceClaim) {
	if hasSandbox(pod) {
		return
	}
	latest := b.latestDeed(pod)
	missing := b.driversMissing(pod, claims)
	if latest != nil && deeds[latest.Reason].fails {
		b.add(b.failedStep(pod, claims, latest))
	}
	for _, p := range missing {
		b.add(p)
	}
}

// hasSandbox reports whether the devices, the volumes and the network of a pod are ready, so that only
// containers can fail.
func hasSandbox(pod *corev1.Pod) bool {
	if c := condition(pod, corev1.PodReadyToStartContainers); c != nil {
		return c.Status == corev1.ConditionTrue
	}
	runs := func(c corev1.ContainerStatus) bool { return c.State.Running != nil }
	return pod.Status.Phase == corev1.PodRunning || slices.ContainsFunc(pod.Status.ContainerStatuses, runs) || slices.ContainsFunc(pod.Status.InitContainerStatuses, runs)
}

// latestDeed is the newest Event that tells how far the kubelet has come, of several of one second that of
// the last step. Its number and times are those of all Events of the same reason. It is nil if there is none.
func (b *builder) latestDeed(pod *corev1.Pod) *inspect.Event {
	var latest *inspect.Event
	all := summed(b.events.About("Pod", pod.Namespace, pod.Name, pod.UID))
	for i := range all {
		e := &all[i]
		of, known := deeds[e.Reason]
		if !known {
			continue
		}
		if latest == nil || cmp.Or(e.Last.Compare(latest.Last), cmp.Compare(of.step, deeds[latest.Reason].step)) > 0 {
			latest = e
		}
	}
	return latest
}

// failedStep is the problem that an Event tells of.
func (b *builder) failedStep(pod *corev1.Pod, claims []*resourcev1.ResourceClaim, e *inspect.Event) explain.Problem {
	p := explain.Problem{
		Fails: true, Object: podSubject(pod), Reason: e.Reason, Said: e.Message, Count: e.Count, Since: e.First, Last: e.Last,
		Commands: commands(describe("pod", pod.Namespace, pod.Name)),
	}
	kubelet := "the kubelet on " + pod.Spec.NodeName
	switch deeds[e.Reason].step {
	case mounts:
		p.Code, p.Actor = explain.MountFailed, explain.User
		p.Brief = kubelet + " could not mount its volumes"
	case prepares:
		p.Code, p.Actor = explain.PrepareFailed, explain.DriverAdmin
		p.Brief = kubelet + " could not prepare " + words.Plural(len(devicesOf(claims)), "its device", "its devices")
		drivers := b.preparing(pod, claims)
		if len(drivers) == 1 {
			p.Driver = drivers[0]
		}
		if p.Devices = devicesOf(claims); len(p.Devices) == 0 { // nobody allocates the claims of a pod that names its node
			p.Actor = explain.User
		}
		b.addDriverLogs(&p, pod, drivers...)
	default:
		p.Code, p.Actor = explain.SandboxFailed, explain.ClusterAdmin
		p.Brief = "the container runtime on " + pod.Spec.NodeName + " could not set up its sandbox"
	}
	p.Message = p.Brief + b.times(e)
	return p
}

// times says how often and when something happened.
func (b *builder) times(e *inspect.Event) string {
	last := b.ago(e.Last, "", " ago")
	switch {
	case last == "":
		return ""
	case e.Count < 2:
		return ", " + last
	}
	return fmt.Sprintf(", %d times%s, the last %s", e.Count, over(e.First, e.Last), last)
}

// devicesOf are the devices of allocated claims, in their order.
func devicesOf(claims []*resourcev1.ResourceClaim) []inspect.DeviceID {
	var out []inspect.DeviceID
	for _, claim := range claims {
		for i := range claim.Status.Allocation.Devices.Results {
			out = append(out, inspect.DeviceOf(&claim.Status.Allocation.Devices.Results[i]))
		}
	}
	return out
}
