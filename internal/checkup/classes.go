package checkup

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

var classRules = []Rule{
	{
		Code: "ClassMissing", Severity: Error, needs: []inspect.Resource{inspect.Classes},
		About:  "A request names a DeviceClass that does not exist, so nothing can be allocated for it. If the claim is already allocated, the class was deleted afterwards.",
		Remedy: "Install the driver's classes, or correct the name: kubectl get deviceclasses.",
		find:   findMissingClasses,
	},
	{
		Code: "ClassMatchesNothing", Severity: Warning, needs: []inspect.Resource{inspect.Classes, inspect.Slices},
		About:  "A DeviceClass matches no device that is published.",
		Remedy: "Check that the driver is installed and that the class fits its version. Try the selector: kubectl dra cel --class CLASS.",
		find:   findEmptyClasses,
	},
	{
		Code: "ClassMatchesEverything", Severity: Warning, needs: []inspect.Resource{inspect.Classes, inspect.Slices},
		About:  "A DeviceClass matches all devices of several drivers, so a request for it can get any kind of device.",
		Remedy: "Begin its selector with device.driver == \"DRIVER\".",
		find:   findClassesOfEverything,
	},
	{
		Code: "ConfigForNobody", Severity: Warning, needs: []inspect.Resource{inspect.Slices},
		About:  "The configuration of a class or request is for a driver that publishes nothing, so no driver will read it.",
		Remedy: "Correct the name of the driver.",
		find:   findConfigForNobody,
	},
	{
		Code: "ExtendedNameTwice", Severity: Warning, files: true, needs: []inspect.Resource{inspect.Classes},
		About:  "Several classes provide the same extended resource. Only the newest of them counts, so creating another one changes what pods get.",
		Remedy: "Let only one class have the name.",
		find:   findExtendedTwice,
	},
	{
		Code: "ExtendedNameShadowed", Severity: Warning, needs: []inspect.Resource{inspect.Classes, inspect.Nodes},
		About:  "A class provides an extended resource that a device plugin offers as well. On the nodes of the plugin pods get devices from the plugin, and DRA is not used.",
		Remedy: "That is a way to migrate. When it is done, take the device plugin away, so that the node no longer offers the resource.",
		find:   findShadowed,
	},
}

// users calls yield for each request of all claims and templates; allocated says that it is one of a claim
// that has its devices.
func (v *visit) users(yield func(r request, allocated bool)) {
	v.specs(func(o inspect.ObjectRef, spec *resourcev1.ResourceClaimSpec, path string) {
		requestsOf(o, spec, path, func(r request) { yield(r, false) })
	})
	for _, claim := range v.s.Objects().Claims {
		if claim.Status.Allocation != nil && claim.DeletionTimestamp == nil {
			requestsOf(claimRef(claim), &claim.Spec, "spec", func(r request) { yield(r, true) })
		}
	}
}

func findMissingClasses(v *visit) {
	v.users(func(r request, allocated bool) {
		if _, exists := v.s.Class(r.Class); exists || r.Class == "" {
			return
		}
		f := r.about(".deviceClassName", fmt.Sprintf("there is no DeviceClass %s", r.Class))
		if allocated {
			f.Severity = Warning
			f.Detail += " any more; the claim keeps its devices"
		}
		v.report(f)
	})
}

// classes calls yield with what becomes of the devices for each class whose selectors can be evaluated.
func (v *visit) classes(yield func(f *filter, out outcome)) {
	if len(v.devices()) == 0 {
		return
	}
	for _, f := range v.filters() {
		if f.object.Kind != "DeviceClass" {
			continue
		}
		if out := v.ask(&f); out.sure && len(out.failed) == 0 {
			yield(&f, out)
		}
	}
}

func findEmptyClasses(v *visit) {
	v.classes(func(f *filter, out outcome) {
		if out.matched == 0 {
			v.report(f.finding("spec.selectors", fmt.Sprintf("it matches none of %s",
				words.Count(len(v.devices()), "device")), f.selectors))
		}
	})
}

func findClassesOfEverything(v *visit) {
	v.classes(func(f *filter, out outcome) {
		if out.matched != len(v.devices()) || len(out.drivers) < 2 {
			return
		}
		slices.Sort(out.drivers)
		v.report(f.finding("spec.selectors", fmt.Sprintf("it matches all %d devices, of the drivers %s",
			out.matched, words.And(out.drivers)), f.selectors))
	})
}

func findConfigForNobody(v *visit) {
	drivers := map[string]bool{}
	for _, slice := range v.s.Slices() {
		drivers[slice.Spec.Driver] = true
	}
	if len(drivers) == 0 {
		return
	}
	check := func(o inspect.ObjectRef, path string, c *resourcev1.DeviceConfiguration) {
		if c.Opaque != nil && !drivers[c.Opaque.Driver] {
			v.report(about(o, path+".opaque.driver",
				fmt.Sprintf("it configures devices of driver %s, which publishes nothing", c.Opaque.Driver)))
		}
	}
	for _, class := range v.s.Objects().Classes {
		for i := range class.Spec.Config {
			check(object("DeviceClass", "", class.Name), fmt.Sprintf("spec.config[%d]", i), &class.Spec.Config[i].DeviceConfiguration)
		}
	}
	v.specs(func(o inspect.ObjectRef, spec *resourcev1.ResourceClaimSpec, path string) {
		for i := range spec.Devices.Config {
			check(o, fmt.Sprintf("%s.devices.config[%d]", path, i), &spec.Devices.Config[i].DeviceConfiguration)
		}
	})
}

func findExtendedTwice(v *visit) {
	by := map[corev1.ResourceName][]string{}
	for _, class := range v.s.Objects().Classes {
		if name := class.Spec.ExtendedResourceName; name != nil {
			by[corev1.ResourceName(*name)] = append(by[corev1.ResourceName(*name)], class.Name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(by)) {
		classes := by[name]
		if len(classes) < 2 {
			continue
		}
		var refs []inspect.ObjectRef
		for _, class := range classes {
			refs = append(refs, object("DeviceClass", "", class))
		}
		detail := "it is provided by the classes " + words.And(classes)
		if counts := v.s.ClassOfExtendedResource(name); counts != nil {
			detail += ", of which " + counts.Name + " counts"
		}
		v.report(Finding{Subject: "extended resource " + string(name), Objects: refs, Path: "spec.extendedResourceName", Detail: detail})
	}
}

func findShadowed(v *visit) {
	for _, class := range v.s.Objects().Classes {
		if class.Spec.ExtendedResourceName == nil || !v.s.Features().Enabled(inspect.GateExtendedResource) {
			continue
		}
		name := corev1.ResourceName(*class.Spec.ExtendedResourceName)
		var nodes []string
		for _, node := range v.s.Nodes() {
			if offered, ok := node.Status.Allocatable[name]; ok && offered.Sign() > 0 {
				nodes = append(nodes, node.Name)
			}
		}
		if len(nodes) > 0 {
			v.report(about(object("DeviceClass", "", class.Name), "spec.extendedResourceName",
				fmt.Sprintf("a device plugin offers %s on %s: %s", name, words.Count(len(nodes), "node"),
					words.Shorten(nodes, 3)), object("Node", "", nodes[0])))
		}
	}
}

// baseDomain is the end of a domain that two names of one vendor share, as nvidia.com of gpu.nvidia.com.
func baseDomain(domain string) string {
	parts := strings.Split(domain, ".")
	if len(parts) < 2 {
		return domain
	}
	return strings.Join(parts[len(parts)-2:], ".")
}
