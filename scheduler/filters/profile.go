package filters

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect/schedulerconfig"
)

// A profile of kube-scheduler may have plugins off, and others than kube-scheduler's own. What is off says
// nothing. What is on in part, or is not known, is a doubt.

// applied is what a plugin that says this of the pod says of it in its profile.
func (p *Prepared) applied(plugin Plugin, c check, everywhere Outcome) (check, Outcome) {
	points := []schedulerconfig.Point{schedulerconfig.PreFilter, schedulerconfig.Filter}
	if !p.profile.Knows(string(plugin), schedulerconfig.Filter) {
		points = []schedulerconfig.Point{schedulerconfig.PreEnqueue, schedulerconfig.Permit}
	}
	before, after := p.profile.On(string(plugin), points[0]), p.profile.On(string(plugin), points[1])
	silent := c == nil && everywhere.Passes()
	switch {
	case before && after, before && plugin == SchedulingGates, after && slices.Contains(filtersAlone, plugin):
		return c, everywhere
	case !before && !after, before && (silent || slices.Contains(preparesOnly, plugin)), plugin == GangScheduling && silent:
		return nil, Outcome{}
	case before:
		slices.Reverse(points)
	}
	return nil, doubt(Doubt{Plugin: plugin, Key: "half", Message: fmt.Sprintf("the profile of kube-scheduler has %s on at %s and off at %s", plugin, points[1], points[0])})
}

var (
	// preparesOnly are plugins that refuse nothing until they are asked about nodes.
	preparesOnly = []Plugin{NodeUnschedulable, TaintToleration, NodePorts, NodeResourcesFit, PodTopologySpread, InterPodAffinity, NodeVolumeLimits}
	// filtersAlone are plugins that can be asked about nodes without having looked at the pod before.
	filtersAlone = []Plugin{NodeName, NodeUnschedulable, TaintToleration, NodeAffinity, NodeVolumeLimits}
)

// others is what may refuse the pod besides the plugins here, by its profile.
func (p *Prepared) others() Outcome {
	var out Outcome
	say := func(plugin Plugin, key, format string, args ...any) {
		out.and(doubt(Doubt{Plugin: plugin, Key: key, Message: fmt.Sprintf(format, args...)}))
	}
	if p.profile.Unreadable() != "" {
		say("", "unreadable", "kube-scheduler has a configuration that was not read: what it refuses besides is not known")
		return out
	}
	if foreign := p.profile.Foreign(schedulerconfig.PreEnqueue, schedulerconfig.PreFilter, schedulerconfig.Filter,
		schedulerconfig.Reserve, schedulerconfig.Permit, schedulerconfig.PreBind, schedulerconfig.Bind); len(foreign) > 0 {
		say("", "plugins", "the profile of kube-scheduler has plugins that are not its own and may refuse the pod: %s", strings.Join(foreign, ", "))
	}
	if unscored := p.profile.Unscored(); len(unscored) > 0 {
		say("", "preScore", "the profile of kube-scheduler has plugins off at preScore and on at score, with which it may fail: %s", strings.Join(unscored, ", "))
	}
	refuse, _ := p.profile.Extenders(ResourcesOf(p.Pod))
	for _, url := range refuse {
		say("", "extender "+url, "the extender of kube-scheduler at %s may refuse nodes", url)
	}
	if len(p.Pod.Spec.ResourceClaims) > 0 || p.asksForClasses() {
		p.othersOfClaims(say)
	}
	if slices.ContainsFunc(p.Pod.Spec.Volumes, func(v corev1.Volume) bool { return v.PersistentVolumeClaim != nil || v.Ephemeral != nil }) &&
		(!p.profile.On(string(VolumeBinding), schedulerconfig.Reserve) || !p.profile.On(string(VolumeBinding), schedulerconfig.PreBind)) {
		say(VolumeBinding, "off", "the profile of kube-scheduler has VolumeBinding off at reserve or preBind: whether the volumes of the pod are bound is not known")
	}
	return out
}

// othersOfClaims says what may refuse the pod for its claims.
func (p *Prepared) othersOfClaims(say func(plugin Plugin, key, format string, args ...any)) {
	if timeout := p.profile.FilterTimeout(); timeout != "" {
		say(DynamicResources, "timeout", "the profile of kube-scheduler has a filterTimeout of %s: whether it finds devices in time is not known", timeout)
	}
	for _, point := range schedulerconfig.PointsOf(string(DynamicResources)) {
		if point != schedulerconfig.PostFilter && point != schedulerconfig.PreScore && point != schedulerconfig.Score && !p.profile.On(string(DynamicResources), point) {
			say(DynamicResources, "off", "the profile of kube-scheduler has DynamicResources off at %s: what becomes of the claims of the pod is not known", point)
			return
		}
	}
}

// asksForClasses reports whether the pod asks for extended resources that devices of a class may provide.
func (p *Prepared) asksForClasses() bool {
	return slices.ContainsFunc(ResourcesOf(p.Pod), func(name corev1.ResourceName) bool {
		c := p.classesFor(name)
		return c.some || c.unsure != ""
	})
}

// ResourcesOf are the resources that the containers of a pod name.
func ResourcesOf(pod *corev1.Pod) []corev1.ResourceName {
	var out []corev1.ResourceName
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			for _, list := range []corev1.ResourceList{containers[i].Resources.Requests, containers[i].Resources.Limits} {
				for name := range list {
					if !slices.Contains(out, name) {
						out = append(out, name)
					}
				}
			}
		}
	}
	slices.Sort(out)
	return out
}
