package checkup_test

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/kueueconfig"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
	"github.com/kubectl-dra/kubectl-dra/internal/checkup"
	"github.com/kubectl-dra/kubectl-dra/internal/demo"
)

var update = flag.Bool("update", false, "write what was found into the files of faults")

// now is the moment of all clusters of these tests.
var now = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// read returns a snapshot of manifests, of which the later replace the earlier, and options to look for
// everything in it.
func read(t *testing.T, features string, texts ...string) (*inspect.Snapshot, checkup.Options) {
	t.Helper()
	result, err := manifest.ReadBytes("cluster.yaml", []byte(strings.Join(texts, "\n---\n")), manifest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	server := ""
	if at, ok := strings.CutPrefix(features, "server="); ok {
		server, features, _ = strings.Cut(at, " ")
	}
	opts := checkup.Options{Severity: checkup.Note, Events: inspect.Events{List: result.Events}, Access: result.Access}
	return inspect.New(result.Objects, inspect.Config{
		Revision: 1, Time: now, Features: featuresOf(t, features, &opts, result.Objects), Health: result.Health, ServerVersion: server,
	}), opts
}

// featuresOf reads feature gates, after "from=MINOR to=MINOR " where the fault is about an upgrade. In other
// clusters the gates are on that the objects use.
func featuresOf(t *testing.T, text string, opts *checkup.Options, objects inspect.Objects) inspect.Features {
	t.Helper()
	minor, rest := 0, ""
	if n, _ := fmt.Sscanf(text, "from=%d to=%d %s", &minor, &opts.Target, &rest); n >= 2 {
		gates, err := inspect.ParseFeatures(rest)
		if err != nil {
			t.Fatal(err)
		}
		return inspect.DefaultFeatures(minor).With(gates)
	}
	used := map[inspect.Gate]bool{}
	for _, gate := range inspect.FeaturesUsedBy(objects) {
		used[gate] = true
	}
	gates, err := inspect.ParseFeatures(text)
	if err != nil {
		t.Fatal(err)
	}
	return inspect.DefaultFeatures(inspect.NewestMinor).With(used).With(gates)
}

func healthy(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile("testdata/healthy.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func run(t *testing.T, features string, texts ...string) *checkup.Report {
	t.Helper()
	s, opts := read(t, features, texts...)
	return mustRun(t, s, opts)
}

func mustRun(t *testing.T, s *inspect.Snapshot, opts checkup.Options) *checkup.Report {
	t.Helper()
	report, err := checkup.Run(context.Background(), s, opts)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// found is a report as text, a line for each finding.
func found(r *checkup.Report) string {
	var b strings.Builder
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "%s %s %s [%s]\n", f.Severity, f.Code, f.Message(), strings.Join(shorten(f.Names()), " "))
		for _, e := range f.Evidence {
			fmt.Fprintf(&b, "    %s\n", e)
		}
	}
	for _, s := range r.Skipped {
		if strings.HasPrefix(s.Why, "no ") || s.Why == "it was not read who may do what" {
			continue // the clusters of these tests do not have everything; see TestLeftOut
		}
		fmt.Fprintf(&b, "skipped %s: %s\n", s.Code, s.Why)
	}
	return b.String()
}

func shorten(names []string) []string {
	if len(names) > 4 {
		return append(slices.Clone(names[:3]), fmt.Sprintf("and %d more", len(names)-3))
	}
	return names
}

// TestFaults plants each fault into a healthy cluster and compares what is found. That each rule finds its
// own fault, and nothing but that follows from it, is what the files say.
func TestFaults(t *testing.T) {
	base := healthy(t)
	for _, code := range checkup.Codes() {
		t.Run(string(code), func(t *testing.T) {
			t.Parallel()
			path := filepath.Join("testdata", "faults", string(code)+".txtar")
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			files := map[string]string{}
			for _, f := range archive.Files {
				files[f.Name] = string(f.Data)
			}
			s, opts := read(t, strings.TrimSpace(files["features"]), base, files["objects.yaml"])
			if text := files["kueue.yaml"]; text != "" {
				config, err := kueueconfig.Read([]byte(text), "")
				if err != nil {
					t.Fatal(err)
				}
				s = s.WithKueue(config)
			}
			report := mustRun(t, s, opts)
			got := found(report)
			if *update {
				archive.Files[len(archive.Files)-1].Data = []byte(got)
				if err := os.WriteFile(path, txtar.Format(archive), 0o600); err != nil {
					t.Fatal(err)
				}
			} else if got != files["want"] {
				t.Errorf("found\n%s\nwant\n%s", got, files["want"])
			}
			if !slices.ContainsFunc(report.Findings, func(f *checkup.Finding) bool { return f.Code == code }) {
				t.Errorf("the planted fault was not found:\n%s", got)
			}
		})
	}
}

// TestHealthy checks that nothing at all is said of a cluster in which nothing is wrong.
func TestHealthy(t *testing.T) {
	report := run(t, "", healthy(t))
	if got := found(report); got != "" {
		t.Errorf("found\n%s", got)
	}
	if report.Asked < 45 {
		t.Errorf("only %d rules were asked", report.Asked)
	}
}

// gated are faults of clusters with features off, of an older release, before an upgrade or with a
// configuration of Kueue, which others cannot have beside them.
var gated = []checkup.Code{"ClassUnmapped", "QuotaWithoutDevices", "QuotaPromisedTwice", "DevicesWithoutQuota", "EvictionSkipped", "TaintRuleIgnored", "FeatureOff", "UpgradeGates", "UpgradeVerdict", "UpgradeFinding"}

// names are those of the healthy cluster and of the faults that several of them cannot share.
var names = regexp.MustCompile(`\b(gpu|ml|n1|n2|n9|nics|nic|mig|tpu|fabric|broken|all|typo|drivers|other)\b`)

// TestAllFaultsAtOnce makes a cluster of one copy of the healthy one for each fault, with the fault planted
// into it, and checks that each is found where it was planted.
func TestAllFaultsAtOnce(t *testing.T) {
	var texts []string
	marks := map[checkup.Code]string{}
	base := healthy(t)
	for i, code := range checkup.Codes() {
		if slices.Contains(gated, code) {
			continue
		}
		archive, err := txtar.ParseFile(filepath.Join("testdata", "faults", string(code)+".txtar"))
		if err != nil {
			t.Fatal(err)
		}
		marks[code] = fmt.Sprintf("-copy%d", i)
		rename := func(text string) string { return names.ReplaceAllString(text, "${1}"+marks[code]) }
		objects := ""
		for _, f := range archive.Files {
			if f.Name == "objects.yaml" {
				objects = string(f.Data)
			}
		}
		texts = append(texts, rename(base), rename(objects))
	}
	report := run(t, "", texts...)
	for _, f := range report.Findings {
		if mark := marks[f.Code]; f.Code == "VersionRemoved" || mark != "" && strings.Contains(f.Message()+strings.Join(f.Names(), " ")+" ", mark) {
			delete(marks, f.Code)
		}
	}
	if len(marks) > 0 {
		t.Errorf("not found where they were planted: %v", slices.Sorted(maps.Keys(marks)))
	}
}

// TestOptions checks what narrows a report.
func TestOptions(t *testing.T) {
	data, err := os.ReadFile("testdata/faults/PoolIncomplete.txtar")
	if err != nil {
		t.Fatal(err)
	}
	faults := string(txtar.Parse(data).Files[0].Data)
	idle, err := os.ReadFile("testdata/faults/ClaimIdle.txtar")
	if err != nil {
		t.Fatal(err)
	}
	s, opts := read(t, "", healthy(t), faults, string(txtar.Parse(idle).Files[0].Data))
	for name, test := range map[string]struct {
		change func(*checkup.Options)
		want   []checkup.Code
	}{
		"all":       {func(*checkup.Options) {}, []checkup.Code{"PoolIncomplete", "ClaimIdle", "SelectorRedundant"}},
		"default":   {func(o *checkup.Options) { o.Severity = "" }, []checkup.Code{"PoolIncomplete", "ClaimIdle"}},
		"errors":    {func(o *checkup.Options) { o.Severity = checkup.Error }, []checkup.Code{"PoolIncomplete"}},
		"only":      {func(o *checkup.Options) { o.Only = []checkup.Code{"ClaimIdle"} }, []checkup.Code{"ClaimIdle"}},
		"ignore":    {func(o *checkup.Options) { o.Ignore = []checkup.Code{"ClaimIdle", "SelectorRedundant"} }, []checkup.Code{"PoolIncomplete"}},
		"namespace": {func(o *checkup.Options) { o.Namespace = "ml" }, []checkup.Code{"ClaimIdle", "SelectorRedundant"}},
		"elsewhere": {func(o *checkup.Options) { o.Namespace = "infer" }, nil},
		"files":     {func(o *checkup.Options) { o.Files = true }, []checkup.Code{"PoolIncomplete"}},
	} {
		t.Run(name, func(t *testing.T) {
			o := opts
			test.change(&o)
			report, err := checkup.Run(context.Background(), s, o)
			if err != nil {
				t.Fatal(err)
			}
			var got []checkup.Code
			known := map[string]bool{}
			for _, f := range report.Findings {
				got = append(got, f.Code)
				known[f.Key()] = true
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("found %v, want %v", got, test.want)
			}
			if report.LeaveOut(known); len(report.Findings) > 0 || report.Known != len(got) {
				t.Errorf("a baseline of the same findings leaves %d, and %d known", len(report.Findings), report.Known)
			}
		})
	}
}

// TestPartialView checks that nothing is said of what could not all be read, but that this is told.
func TestPartialView(t *testing.T) {
	data, err := os.ReadFile("testdata/faults/ClaimReservedByGone.txtar")
	if err != nil {
		t.Fatal(err)
	}
	s, opts := read(t, "", healthy(t), string(txtar.Parse(data).Files[0].Data))
	s = s.WithHealth(map[inspect.Resource]inspect.Health{inspect.Pods: {State: inspect.Forbidden}})
	report, err := checkup.Run(context.Background(), s, opts)
	if err != nil {
		t.Fatal(err)
	}
	want := checkup.Skipped{Code: "ClaimReservedByGone", Why: "not all pods could be read"}
	if len(report.Findings) > 0 || !slices.Contains(report.Skipped, want) {
		t.Errorf("found\n%s", found(report))
	}
}

// TestLeftOut: a check that was not made is named, with what it lacked, so that nobody takes "nothing found"
// for its answer. Manifests that stand for nothing but themselves lack what they need not have.
func TestLeftOut(t *testing.T) {
	const node = "apiVersion: v1\nkind: Node\nmetadata: {name: n1}"
	for name, test := range map[string]struct {
		text   string
		change func(*checkup.Options)
		want   checkup.Skipped
	}{
		"a kind is not there":       {node, func(*checkup.Options) {}, checkup.Skipped{Code: "PoolIncomplete", Why: "no resourceslices were read"}},
		"nobody can be stuck":       {node, func(*checkup.Options) {}, checkup.Skipped{Code: "Stuck", Why: "no pods, resourceclaims, resourceslices and deviceclasses were read"}},
		"who may do what":           {node, func(*checkup.Options) {}, checkup.Skipped{Code: "AdminAccessGrantable", Why: "it was not read who may do what"}},
		"only, without a target":    {healthy(t), func(o *checkup.Options) { o.Only = []checkup.Code{"UpgradeVerdict"} }, checkup.Skipped{Code: "UpgradeVerdict", Why: "no release to upgrade to was given"}},
		"only, of another severity": {healthy(t), func(o *checkup.Options) { o.Only, o.Severity = []checkup.Code{"PoolEmpty"}, "" }, checkup.Skipped{Code: "PoolEmpty", Why: "only findings of the severity warning and worse are looked for"}},
		"only, of a cluster":        {healthy(t), func(o *checkup.Options) { o.Only, o.Files = []checkup.Code{"ClaimIdle"}, true }, checkup.Skipped{Code: "ClaimIdle", Why: "manifests alone do not tell"}},
		"only, of manifests":        {node, func(o *checkup.Options) { o.Only, o.Files = []checkup.Code{"PoolIncomplete"}, true }, checkup.Skipped{Code: "PoolIncomplete", Why: "no resourceslices were read"}},
		"manifests":                 {node, func(o *checkup.Options) { o.Files = true }, checkup.Skipped{}},
	} {
		s, opts := read(t, "", test.text)
		test.change(&opts)
		report := mustRun(t, s, opts)
		if none := test.want.Code == ""; none != (len(report.Skipped) == 0) || !none && !slices.Contains(report.Skipped, test.want) {
			t.Errorf("%s: %v", name, report.Skipped)
		}
	}
}

// TestHostileText checks that nothing of the cluster reaches a terminal as it is.
func TestHostileText(t *testing.T) {
	slice := "apiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {name: n9-gpu}\nspec:\n  driver: gpu.example.com\n  nodeName: \"n9\\e]0;x\\a\\u202e\"\n" +
		"  pool: {name: \"\\e[31mred\", generation: 1, resourceSliceCount: 2}\n  devices: [{name: \"d\\e[2J\"}]\n"
	const binding = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: \"a\\e[2J\"}\nroleRef: {kind: ClusterRole, name: cluster-admin}\nsubjects: [{kind: User, name: \"jane\\e]0;x\\a\\u202e\"}]\n"
	report := run(t, "", healthy(t), slice, binding)
	for _, line := range report.Lines(checkup.Layout{Width: 80, All: true}) {
		if strings.ContainsFunc(line.String(), inspect.Unsafe) {
			t.Errorf("%q", line.String())
		}
	}
	if len(report.Findings) < 3 {
		t.Errorf("found\n%s", found(report))
	}
}

// TestUndecided checks that a pod of which it is not known whether it fits keeps the report from saying that
// all is well.
func TestUndecided(t *testing.T) {
	const pod = "apiVersion: v1\nkind: Pod\nmetadata: {namespace: ml, name: wait, uid: w}\nspec: {containers: [{name: c, image: x}], volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]}\n" +
		"status: {phase: Pending, conditions: [{type: PodScheduled, status: \"False\", reason: Unschedulable, message: none, lastTransitionTime: 2026-11-22T11:00:00Z}]}\n"
	s, opts := read(t, "", healthy(t), pod)
	s = s.WithHealth(map[inspect.Resource]inspect.Health{inspect.VolumeClaims: {State: inspect.Forbidden}})
	report, err := checkup.Run(context.Background(), s, opts)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(report.Skipped, func(s checkup.Skipped) bool { return s.Code == "Stuck" }) {
		t.Errorf("it is not told that a pod is undecided:\n%s", found(report))
	}
}

// TestStuckRemedy: what helps one of those that are stuck is told with its name, unless it is alone.
func TestStuckRemedy(t *testing.T) {
	data, err := os.ReadFile("testdata/faults/Stuck.txtar")
	if err != nil {
		t.Fatal(err)
	}
	one := string(txtar.Parse(data).Files[0].Data)
	const less, more = "in claim big: ask for 2 devices instead of 3", "kubectl dra explain -A says which change unblocks most of them."
	for want, texts := range map[string][]string{
		less:                                    {healthy(t), one},
		"For Pod ml/big: " + less + ". " + more: {healthy(t), one, strings.ReplaceAll(one, "big", "huge")},
	} {
		for _, f := range run(t, "", texts...).Findings {
			if f.Code == "Stuck" && f.Remedy != want {
				t.Errorf("%s: remedy %q, want %q", f.Subject, f.Remedy, want)
			}
		}
	}
}

// TestOldWritersOfTarget: a later release no longer serves more versions.
func TestOldWritersOfTarget(t *testing.T) {
	data, err := os.ReadFile("testdata/faults/OldVersionWritten.txtar")
	if err != nil {
		t.Fatal(err)
	}
	s, opts := read(t, "", healthy(t), string(txtar.Parse(data).Files[0].Data))
	opts.Only = []checkup.Code{"OldVersionWritten"}
	for target, want := range map[int]int{37: 0, 38: 2, 39: 3} {
		opts.Target = target
		report, err := checkup.Run(context.Background(), s, opts)
		if err != nil {
			t.Fatal(err)
		}
		if len(report.Findings) != want {
			t.Errorf("for 1.%d %d are found, want %d:\n%s", target, len(report.Findings), want, found(report))
		}
	}
}

// TestFenceNeeded: a fence whose device a claim still holds is needed, since the scheduler may have forgotten
// the claim; without one that is not shared it is not.
func TestFenceNeeded(t *testing.T) {
	const fence = "apiVersion: resource.k8s.io/v1\nkind: DeviceTaintRule\nmetadata: {name: fence, creationTimestamp: 2026-11-22T09:00:00Z}\n" +
		"spec: {deviceSelector: {driver: gpu.example.com, pool: n1, device: gpu-0}, taint: {key: kubectl-dra.dev/fence, effect: NoSchedule}}\n"
	s, opts := read(t, "", healthy(t), fence)
	opts.Only = []checkup.Code{"FenceLeft"}
	id := inspect.DeviceID{Driver: "gpu.example.com", Pool: "n1", Device: "gpu-0"}
	if len(s.Holders(id)) != 1 {
		t.Fatal("the healthy cluster has no claim that holds the device")
	}
	freed := s.With(func(o *inspect.Objects) { o.Claims = nil })
	for want, s := range map[int]*inspect.Snapshot{0: s, 1: freed} {
		report, err := checkup.Run(context.Background(), s, opts)
		if err != nil {
			t.Fatal(err)
		}
		if len(report.Findings) != want {
			t.Errorf("found\n%s\nwant %d", found(report), want)
		}
	}
}

// TestPluginPossibly: as long as no pod shows which devices a plugin gives out, they are only possibly the
// same.
func TestPluginPossibly(t *testing.T) {
	data, err := os.ReadFile("testdata/faults/PluginAndDriver.txtar")
	if err != nil {
		t.Fatal(err)
	}
	node, _, _ := strings.Cut(string(txtar.Parse(data).Files[0].Data), "---\n")
	const want = "note PluginAndDriver Node n1: a device plugin offers 2 example.com/gpu, and driver gpu.example.com publishes devices: possibly the same [Node/n1]\n"
	if got := found(run(t, "", healthy(t), node)); got != want {
		t.Errorf("found\n%s\nwant\n%s", got, want)
	}
}

// TestCountersOfIncompletePool: counters that are over-committed are told also while slices of the pool are
// missing.
func TestCountersOfIncompletePool(t *testing.T) {
	data, err := os.ReadFile("testdata/faults/CountersOvercommitted.txtar")
	if err != nil {
		t.Fatal(err)
	}
	objects := strings.ReplaceAll(string(txtar.Parse(data).Files[0].Data), "resourceSliceCount: 2", "resourceSliceCount: 3")
	s, opts := read(t, "", healthy(t), objects)
	opts.Only = []checkup.Code{"CountersOvercommitted"}
	report, err := checkup.Run(context.Background(), s, opts)
	if err != nil {
		t.Fatal(err)
	}
	const want = "counter memory of gpu-0 in pool gpu.example.com/mig-n1: claims take at least 60Gi, and there are 40Gi"
	if len(report.Findings) != 1 || report.Findings[0].Message() != want {
		t.Errorf("found\n%s\nwant\n%s", found(report), want)
	}
}

// TestSeverityOnlyLeavesOut: with a higher severity nothing is reported that was not before.
func TestSeverityOnlyLeavesOut(t *testing.T) {
	objects, err := demo.Objects()
	if err != nil {
		t.Fatal(err)
	}
	s := inspect.New(objects, inspect.Config{Time: demo.Now(), Features: inspect.DefaultFeatures(inspect.NewestMinor), Health: demo.Health()})
	keys := func(r *checkup.Report) (out []string) {
		for _, f := range r.Findings {
			out = append(out, string(f.Code)+" "+f.Key())
		}
		return out
	}
	all := mustRun(t, s, checkup.Options{Severity: checkup.Note})
	for _, severity := range []checkup.Severity{checkup.Warning, checkup.Error} {
		got, want := keys(mustRun(t, s, checkup.Options{Severity: severity})), keys(all.AtLeast(severity))
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", severity, got, want)
		}
	}
}

