package checkup

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/kubectl-dra/kubectl-dra/allocator/selector"
	"github.com/kubectl-dra/kubectl-dra/allocator/selector/bench"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/cycle"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
	"github.com/kubectl-dra/kubectl-dra/internal/progress"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// Options say what is looked for.
type Options struct {
	// Only are the codes that are looked for; none means all. Ignore are codes that are not.
	Only, Ignore []Code
	// Severity is the least that is reported; "" means Warning.
	Severity Severity
	// Namespace, if not "", leaves out what is about objects of other namespaces only.
	Namespace string
	// Events are those of pods that are starting, which tell what is in the way.
	Events inspect.Events
	// Target is the minor release of Kubernetes that the cluster is about to get; 0 means the one after the
	// present.
	Target int
	// TargetPatch is the patch release of Target; nil means its newest.
	TargetPatch *int
	// Files says that the objects are manifests, of which none runs anywhere: nothing is looked for that only
	// a cluster can have, and nothing counts as missing that need not be in a file.
	Files bool
	// Gone are objects of the files that were left out, since no release serves their version of the API any
	// more.
	Gone []manifest.Gone
	// Access, if not nil, is who may do what. Without it nothing is said of that.
	Access *inspect.Access
	// Cluster, if not nil, is one of the snapshot. What it knows already need not be found out again.
	Cluster *scheduler.Cluster
}

// Report is what was found.
type Report struct {
	// Findings are the worst first, then in the order of the rules.
	Findings []*Finding
	// Skipped are rules that could not, or not wholly, be decided, in the order of the rules.
	Skipped []Skipped
	// Asked is how many rules were asked.
	Asked int
	// Known is how many findings LeaveOut has left out.
	Known int
	// Unchanged is the present release, if a target was given, everything was compared, and nothing that
	// rules about upgrades look at changes. Target is then the other release.
	Unchanged, Target string
	// Basis says by the rules of which scheduler the cluster decides.
	Basis explain.Basis
}

// LeaveOut leaves out the findings with these keys.
func (r *Report) LeaveOut(known map[string]bool) {
	before := len(r.Findings)
	r.Findings = slices.DeleteFunc(r.Findings, func(f *Finding) bool { return known[f.Key()] })
	r.Known += before - len(r.Findings)
}

// Skipped is a rule that could not be decided.
type Skipped struct {
	Code Code `json:"code"`
	// Why says what could not be read or decided. It quotes the cluster: it is unsafe to print as it is.
	Why string `json:"message"`
}

// AtLeast returns the report without findings that are less bad than a severity, and without rules that have
// no others.
func (r *Report) AtLeast(s Severity) *Report {
	out := *r
	out.Findings = slices.DeleteFunc(slices.Clone(r.Findings), func(f *Finding) bool { return !f.Severity.AtLeast(s) })
	out.Skipped = slices.DeleteFunc(slices.Clone(r.Skipped), func(skipped Skipped) bool {
		return slices.ContainsFunc(rules, func(r Rule) bool { return r.Code == skipped.Code && !r.worst().AtLeast(s) })
	})
	return &out
}

