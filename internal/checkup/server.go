package checkup

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/flowcontrol"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest/validate"
)

var serverRules = []Rule{
	{
		Code: "ObjectInvalid", Severity: Warning, also: Error, files: true,
		About:  "The API server of the newest release would refuse an object, if it were created now. An error of a manifest, and a warning of an object that is there.",
		Remedy: "Mend the field. An object that is in a cluster stays valid until it is written again.",
		find:   func(v *visit) { findInvalid(v, false) },
	},
	{
		Code: "ObjectOdd", Severity: Warning, files: true,
		About:  "The API server accepts an object, and a field of it can hardly have been meant so.",
		Remedy: "See whether it says what was meant.",
		find:   func(v *visit) { findInvalid(v, true) },
	},
	{
		Code: "VersionRemoved", Severity: Warning, files: true,
		About:  "Objects are given, or served at best, in a version of the API that the next release, or that of --target, no longer serves.",
		Remedy: "Write the objects in the newest version that the server has; resource.k8s.io/v1 is served since Kubernetes 1.34.",
		find:   findOldVersions,
	},
	{
		Code: "FeatureOff", Severity: Warning,
		About:  "An object uses a feature whose gate is off, so the scheduler ignores it, or refuses the object.",
		Remedy: "Turn the gate on in the control plane, or do without the feature.",
		find:   findFeaturesOff,
	},
	{
		Code: "FlowSchemaDangling", Severity: Warning, files: true, needs: []inspect.Resource{inspect.FlowSchemas, inspect.PriorityLevels},
		About:  "A FlowSchema names a priority level that does not exist, so the server passes it over, and its requests fall to a later schema.",
		Remedy: "Create the level or mend the name: kubectl get prioritylevelconfigurations.",
		find:   findDangling,
	},
	{
		Code: "DriverCrowded", Severity: Note, needs: []inspect.Resource{inspect.FlowSchemas, inspect.PriorityLevels, inspect.Slices, inspect.Pods},
		About:  "The requests of a driver to the API server go to the priority level of all pods, such as workload-low. When other pods flood the server, devices are published and prepared late.",
		Remedy: "Give the driver a FlowSchema that leads to workload-high or to a level of its own: kubectl dra explain request --as USER says where its requests go.",
		find:   findCrowded,
	},
}

// dra are the kinds whose objects are validated.
var dra = []inspect.Resource{inspect.Claims, inspect.Templates, inspect.Classes, inspect.Slices, inspect.TaintRules}

// invalid is what is wrong with a field of an object.
type invalid struct {
	object inspect.ObjectRef
	validate.Problem
}

// invalidObjects returns what is wrong with the fields of all objects of DRA.
func (v *visit) invalidObjects() []invalid {
	if v.problems != nil {
		return v.problems
	}
	v.problems = []invalid{}
	for _, resource := range dra {
		kind := inspect.KindOf(resource)
		for _, o := range kind.Objects(v.s.Objects()) {
			for _, p := range validate.Object(o) {
				v.problems = append(v.problems, invalid{object(kind.Name, o.GetNamespace(), o.GetName()), p})
			}
		}
	}
	return v.problems
}

// findInvalid reports what the API server refuses, or what it accepts nevertheless.
func findInvalid(v *visit, accepted bool) {
	severity := Warning
	if v.opts.Files && !accepted { // what is in a cluster is there, and works
		severity = Error
	}
	for _, p := range v.invalidObjects() {
		if p.Accepted == accepted {
			v.report(Finding{
				Severity: severity, Subject: subjectOf(p.object), Group: p.object.Namespace, Objects: []inspect.ObjectRef{p.object}, Path: p.Path,
				Detail: words.OneLine(p.Path + ": " + p.Message),
			})
		}
	}
}

// version is a version of a kind.
type version struct{ kind, version string }