// TestPatchReleases: what patch releases changed in what is found. Before 1.37.1 a rule without a selector
// taints every device, before 1.37.2 the pod of a claim for extended resources is not evicted. A server that
// does not say its patch is taken for the first.
func TestPatchReleases(t *testing.T) {
	const rule = "apiVersion: resource.k8s.io/v1\nkind: DeviceTaintRule\nmetadata: {name: r}\nspec: {taint: {key: hot, effect: NoSchedule, timeAdded: 2026-11-22T11:00:00Z}}\n"
	extended := faultObjects(t, "EvictionSkipped")
	ruleOfAll := strings.Replace(extended, "taints: [{key: hot, effect: NoExecute, timeAdded: 2026-11-22T11:00:00Z}]", "", 1) +
		"\n---\n" + strings.Replace(rule, "NoSchedule", "NoExecute", 1)
	for _, test := range []struct{ server, objects, want, never string }{
		{"v1.37.0", rule, "error TaintRuleOfNothing DeviceTaintRule r: it has no device selector, and kube-scheduler 1.37.0 therefore taints all 4 devices with hot:NoSchedule", ""},
		{"v1.36.6", rule, "error TaintRuleOfNothing", ""},
		{"v1.37", rule, "error TaintRuleOfNothing", ""},
		{"v1.37.0", strings.Replace(rule, "NoSchedule", "None", 1), "warning TaintRuleOfNothing", "error"},
		{"v1.37.1", rule, "warning TaintRuleOfNothing DeviceTaintRule r: it has no device selector, and so selects nothing", "DeviceTainted"},
		{"v1.36.6", extended, "EvictionSkipped", "Evicting"},
		{"v1.37.1", extended, "EvictionSkipped", "Evicting"},
		{"v1.37", extended, "EvictionSkipped", "Evicting"},
		{"v1.37.2", extended, "Evicting Pod ml/old: pod old is about to be evicted", "EvictionSkipped"},
		// Such a rule evicts nobody, but in 1.34.
		{"v1.37.0", ruleOfAll, "error TaintRuleOfNothing", "EvictionSkipped"},
		{"v1.35.0", ruleOfAll, "with hot:NoExecute [", "EvictionSkipped"},
		{"v1.34.13", ruleOfAll, "with hot:NoExecute; pods are evicted from all of them", ""},
		{"v1.34.13", ruleOfAll, "EvictionSkipped", ""},
		{"", extended, "Evicting", "EvictionSkipped"},
	} {
		got := found(run(t, "server="+test.server, healthy(t), test.objects))
		if !strings.Contains(got, test.want) || test.never != "" && strings.Contains(got, test.never) {
			t.Errorf("%s:\n%s\nwant %s, not %s", test.server, got, test.want, test.never)
		}
	}
}

func faultObjects(t *testing.T, code string) string {
	t.Helper()
	archive, err := txtar.ParseFile(filepath.Join("testdata", "faults", code+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range archive.Files {
		if f.Name == "objects.yaml" {
			return string(f.Data)
		}
	}
	t.Fatal("it has no objects.yaml")
	return ""
}
