package checkup

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/flowcontrol"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest/validate"
)

var serverRules = []Rule{
	{
		Code: "ObjectInvalid", Severity: Warning, also: Error, files: true,
		About:  "The API server of the newest release, or of the release of --target, would refuse an object, if it were created now. The finding is an error for a manifest, unless only a later release refuses it, and a warning for an object in the cluster.",
		Remedy: "Correct the field. An object in a cluster stays as it is until it is written again.",
		find:   func(v *visit) { findInvalid(v, false) },
	},
	{
		Code: "ObjectOdd", Severity: Warning, files: true,
		About:  "The API server accepts an object, but one of its fields is probably not what was intended.",
		Remedy: "Check whether it means what was intended.",
		find:   func(v *visit) { findInvalid(v, true) },
	},
	{
		Code: "VersionRemoved", Severity: Warning, also: Error, files: true,
		About:  "Manifests are written in, or the server has nothing newer than, a version of the API that the next release, or the release of --target, no longer serves. The finding is an error for a manifest that no current release accepts.",
		Remedy: "Write the objects in the version that is named, if the server has it already: kubectl api-versions lists what it has.",
		find:   findOldVersions,
	},
	{
		Code: "OldVersionWritten", Severity: Warning,
		About:  "A client has written objects in a version of the API that the next release, or the release of --target, no longer serves. The finding is a note if that was more than a week ago, because the client may have been upgraded since.",
		Remedy: "Upgrade the client, or configure it to use a newer version, before you upgrade the server, which refuses its writes otherwise. kubectl api-versions lists what the server has.",
		find:   findOldWriters,
	},
	{
		Code: "FeatureOff", Severity: Warning,
		About:  "An object uses a feature whose gate is off, so the scheduler ignores it, or refuses the object.",
		Remedy: "Turn the gate on in the control plane, or stop using the feature.",
		find:   findFeaturesOff,
	},
	{
		Code: "FlowSchemaDangling", Severity: Warning, files: true, needs: []inspect.Resource{inspect.FlowSchemas, inspect.PriorityLevels},
		About:  "A FlowSchema names a priority level that does not exist, so the server skips it, and its requests match a later FlowSchema.",
		Remedy: "Create the level or correct the name: kubectl get prioritylevelconfigurations.",
		find:   findDangling,
	},
	{
		Code: "DriverCrowded", Severity: Note, needs: []inspect.Resource{inspect.FlowSchemas, inspect.PriorityLevels, inspect.Slices, inspect.Pods},
		About:  "The requests of a driver to the API server go to the priority level of all pods, such as workload-low. When other pods flood the server, publishing and preparing devices is delayed.",
		Remedy: "Give the driver a FlowSchema that leads to workload-high or to a level of its own: kubectl dra explain request --as USER says where its requests go.",
		find:   findCrowded,
	},
}

// recently is how long ago somebody may have written something to be told as one who still does.
const recently = 7 * 24 * time.Hour

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
		all := kind.Objects(v.s.Objects())
		parts := slices.Collect(slices.Chunk(all, 512))
		found := make([][]invalid, len(parts))
		_ = allocator.Parallel(len(parts), func(i int) error {
			for _, o := range parts[i] {
				for _, p := range validate.Object(o) {
					found[i] = append(found[i], invalid{object(kind.Name, o.GetNamespace(), o.GetName()), p})
				}
			}
			return nil
		})
		v.problems = append(v.problems, slices.Concat(found...)...)
	}
	return v.problems
}

// findInvalid reports what the API server refuses, or what it accepts nevertheless.
func findInvalid(v *visit, accepted bool) {
	for _, p := range v.invalidObjects() {
		if p.Accepted != accepted || p.Since > v.target() {
			continue
		}
		f := about(p.object, p.Path, words.OneLine(p.Path+": "+p.Message))
		if f.Severity = Warning; v.opts.Files && !accepted && p.Since <= v.s.Features().Minor { // what is in a cluster works
			f.Severity = Error
		}
		v.report(f)
	}
}