// Run looks at a snapshot. The error is that of the context.
func Run(ctx context.Context, s *inspect.Snapshot, opts Options) (*Report, error) {
	if opts.Severity == "" {
		opts.Severity = Warning
	}
	v := newVisit(ctx, s, opts)
	v.rules = rules
	v.early()
	compared := 0
	report := &Report{Basis: cycle.BasisOf(v.cluster)}
	for i := range rules {
		rule := &rules[i]
		why, missing := opts.leavesOut(rule), true
		if opts.wants(rule) {
			why, missing = v.unread(rule)
		}
		if missing {
			if why != "" {
				v.skipped = append(v.skipped, Skipped{rule.Code, why})
			}
			continue
		}
		report.Asked++
		compared += words.Btoi(rule.upgrade)
		v.rule = rule
		progress.Say(ctx, "making the check "+string(rule.Code))
		rule.find(v)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	for _, f := range v.findings {
		if f.Severity.AtLeast(opts.Severity) && opts.about(f) {
			report.Findings = append(report.Findings, f)
		}
	}
	slices.SortStableFunc(report.Findings, compare)
	report.Skipped = v.skipped
	upgrade := func(code Code) bool {
		return slices.ContainsFunc(upgradeRules, func(r Rule) bool { return r.Code == code })
	}
	if compared == len(upgradeRules) && !slices.ContainsFunc(v.findings, func(f *Finding) bool { return upgrade(f.Code) }) &&
		!slices.ContainsFunc(v.skipped, func(s Skipped) bool { return upgrade(s.Code) }) {
		report.Unchanged, report.Target = s.Release().String(), v.release().String()
	}
	return report, nil
}

// early works out what is stuck before the rules keep what they need: in a cluster of thousands of nodes
// either of them takes hundreds of megabytes.
func (v *visit) early() {
	for i := range rules {
		rule := &rules[i]
		if _, missing := v.unread(rule); rule.triage && v.opts.wants(rule) && !missing {
			_, _ = v.stuck() // who needs it gets the error
		}
	}
}

// wants reports whether a rule is to be asked.
func (o *Options) wants(r *Rule) bool {
	switch {
	case len(o.Only) > 0 && !slices.Contains(o.Only, r.Code), slices.Contains(o.Ignore, r.Code):
		return false
	case o.Files && !r.files, r.upgrade && o.Target == 0:
		return false
	}
	return r.worst().AtLeast(o.Severity) || slices.Contains(causes, r.Code) // of what those tell, another rule is silent
}

// leavesOut says why a rule that was asked for by its code is not asked, or "": who names a check takes
// "nothing found" for its answer.
func (o *Options) leavesOut(r *Rule) string {
	switch {
	case !slices.Contains(o.Only, r.Code), slices.Contains(o.Ignore, r.Code):
		return ""
	case o.Files && !r.files:
		return "manifests alone do not tell"
	case r.upgrade && o.Target == 0:
		return "no release to upgrade to was given"
	}
	return fmt.Sprintf("only findings of the severity %s and worse are looked for", o.Severity)
}

// WantsAccess reports whether something is looked for that needs Access.
func (o *Options) WantsAccess() bool {
	return slices.ContainsFunc(rules, func(r Rule) bool { return r.access && o.wants(&r) })
}

// about reports whether a finding is about the namespace that is asked for.
func (o *Options) about(f *Finding) bool {
	return o.Namespace == "" || slices.ContainsFunc(f.Objects, func(r inspect.ObjectRef) bool {
		return r.Namespace == o.Namespace || r.Kind == "Namespace" && r.Name == o.Namespace
	})
}

// visit is a run: what the rules ask, and what they have found.
type visit struct {
	ctx      context.Context //nolint:containedctx // a visit lives as long as the call
	s        *inspect.Snapshot
	now      time.Time
	opts     Options
	rule     *Rule
	rules    []Rule // all
	findings []*Finding
	skipped  []Skipped

	inventory  func() *inspect.Inventory
	cluster    *scheduler.Cluster
	cache      *selector.Cache
	devices    func() []*inspect.DeviceStatus // of the newest generations, sorted
	bench      func() *bench.Bench
	stuck      func() (*waiting, error) // now
	trials     map[string]*bench.Trial
	asked      []filter // see filters
	outcomes   map[string]outcome
	lived      []*explain.Lifecycle // see lives
	problems   []invalid            // see invalidObjects
	attributes map[string]bool      // the full names of those that devices have
}

func newVisit(ctx context.Context, s *inspect.Snapshot, opts Options) *visit {
	v := &visit{ctx: ctx, s: s, now: s.Time(), opts: opts, trials: map[string]*bench.Trial{}, outcomes: map[string]outcome{}}
	v.inventory = sync.OnceValue(s.Inventory)
	v.cluster = scheduler.NewCluster(s, scheduler.Options{})
	v.cache = v.cluster.Selectors()
	v.stuck = sync.OnceValues(func() (*waiting, error) {
		if opts.Cluster != nil {
			return v.waiting(opts.Cluster)
		}
		return v.waiting(scheduler.NewCluster(s, scheduler.Options{}))
	})
	v.devices = sync.OnceValue(func() []*inspect.DeviceStatus { return slices.Collect(v.inventory().Newest()) })
	v.bench = sync.OnceValue(func() *bench.Bench {
		subjects := make([]bench.Subject, len(v.devices()))
		for i, d := range v.devices() {
			subjects[i] = bench.Subject{Driver: d.ID.Driver, Device: d.Device}
		}
		return bench.New(v.cache, subjects)
	})
	return v
}

// unread reports whether something that a rule needs was not read, and says what. Files hold what somebody
// put there: where nothing is of a kind, it is not known that there is nothing. What is stuck is told of what
// there is, as kubectl dra explain tells it. Of manifests that stand for nothing but themselves it is clear
// what they lack; only what was asked for by its code is named then.
func (v *visit) unread(r *Rule) (why string, missing bool) {
	told := !v.opts.Files || slices.Contains(v.opts.Only, r.Code)
	var partial, absent []string
	for _, resource := range r.needs {
		switch h := v.s.Health(resource); {
		case h.Partial():
			partial = append(partial, string(resource))
		case !h.Complete():
			absent = append(absent, string(resource))
		}
	}
	if r.triage && (v.s.Health(inspect.Pods).Complete() || v.s.Health(inspect.Claims).Complete()) {
		absent = nil
	}
	switch {
	case len(partial) > 0:
		return fmt.Sprintf("not all %s could be read", words.And(partial)), true
	case len(absent) > 0 && told:
		return fmt.Sprintf("no %s were read", words.And(absent)), true
	case r.access && v.opts.Access == nil && told:
		return "it was not read who may do what", true
	}
	return "", len(absent) > 0 || r.access && v.opts.Access == nil
}

// skip says that the rule that is being asked could not, or not wholly, be decided.
func (v *visit) skip(format string, args ...any) {
	v.skipped = append(v.skipped, Skipped{v.rule.Code, fmt.Sprintf(format, args...)})
}

// report reports a finding of the rule that is being asked.
func (v *visit) report(f Finding) {
	f.Code, f.rule = v.rule.Code, v.rule
	if f.Severity == "" {
		f.Severity = v.rule.Severity
	}
	if f.Remedy == "" {
		f.Remedy = v.rule.Remedy
	}
	v.findings = append(v.findings, &f)
}

// age returns how long ago a time was, or 0 if it is not known.
func (v *visit) age(t time.Time) time.Duration {
	if t.IsZero() || v.now.Before(t) {
		return 0
	}
	return v.now.Sub(t)
}