// removed says from which minor release on a server no longer serves a version that older ones served (the
// APILifecycleRemoved of each type in k8s.io/api).
var removed = map[version]int{
	{"ResourceClaim", "resource.k8s.io/v1beta1"}: 38, {"ResourceClaim", "resource.k8s.io/v1beta2"}: 39,
	{"ResourceClaimTemplate", "resource.k8s.io/v1beta1"}: 38, {"ResourceClaimTemplate", "resource.k8s.io/v1beta2"}: 39,
	{"DeviceClass", "resource.k8s.io/v1beta1"}: 38, {"DeviceClass", "resource.k8s.io/v1beta2"}: 39,
	{"ResourceSlice", "resource.k8s.io/v1beta1"}: 38, {"ResourceSlice", "resource.k8s.io/v1beta2"}: 39,
	{"DeviceTaintRule", "resource.k8s.io/v1alpha3"}: 39, {"DeviceTaintRule", "resource.k8s.io/v1beta2"}: 42,
	{"CSIStorageCapacity", "storage.k8s.io/v1beta1"}:                       27,
	{"FlowSchema", "flowcontrol.apiserver.k8s.io/v1beta3"}:                 32,
	{"PriorityLevelConfiguration", "flowcontrol.apiserver.k8s.io/v1beta3"}: 32,
}

func findOldVersions(v *visit) {
	target := v.opts.Target
	if target == 0 {
		target = v.s.Features().Minor + 1
	}
	for _, kind := range inspect.Kinds() {
		all := kind.Objects(v.s.Objects())
		if len(all) == 0 {
			continue
		}
		for name := range strings.SplitSeq(v.s.Health(kind.Resource).Version, ", ") {
			minor, old := removed[version{kind.Name, name}]
			if !old || minor > target {
				continue
			}
			v.report(Finding{
				Subject: "kind " + kind.Name, Objects: []inspect.ObjectRef{object(kind.Name, all[0].GetNamespace(), all[0].GetName())}, Path: "apiVersion",
				Detail: fmt.Sprintf("%s is no longer served from Kubernetes 1.%d on", name, minor),
			})
		}
	}
}

func findFeaturesOff(v *visit) {
	off := func(o inspect.Objects) []inspect.Gate {
		return slices.DeleteFunc(inspect.FeaturesUsedBy(o), v.s.Features().Enabled)
	}
	all := *v.s.Objects()
	if len(off(all)) == 0 {
		return
	}
	users := map[inspect.Gate][]inspect.ObjectRef{}
	for _, resource := range append(slices.Clone(dra), inspect.Pods, inspect.PodGroups) {
		kind := inspect.KindOf(resource)
		for _, o := range kind.Objects(&all) {
			var one inspect.Objects
			inspect.SetObjects(&one, kind, []metav1.Object{o})
			for _, gate := range off(one) {
				users[gate] = append(users[gate], object(kind.Name, o.GetNamespace(), o.GetName()))
			}
		}
	}
	for _, gate := range off(all) {
		if refs := users[gate]; len(refs) > 0 {
			v.report(Finding{
				Subject: "feature gate " + string(gate), Objects: refs,
				Detail: fmt.Sprintf("it is off (%s), and %s it: %s%s", v.s.Features().Source, words.Plural(len(refs), "an object uses", fmt.Sprintf("%d objects use", len(refs))),
					subjectOf(refs[0]), words.Plural(len(refs), "", " and others")),
			})
		}
	}
}

func findDangling(v *visit) {
	limits := flowcontrol.Compute(v.s.PriorityLevels(), flowcontrol.DefaultServerConcurrency)
	for _, d := range flowcontrol.DanglingSchemas(v.s.Objects().FlowSchemas, &limits) {
		v.report(Finding{
			Subject: "FlowSchema " + d.Schema, Objects: []inspect.ObjectRef{object("FlowSchema", "", d.Schema)}, Path: "spec.priorityLevelConfiguration.name",
			Detail: fmt.Sprintf("there is no priority level %s", d.Level),
		})
	}
}

func findCrowded(v *visit) {
	for _, actor := range flowcontrol.DRAActors(v.s) {
		if actor.Role != flowcontrol.RoleDriver || !actor.Crowded() {
			continue
		}
		f := Finding{
			Subject: "driver " + actor.Driver, Objects: []inspect.ObjectRef{object("PriorityLevelConfiguration", "", actor.Levels()[0])},
			Detail: fmt.Sprintf("its requests, as %s, go to priority level %s with those of any pod", actor.User, words.And(actor.Levels())),
		}
		switch actor.Evidence {
		case flowcontrol.EvidencePods:
		case flowcontrol.EvidenceNone:
			f.Detail = fmt.Sprintf("its requests go to priority level %s with those of any pod, if it asks as a service account of a namespace of its own", words.And(actor.Levels()))
		default:
			f.Detail += ", if that is its account"
		}
		v.report(f)
	}
}