func findOldVersions(v *visit) {
	for _, kind := range inspect.Kinds() {
		all := kind.Objects(v.s.Objects())
		if len(all) == 0 {
			continue
		}
		for name := range strings.SplitSeq(v.s.Health(kind.Resource).Version, ", ") {
			minor, old := inspect.RemovedIn(kind.Name, name)
			if !old || minor > v.target() {
				continue
			}
			v.report(Finding{
				Subject: "kind " + kind.Name, Objects: []inspect.ObjectRef{object(kind.Name, all[0].GetNamespace(), all[0].GetName())}, Path: "apiVersion",
				Detail: fmt.Sprintf("%s is no longer served from Kubernetes 1.%d on; %s is the newest", name, minor, kind.APIVersion()),
			})
		}
	}
	for _, gone := range v.opts.Gone {
		f := about(gone.Object, "apiVersion", words.OneLine(gone.Why))
		f.Severity = Error
		v.report(f)
	}
}

// target is the release that the cluster is about to get, the next if none is named.
func (v *visit) target() int {
	return cmp.Or(v.opts.Target, v.s.Features().Minor+1)
}

// ofServer are field managers that are upgraded with the server.
var ofServer = []string{"kube-apiserver", "kube-controller-manager", "kube-scheduler", "api-priority-and-fairness-config-producer-v1"}

// writer is a field manager that writes a kind in an old version.
type writer struct{ manager, kind, version string }

// written is what a writer has written.
type written struct {
	refs   []inspect.ObjectRef
	latest time.Time
}

// findOldWriters reports who has written in a version that goes away, where the server has a newer one: of
// others the version itself is told. It is not known what a manager has written since that nobody has kept.
func findOldWriters(v *visit) {
	found := map[writer]*written{}
	for _, kind := range inspect.Kinds() {
		if !inspect.HasOld(kind.Name) {
			continue
		}
		best := strings.Split(v.s.Health(kind.Resource).Version, ", ")
		for _, o := range kind.Objects(v.s.Objects()) {
			for _, e := range inspect.OldWriters(o) {
				minor, _ := inspect.RemovedIn(kind.Name, e.APIVersion)
				if minor == 0 || minor > v.target() || slices.Contains(best, e.APIVersion) || slices.Contains(ofServer, e.Manager) {
					continue
				}
				by := writer{e.Manager, kind.Name, e.APIVersion}
				if found[by] == nil {
					found[by] = &written{}
				}
				found[by].add(object(kind.Name, o.GetNamespace(), o.GetName()), e.Time)
			}
		}
	}
	order := func(a, b writer) int {
		return cmp.Or(cmp.Compare(a.manager, b.manager), cmp.Compare(a.kind, b.kind), cmp.Compare(a.version, b.version))
	}
	for _, by := range slices.SortedFunc(maps.Keys(found), order) {
		v.reportWriter(by, found[by])
	}
}

func (w *written) add(o inspect.ObjectRef, at *metav1.Time) {
	if n := len(w.refs); n == 0 || w.refs[n-1] != o {
		w.refs = append(w.refs, o)
	}
	if at != nil && at.After(w.latest) {
		w.latest = at.Time
	}
}

func (v *visit) reportWriter(by writer, w *written) {
	severity := Warning
	if v.age(w.latest) > recently {
		severity = Note
	}
	minor, _ := inspect.RemovedIn(by.kind, by.version)
	lastly := v.ago(", the last time ", w.latest)
	if lastly != "" {
		lastly += " ago"
	}
	v.report(Finding{
		Severity: severity, Subject: "field manager " + by.manager, Name: strings.Join([]string{by.manager, by.kind, by.version}, " "), Objects: w.refs,
		Detail: fmt.Sprintf("it has written %s in %s%s; Kubernetes 1.%d no longer serves that",
			words.Plural(len(w.refs), subjectOf(w.refs[0]), fmt.Sprintf("%d objects such as %s", len(w.refs), subjectOf(w.refs[0]))), by.version,
			lastly, minor),
	})
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
		v.report(about(object("FlowSchema", "", d.Schema), "spec.priorityLevelConfiguration.name",
			fmt.Sprintf("there is no priority level %s", d.Level)))
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
