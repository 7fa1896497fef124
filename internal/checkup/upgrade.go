package checkup

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

var upgradeRules = []Rule{
	{
		Code: "UpgradeGates", Severity: Note, also: Warning, upgrade: true, needs: []inspect.Resource{inspect.Slices},
		About:  "In the release of --target, some feature gates are on by default that are off now, or the reverse. Some of them make the scheduler run another variant of its allocator, which may choose other devices.",
		Remedy: "Read the release notes of the gates; kubectl dra explain --features GATE=true tries one.",
		find:   findGates,
	},
	{
		Code: "UpgradeVerdict", Severity: Warning, upgrade: true, triage: true,
		needs:  []inspect.Resource{inspect.Pods, inspect.Claims, inspect.Slices, inspect.Classes, inspect.Nodes},
		About:  "Something that waits would be stuck with the rules and feature gates of the release of --target, a patch release too, and is not with the present ones, or the reverse, or for another sort of reason.",
		Remedy: "kubectl dra explain with the --features of the other release says why.",
		find:   findVerdicts,
	},
	{
		Code: "UpgradeFinding", Severity: Warning, also: Error, upgrade: true,
		About:  "Another check finds something with the rules and feature gates of the release of --target that it does not find now, or the reverse, such as pods that are evicted.",
		Remedy: "See what that check says of it: kubectl dra check --list.",
		find:   findChanges,
	},
}

// release is the one that the cluster is about to get.
func (v *visit) release() inspect.Release {
	r := inspect.Release{Minor: v.opts.Target, Patch: inspect.LatestPatch}
	if v.opts.TargetPatch != nil {
		r.Patch = *v.opts.TargetPatch
	}
	return r
}

// upgraded is the snapshot with the rules and gates of the release that the cluster is about to get. It
// returns false if these are the present ones.
func (v *visit) upgraded() (*inspect.Snapshot, bool) {
	target := v.targetFeatures()
	same := v.release() == v.s.Release() && target.Minor == v.s.Features().Minor && slices.Equal(target.List(), v.s.Features().List())
	return v.s.WithRelease(v.release(), target), !same
}

// targetFeatures are the gates of the release that the cluster is about to get: its defaults, but for those
// that are not as the release of now has them by default. Somebody has set these, and can still do so.
func (v *visit) targetFeatures() inspect.Features {
	now := v.s.Features()
	usual, target := inspect.DefaultFeatures(now.Minor), inspect.DefaultFeatures(v.opts.Target)
	set := map[inspect.Gate]bool{}
	for _, gate := range inspect.Gates() {
		if on := now.Enabled(gate); on != usual.Enabled(gate) && !target.Locked(gate) {
			set[gate] = on
		}
	}
	return target.With(set)
}

