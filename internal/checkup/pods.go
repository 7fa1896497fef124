package checkup

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/lifecycle"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/explain/triage"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

var podRules = []Rule{
	{
		Code: "ClaimMissing", Severity: Error, needs: []inspect.Resource{inspect.Pods, inspect.Claims},
		About:  "A pod names a ResourceClaim that does not exist, and waits for it.",
		Remedy: "Create the claim, or correct the name in what makes the pod.",
		find:   findMissingClaims,
	},
	{
		Code: "TemplateMissing", Severity: Error, needs: []inspect.Resource{inspect.Pods, inspect.Templates},
		About:  "A pod names a ResourceClaimTemplate that does not exist, and waits for the claim that cannot be made from it.",
		Remedy: "Create the template, or correct the name in what makes the pod.",
		find:   findMissingTemplates,
	},
	{
		Code: "ClaimNotCreated", Severity: Error, needs: []inspect.Resource{inspect.Pods, inspect.Templates, inspect.Claims},
		About:  "A pod's claim cannot be created from its template, for example because a quota is exhausted.",
		Remedy: "Raise the quota, or delete what uses it.",
		find:   func(v *visit) { v.podProblems(explain.ClaimNotCreated) },
	},
	{
		Code: "PrepareFailed", Severity: Error, needs: []inspect.Resource{inspect.Pods, inspect.Claims},
		About:  "The driver failed to prepare the devices of a pod for the kubelet.",
		Remedy: "Look at the driver's logs on that node.",
		find:   func(v *visit) { v.podProblems(explain.PrepareFailed) },
	},
	{
		Code: "DeviceUnhealthy", Severity: Error, needs: []inspect.Resource{inspect.Pods},
		About:  "A driver or device plugin reports that a device of a running pod is unhealthy.",
		Remedy: "Move the pod to another device: delete it, and taint the device first if the driver does not.",
		find:   findUnhealthy,
	},
	{
		Code: "Evicting", Severity: Warning, also: Error, needs: []inspect.Resource{inspect.Pods, inspect.Claims, inspect.Slices},
		About:  "A pod is about to be evicted, or will be when it no longer tolerates a taint of its device or node.",
		Remedy: "Remove the taint in time, or accept the eviction.",
		find:   func(v *visit) { v.podProblems(explain.Evicting) },
	},
	{
		Code: "NodeSilent", Severity: Error, needs: []inspect.Resource{inspect.Pods, inspect.Nodes},
		About:  "The node of a pod with devices is gone, or its kubelet does not report.",
		Remedy: "Look at the node: kubectl describe node.",
		find:   func(v *visit) { v.podProblems(explain.NodeSilent) },
	},
	{
		Code: "PluginDevicesUnhealthy", Severity: Warning, needs: []inspect.Resource{inspect.Nodes},
		About:  "A node has more devices of a device plugin than can be allocated: some are unhealthy, or the plugin has stopped.",
		Remedy: "Look at the device plugin's pod on the node. A plugin that has stopped is forgotten after five minutes.",
		find:   findUnhealthyPlugins,
	},
	{
		Code: "PluginAndDriver", Severity: Note, also: Error, needs: []inspect.Resource{inspect.Nodes, inspect.Slices},
		About:  "A node offers devices of one vendor both by a device plugin and by a DRA driver. If these are the same devices, they can be allocated twice. The finding is a warning if a pod has a device of a plugin with the UUID or PCI address of one that a driver publishes, and an error if a claim holds the latter.",
		Remedy: "Compare the devices of both by UUID or PCI address. Only one of the two may offer a device.",
		find:   findPluginAndDriver,
	},
	{
		Code: "Stuck", Severity: Error, triage: true, needs: []inspect.Resource{inspect.Pods, inspect.Claims, inspect.Slices, inspect.Classes, inspect.Nodes},
		About:  "Pods or claims wait because the scheduler cannot place them, or they are placed and do not run. What another check already explains is left out.",
		Remedy: "kubectl dra explain -A says which change unblocks most of them.",
		find:   findStuck,
	},
}

// causes are the codes of findings that say by themselves why their first object is stuck.
var causes = []Code{
	"ClaimMissing", "TemplateMissing", "ClaimNotCreated", "PrepareFailed", "DeviceUnhealthy", "AllocatedDeviceGone", "Evicting", "NodeSilent",
	"ClaimStuckDeleting", "SelectorAborts", "ClassMissing", "PodNotReserved", "BindingFailed", "ClassUnmapped",
}

// waiting is what is stuck.
type waiting struct {
	triage *explain.Triage
	helps  map[explain.Subject]string // what helps a subject, for some of those of each cause
}

// waiting looks at everything that is stuck. What it takes for that is not kept.
func (v *visit) waiting(c *scheduler.Cluster) (*waiting, error) {
	var mutex sync.Mutex
	w := &waiting{helps: map[explain.Subject]string{}}
	t, err := triage.Of(v.ctx, c, triage.Options{
		Question: question.Options{Events: v.opts.Events}, Untried: true,
		Explained: func(e *explain.Explanation) {
			mutex.Lock()
			defer mutex.Unlock()
			switch {
			case len(e.Advice) > 0:
				w.helps[e.Subject] = strings.Join(append([]string{e.Advice[0].Message}, e.Advice[0].Commands...), ": ")
			case len(e.Fixes) > 0:
				w.helps[e.Subject] = e.Fixes[0].Message
			}
		},
	})
	if err != nil {
		return nil, err //nolint:wrapcheck // whoever asks says what for
	}
	w.triage = t
	return w, nil
}

