package lifecycle

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// containersOf returns the containers of a pod that do not simply run: those that wait or have failed, and
// those that were started again. Of the others nothing need be known, and a snapshot may not have kept it.
func containersOf(pod *corev1.Pod) []explain.Container {
	var out []explain.Container
	add := func(statuses []corev1.ContainerStatus, init bool) {
		for i := range statuses {
			if c, ok := containerOf(&statuses[i]); ok {
				c.Pod, c.Init = inspect.PodRef{Namespace: pod.Namespace, Name: pod.Name}, init
				out = append(out, c)
			}
		}
	}
	add(pod.Status.InitContainerStatuses, true)
	add(pod.Status.ContainerStatuses, false)
	return out
}

// containerOf is false for a container that simply runs, or has run to its end.
func containerOf(status *corev1.ContainerStatus) (explain.Container, bool) {
	c := explain.Container{Name: status.Name, Restarts: int(status.RestartCount), Exit: exitOf(status.LastTerminationState.Terminated)}
	switch state := &status.State; {
	case state.Waiting != nil:
		c.Stage, c.Reason, c.Said = explain.ContainerWaiting, state.Waiting.Reason, state.Waiting.Message
		c.Coming = inProgress[c.Reason]
	case exitOf(state.Terminated) != nil:
		c.Stage, c.Reason, c.Exit = explain.ContainerTerminated, state.Terminated.Reason, exitOf(state.Terminated)
		c.Since = c.Exit.At // and not the message: that is of the program that ran, and is not kept
	case c.Restarts == 0:
		return c, false
	default:
		c.Stage = explain.ContainerRunning
		if state.Running != nil {
			c.Since = state.Running.StartedAt.Time
		}
	}
	return c, true
}

// exitOf is nil for a container that has not ended, or not failed.
func exitOf(t *corev1.ContainerStateTerminated) *explain.ContainerExit {
	if t == nil || t.ExitCode == 0 && t.Signal == 0 {
		return nil
	}
	return &explain.ContainerExit{Code: int(t.ExitCode), Signal: int(t.Signal), Reason: t.Reason, At: t.FinishedAt.Time}
}

// inProgress are the reasons for which a container waits while nothing has gone wrong.
var inProgress = map[string]bool{"": true, "ContainerCreating": true, "PodInitializing": true}

// failingContainers adds the containers of a pod that do not start or do not keep running.
func (b *builder) failingContainers(pod *corev1.Pod) {
	for _, c := range containersOf(pod) {
		if c.Stage == explain.ContainerRunning || c.Coming {
			continue
		}
		name := "container " + c.Name
		if c.Init {
			name = "init " + name
		}
		p := explain.Problem{
			Code: explain.ContainerFailed, Fails: true, Object: podSubject(pod), Container: c.Name, Reason: c.Reason,
			Said: c.Said, Count: c.Restarts, Actor: explain.User, Brief: "its " + name + " does not run",
			Commands: commands(describe("pod", pod.Namespace, pod.Name)),
		}
		switch {
		case c.Stage == explain.ContainerTerminated:
			p.Brief = "its " + name + " has failed"
		case c.Reason != "":
			p.Brief = "its " + name + " is in " + c.Reason
		}
		p.Message = name + " " + b.state(&c)
		if c.Exit != nil {
			p.Since = c.Exit.At
			logs := []string{"kubectl", "logs", "-n", pod.Namespace, pod.Name, "-c", c.Name}
			if c.Stage == explain.ContainerWaiting {
				logs = append(logs, "--previous")
			}
			p.Commands = commands(logs, describe("pod", pod.Namespace, pod.Name))
		}
		b.add(p)
	}
}

// state says in words why a container does not run.
func (b *builder) state(c *explain.Container) string {
	var parts []string
	if c.Restarts > 0 {
		parts = append(parts, words.Count(c.Restarts, "restart"))
	}
	if e := c.Exit; e != nil {
		parts = append(parts, fmt.Sprintf("ended%s with exit code %d%s", b.ago(e.At, " ", " ago"), e.Code, reasonOf(c)))
	}
	text := "waits"
	if c.Stage == explain.ContainerTerminated {
		text = "has failed"
	}
	if c.Reason != "" {
		text += ": " + c.Reason
	}
	if len(parts) == 0 {
		return text
	}
	return text + " (" + strings.Join(parts, ", ") + ")"
}

// reasonOf is why a container ended, where that is not said already and says more than that it did.
func reasonOf(c *explain.Container) string {
	if r := c.Exit.Reason; r != "" && r != c.Reason && r != "Error" {
		return ", " + r
	}
	return ""
}