func findGates(v *visit) {
	now, target := v.s.Features(), v.targetFeatures()
	variant := scheduler.NewCluster(v.s.WithRelease(v.release(), target), scheduler.Options{}).Variant()
	first := texts(v.s.Slices()[:min(1, len(v.s.Slices()))], sliceRef)
	if len(first) == 0 {
		return
	}
	// In 1.38 each variant does what the one after it did, so their names say nothing.
	if v.cluster.Variant() != variant && (now.Minor < 38) == (target.Minor < 38) {
		v.report(Finding{
			Severity: Warning, Subject: "the scheduler", Objects: first, Detail: fmt.Sprintf("it runs the %s variant of its allocator instead of the %s one", variant, v.cluster.Variant()),
		})
	}
	for _, gate := range inspect.Gates() {
		if now.Enabled(gate) == target.Enabled(gate) {
			continue
		}
		v.report(Finding{
			Subject: "feature gate " + string(gate), Objects: first,
			Detail: fmt.Sprintf("it is %s in Kubernetes %s, and is %s now", onOff(target.Enabled(gate)), v.release(), onOff(now.Enabled(gate))),
		})
	}
	if newest := inspect.NewestPatch(v.opts.Target); v.opts.TargetPatch != nil && newest > 0 && *v.opts.TargetPatch > newest {
		v.report(Finding{
			Subject: "Kubernetes " + v.release().String(), Objects: first,
			Detail: fmt.Sprintf("it is newer than this program, which decides by the rules of 1.%d.%d", v.opts.Target, newest),
		})
	}
	if caveat := (inspect.Release{Minor: v.opts.Target}).Caveat(); caveat != "" {
		v.report(Finding{Subject: "the release of --target", Objects: first, Detail: caveat})
	}
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

func findVerdicts(v *visit) {
	upgraded, differs := v.upgraded()
	if !differs {
		return
	}
	now, err := v.stuck()
	if err != nil {
		v.skip("what is stuck could not be worked out: %v", err)
		return
	}
	after := scheduler.NewCluster(upgraded, scheduler.Options{})
	then, err := v.waiting(after)
	if err != nil {
		v.skip("what is stuck could not be worked out: %v", err)
		return
	}
	if n := len(now.triage.NotLookedInto) + len(then.triage.NotLookedInto); n > 0 {
		v.skip("so much is stuck that not all of it was looked into")
	}
	if n := len(now.triage.Depends) + len(then.triage.Depends); n > 0 {
		v.skip("whether some pods find a node depends on which nodes kube-scheduler chooses for others")
	}
	v.verdicts(now.triage, then.triage, nil, fmt.Sprintf("with the rules and gates of Kubernetes %s it is stuck: ", v.release()))
	v.verdicts(then.triage, now.triage, after, fmt.Sprintf("it is stuck now, and not with the rules and gates of Kubernetes %s", v.release()))
}

// verdicts reports what is stuck in one triage and not in another. If it is not stuck in the cluster of the
// former, which may be nil, it says on how many nodes that fits; if that is nil, also what is stuck in both,
// and not for the same sort of reason. What has its devices is not looked at: findChanges tells of that.
func (v *visit) verdicts(before, after *explain.Triage, fits *scheduler.Cluster, say string) {
	known := map[explain.Subject]*explain.Cause{}
	for i := range before.Causes {
		for j := range before.Causes[i].Subjects {
			known[before.Causes[i].Subjects[j].Subject] = &before.Causes[i]
		}
	}
	for _, s := range slices.Concat(before.NotLookedInto, before.Depends) {
		known[s] = &explain.Cause{Verdict: explain.Unknown}
	}
	type kind struct{ cause, alike int }
	nodes := map[kind]string{}
	for i := range after.Causes {
		cause := &after.Causes[i]
		for j := range cause.Subjects {
			s := &cause.Subjects[j]
			was := known[s.Subject]
			if cause.Verdict == explain.Unknown || cause.Verdict == explain.Allocated || was != nil && (fits != nil || was.Verdict == explain.Unknown || was.Verdict == cause.Verdict) {
				continue
			}
			detail := say + words.OneLine(cause.Message)
			switch {
			case was != nil:
				detail += "; now: " + words.OneLine(was.Message)
			case fits != nil:
				if _, ok := nodes[kind{i, s.Alike}]; !ok {
					nodes[kind{i, s.Alike}] = v.fitting(fits, s.Subject)
				}
				detail = say + nodes[kind{i, s.Alike}] + words.OneLine(cause.Message)
			}
			v.report(about(object(s.Kind, s.Namespace, s.Name), "", detail))
		}
	}
}

// fitting says on how many nodes of a cluster a subject fits, to stand before why it does not fit now.
func (v *visit) fitting(c *scheduler.Cluster, s explain.Subject) string {
	e, err := question.Named(v.ctx, c, s, question.Options{ReasonOnly: true})
	if err != nil || e.Verdict != explain.Allocatable {
		return ": "
	}
	return fmt.Sprintf(", where it fits on %s: ", words.Count(e.Nodes.Allocatable, "node"))
}

// findChanges asks the other rules again about the same objects with the rules and gates of the other
// release. What is stuck is told by findVerdicts.
func findChanges(v *visit) {
	upgraded, differs := v.upgraded()
	if !differs {
		return
	}
	after := newVisit(v.ctx, upgraded, v.opts)
	for i := range v.rules {
		rule := &v.rules[i]
		if _, missing := v.unread(rule); missing || rule.upgrade || rule.triage || rule.access || !rule.worst().AtLeast(v.opts.Severity) {
			continue
		}
		now, then := byKey(v.foundBy(rule)), byKey(after.foundBy(rule))
		keys := maps.Clone(now)
		maps.Copy(keys, then)
		for _, key := range slices.Sorted(maps.Keys(keys)) {
			v.reportChange(now[key], then[key])
		}
		if v.ctx.Err() != nil {
			return
		}
	}
}

// foundBy is what a rule finds, whether or not it was asked before.
func (v *visit) foundBy(rule *Rule) (out []*Finding) {
	if v.rules != nil && v.opts.wants(rule) { // it was asked by Run
		for _, f := range v.findings {
			if f.rule == rule {
				out = append(out, f)
			}
		}
		return out
	}
	findings, skipped, asked := v.findings, v.skipped, v.rule
	defer func() { v.findings, v.skipped, v.rule = findings, skipped, asked }()
	v.findings, v.rule = nil, rule
	rule.find(v)
	return v.findings
}

// byKey are findings by what tells them apart. Of several with one key it is one that says of all of them
// that they are there.
func byKey(findings []*Finding) map[string]*Finding {
	out := map[string]*Finding{}
	for _, f := range findings {
		out[f.Key()] = f
	}
	return out
}

// reportChange reports a finding that another release has, or has not, or in which it finds something else.
// now and then are nil if there is none.
func (v *visit) reportChange(now, then *Finding) {
	var out Finding
	switch {
	case then == nil:
		out = *now
		out.Detail = fmt.Sprintf("%s; not with Kubernetes %s", now.Detail, v.release())
	case now == nil:
		out = *then
		out.Detail = fmt.Sprintf("with Kubernetes %s: %s", v.release(), then.Detail)
	case now.Severity == then.Severity && now.Detail == then.Detail:
		return
	default:
		out = *then
		out.Detail = fmt.Sprintf("with Kubernetes %s: %s; now: %s", v.release(), then.Detail, now.Detail)
	}
	if out.Severity == Error && now != nil {
		out.Severity = Warning // it is told of besides
	}
	out.Name, out.Remedy = string(out.Code)+"|"+cmp.Or(out.Name, out.Subject), ""
	v.report(out)
}