// findStuck reports each cause of the triage with all that it keeps, unless other rules about pods and
// claims, which are asked before, have told what is wrong with each of them.
func findStuck(v *visit) {
	w, err := v.stuck()
	if err != nil {
		v.skip("what is stuck could not be worked out: %v", err)
		return
	}
	t, helps := w.triage, w.helps
	told := map[inspect.ObjectRef]bool{}
	for _, f := range v.findings {
		if !slices.Contains(causes, f.Code) {
			continue
		}
		first := f.Objects[0]
		told[first] = true
		if first.Kind == "ResourceClaim" {
			for _, pod := range v.s.PodsOf(inspect.ClaimRef{Namespace: first.Namespace, Name: first.Name}) {
				told[object("Pod", pod.Namespace, pod.Name)] = true
			}
		}
	}
	undecided := t.Undecided()
	for _, subject := range t.Depends {
		undecided -= words.Btoi(told[object(subject.Kind, subject.Namespace, subject.Name)])
	}
	if undecided > 0 {
		v.skip("it is not known whether %s stuck", words.Plural(undecided, "a pod or claim is", fmt.Sprintf("%d pods and claims are", undecided)))
	}
	if t.Unseen || t.Unsure && undecided == 0 && len(t.Ready) > 0 {
		v.skip("it is not known of everything that waits whether it is stuck")
	}
	for i := range t.Causes {
		c := &t.Causes[i]
		if c.OnPurpose || c.Verdict == explain.Unknown {
			continue
		}
		var refs []inspect.ObjectRef
		for j := range c.Subjects {
			s := &c.Subjects[j].Subject
			refs = append(refs, object(s.Kind, s.Namespace, s.Name))
		}
		if !slices.ContainsFunc(refs, func(o inspect.ObjectRef) bool { return !told[o] }) {
			continue
		}
		f := Finding{
			Subject: words.Plural(len(refs), subjectOf(refs[0]), fmt.Sprintf("%s and %d more", subjectOf(refs[0]), len(refs)-1)),
			Name:    c.Key, Objects: refs, Detail: c.Message + v.ago(", for ", c.Since),
		}
		for _, o := range c.Subjects {
			if f.Remedy = helps[o.Subject]; f.Remedy == "" {
				continue
			}
			if len(refs) > 1 {
				f.Remedy = fmt.Sprintf("For %s: %s. %s", subjectOf(object(o.Kind, o.Namespace, o.Name)), f.Remedy, v.rule.Remedy)
			}
			break
		}
		v.report(f)
	}
}

// claimEntries calls yield for each claim, by its place in the pod, that a pod names which has not ended.
func (v *visit) claimEntries(yield func(pod *corev1.Pod, path string, entry *corev1.PodResourceClaim)) {
	for _, pod := range v.s.Objects().Pods {
		if inspect.Ended(pod) || pod.DeletionTimestamp != nil {
			continue
		}
		for i := range pod.Spec.ResourceClaims {
			yield(pod, fmt.Sprintf("spec.resourceClaims[%d]", i), &pod.Spec.ResourceClaims[i])
		}
	}
}

func (v *visit) reportPod(pod *corev1.Pod, path, detail string, more ...inspect.ObjectRef) {
	v.report(about(object("Pod", pod.Namespace, pod.Name), path, detail, more...))
}

func findMissingClaims(v *visit) {
	v.claimEntries(func(pod *corev1.Pod, path string, entry *corev1.PodResourceClaim) {
		name := entry.ResourceClaimName
		if name == nil {
			return
		}
		if _, exists := v.s.Claim(inspect.ClaimRef{Namespace: pod.Namespace, Name: *name}); !exists {
			v.reportPod(pod, path+".resourceClaimName", fmt.Sprintf("there is no ResourceClaim %s", *name))
		}
	})
}

func findMissingTemplates(v *visit) {
	v.claimEntries(func(pod *corev1.Pod, path string, entry *corev1.PodResourceClaim) {
		name := entry.ResourceClaimTemplateName
		if name == nil {
			return
		}
		_, made := inspect.ClaimNameFor(pod, entry)
		if _, exists := v.s.Template(pod.Namespace, *name); !exists && !made {
			v.reportPod(pod, path+".resourceClaimTemplateName",
				fmt.Sprintf("there is no ResourceClaimTemplate %s", *name))
		}
	})
}

