package checkup

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// given is a device of a device plugin that a pod has, by the ID that the plugin gives it.
type given struct {
	pod          *corev1.Pod
	resource, id string
}

// offer is a driver that publishes devices for a node.
type offer struct{ node, driver string }

// givenByPlugins returns what pods have of device plugins, as far as their status says so, by node and by ID.
// Plugins that share a device write which share it is behind the ID, after two colons.
func (v *visit) givenByPlugins() map[string]map[string]given {
	out := map[string]map[string]given{}
	for _, pod := range v.s.Objects().Pods {
		if pod.Spec.NodeName == "" || inspect.Ended(pod) {
			continue
		}
		for _, r := range allocatedResources(pod) {
			if !inspect.IsExtendedResource(r.Name) {
				continue
			}
			for _, one := range r.Resources {
				id, _, _ := strings.Cut(strings.ToLower(string(one.ResourceID)), "::")
				if out[pod.Spec.NodeName] == nil {
					out[pod.Spec.NodeName] = map[string]given{}
				}
				out[pod.Spec.NodeName][id] = given{pod, string(r.Name), string(one.ResourceID)}
			}
		}
	}
	return out
}

// findPluginsProved reports devices that a driver publishes and a pod has of a device plugin, and returns who
// publishes them.
func (v *visit) findPluginsProved() map[offer]bool {
	proved := map[offer]bool{}
	all := v.givenByPlugins()
	if len(all) == 0 {
		return proved
	}
	for _, d := range v.devices() {
		on := all[string(d.Node)]
		if on == nil {
			continue
		}
		for _, identity := range identities(d.Device) {
			value := strings.TrimPrefix(strings.TrimPrefix(identity, pciAddress), uuid)
			if by, same := on[value]; same {
				proved[offer{string(d.Node), d.ID.Driver}] = true
				v.reportProved(d, identity, by)
				break
			}
		}
	}
	return proved
}

func (v *visit) reportProved(d *inspect.DeviceStatus, identity string, by given) {
	f := aboutDevice(d,
		fmt.Sprintf("Pod %s/%s has %s of the device plugin for %s, which is the same hardware, by its %s",
			by.pod.Namespace, by.pod.Name, by.id, by.resource, identity),
		object("Pod", by.pod.Namespace, by.pod.Name))
	f.Severity = Warning
	if claims := holderRefs(d); len(claims) > 0 {
		f.Severity = Error
		f.Objects = append(f.Objects, claims...)
		f.Detail += fmt.Sprintf("; and %s holds it", subjectOf(claims[0]))
	}
	v.report(f)
}

func findPluginAndDriver(v *visit) {
	if v.s.NodesAssumed() {
		return
	}
	proved := v.findPluginsProved()
	publishing := inspect.PublishingNodes(v.s)
	for _, driver := range publishing.Drivers() {
		for _, name := range publishing.Nodes(driver) {
			node, ok := v.s.Node(inspect.NodeName(name))
			if !ok || proved[offer{name, driver}] {
				continue
			}
			for _, resource := range extendedNames(node.Status.Allocatable) {
				offered := node.Status.Allocatable[resource]
				domain, _, _ := strings.Cut(string(resource), "/")
				if offered.Sign() <= 0 || baseDomain(domain) != baseDomain(driver) {
					continue
				}
				f := about(object("Node", "", name), "",
					fmt.Sprintf("a device plugin offers %s %s, and driver %s publishes devices: possibly the same",
						offered.String(), resource, driver))
				f.Group = driver
				v.report(f)
			}
		}
	}
}