// allocatedOf returns the claims of a pod that are allocated.
func allocatedOf(s *inspect.Snapshot, pod *corev1.Pod) []*resourcev1.ResourceClaim {
	var names []string
	for i := range pod.Spec.ResourceClaims {
		if name, made := inspect.ClaimNameFor(pod, &pod.Spec.ResourceClaims[i]); made {
			names = append(names, name)
		}
	}
	if extended := pod.Status.ExtendedResourceClaimStatus; extended != nil {
		names = append(names, extended.ResourceClaimName)
	}
	var out []*resourcev1.ResourceClaim
	for _, name := range names {
		if claim, ok := s.Claim(inspect.ClaimRef{Namespace: pod.Namespace, Name: name}); ok && claim.Status.Allocation != nil {
			out = append(out, claim)
		}
	}
	return out
}

// lives are what has become of each pod with devices, and of each claim whose devices are being bound, if
// there is a problem.
func (v *visit) lives() []*explain.Lifecycle {
	if v.lived != nil {
		return v.lived
	}
	v.lived = []*explain.Lifecycle{}
	for _, pod := range v.s.Objects().Pods {
		extended := pod.Status.ExtendedResourceClaimStatus != nil
		if len(pod.Spec.ResourceClaims) == 0 && !extended || inspect.Ended(pod) {
			continue
		}
		if l := lifecycle.Pod(v.s, pod, allocatedOf(v.s, pod), v.opts.Events); l != nil && len(l.Problems) > 0 {
			v.lived = append(v.lived, l)
		}
	}
	return v.lived
}

// problemsOf calls yield for each problem of a code, once for each object.
func (v *visit) problemsOf(code explain.ProblemCode, yield func(*explain.Problem)) {
	told := map[string]bool{}
	for _, l := range v.lives() {
		for i := range l.Problems {
			p := &l.Problems[i]
			key := p.Object.Kind + "/" + p.Object.Namespace + "/" + p.Object.Name + p.Message
			if p.Code == code && !told[key] {
				told[key] = true
				yield(p)
			}
		}
	}
}

func (v *visit) podProblems(code explain.ProblemCode) {
	v.problemsOf(code, func(p *explain.Problem) {
		f := about(object(p.Object.Kind, p.Object.Namespace, p.Object.Name), "", p.Message)
		for _, r := range p.TaintRules {
			f.Objects = append(f.Objects, object("DeviceTaintRule", "", r.Name))
		}
		if p.Said != "" {
			f.Evidence = append(f.Evidence, words.OneLine(p.Said))
		}
		if code == explain.Evicting && !p.Until.After(v.now) {
			f.Severity = Error
		}
		if len(p.Commands) > 0 {
			f.Remedy = v.rule.Remedy + " " + p.Commands[0]
		}
		v.report(f)
	})
}

// claimProblems is podProblems for what is in the way of binding.
func (v *visit) claimProblems(code explain.ProblemCode) {
	v.problemsOf(code, func(p *explain.Problem) {
		f := about(object(p.Object.Kind, p.Object.Namespace, p.Object.Name), "", p.Message)
		if left := p.Until.Sub(v.now); code == explain.BindingPending && !p.Until.IsZero() && !v.now.IsZero() && left < v.s.Scheduler().BindingTimeout()/2 {
			f.Severity = Warning
			f.Evidence = []string{"the scheduler gives the devices back in " + duration.HumanDuration(max(0, left.Round(time.Second)))}
		}
		v.report(f)
	})
}

func findUnhealthy(v *visit) {
	for _, pod := range v.s.Objects().Pods {
		if inspect.Ended(pod) {
			continue
		}
		var bad []string
		for _, r := range allocatedResources(pod) {
			for _, d := range r.Resources {
				if d.Health == corev1.ResourceHealthStatusUnhealthy {
					bad = append(bad, fmt.Sprintf("%s of %s", d.ResourceID, r.Name))
				}
			}
		}
		slices.Sort(bad)
		if bad = slices.Compact(bad); len(bad) > 0 {
			v.reportPod(pod, "status.containerStatuses", words.Shorten(bad, 3)+words.Plural(len(bad), " is unhealthy", " are unhealthy"))
		}
	}
}

// allocatedResources are what the containers of a pod have, as far as its status says so.
func allocatedResources(pod *corev1.Pod) []corev1.ResourceStatus {
	var out []corev1.ResourceStatus
	for _, statuses := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses,
		pod.Status.ContainerStatuses} {
		for i := range statuses {
			out = append(out, statuses[i].AllocatedResourcesStatus...)
		}
	}
	return out
}

func findUnhealthyPlugins(v *visit) {
	if v.s.NodesAssumed() {
		return
	}
	for _, node := range v.s.Nodes() {
		for _, name := range extendedNames(node.Status.Capacity) {
			capacity, allocatable := node.Status.Capacity[name], node.Status.Allocatable[name]
			if allocatable.Cmp(capacity) >= 0 {
				continue
			}
			f := about(object("Node", "", node.Name), "status.allocatable",
				fmt.Sprintf("%s of its %s %s can be allocated", allocatable.String(), capacity.String(),
					name))
			f.Group = string(name)
			v.report(f)
		}
	}
}

// extendedNames are the extended resources of a list, sorted.
func extendedNames(of corev1.ResourceList) []corev1.ResourceName {
	var out []corev1.ResourceName
	for name := range of {
		if inspect.IsExtendedResource(name) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}
