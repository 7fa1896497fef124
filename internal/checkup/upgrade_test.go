package checkup

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
)

// partial is a pod that wants the device of a pool of which a slice is missing. Schedulers take such devices
// before 1.35, and no gate has to do with that.
const partial = `
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {pods: "10"}, conditions: [{type: Ready, status: "True"}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: part}
spec: {driver: part.example.com, nodeName: n1, pool: {name: p, generation: 1, resourceSliceCount: 2}, devices: [{name: d}]}
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: part}
spec: {selectors: [{cel: {expression: device.driver == "part.example.com"}}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {namespace: ml, name: c, uid: c}
spec: {devices: {requests: [{name: r, exactly: {deviceClassName: part}}]}}
---
apiVersion: v1
kind: Pod
metadata: {namespace: ml, name: p, uid: p}
spec:
  containers: [{name: main, image: x, resources: {claims: [{name: r}]}}]
  resourceClaims: [{name: r, resourceClaimName: c}]
status: {phase: Pending}
`

func partialSnapshot(t *testing.T, server string, minor int) *inspect.Snapshot {
	t.Helper()
	result, err := manifest.ReadBytes("cluster.yaml", []byte(partial), manifest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return inspect.New(result.Objects, inspect.Config{Features: inspect.DefaultFeatures(minor), ServerVersion: server, Health: result.Health})
}

// TestUpgradeRules: a server that is upgraded decides by other rules, not only by other gates, in both
// directions.
func TestUpgradeRules(t *testing.T) {
	for _, test := range []struct {
		server        string
		minor, target int
		want          string
	}{
		{"v1.34.2", 34, 37, "with the rules and gates of Kubernetes 1.37 it is stuck: "},
		{"v1.37.0", 37, 34, "it is stuck now, and not with the rules and gates of Kubernetes 1.34, where it fits on 1 node: "},
		{"v1.36.0", 36, 37, ""},
	} {
		report, err := Run(context.Background(), partialSnapshot(t, test.server, test.minor), Options{Target: test.target, Only: []Code{"UpgradeVerdict"}})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range report.Findings {
			got = append(got, f.Message())
		}
		if (test.want == "") != (len(got) == 0) || !strings.HasPrefix(strings.Join(got, "|"), "Pod ml/p: "+test.want) && test.want != "" {
			t.Errorf("%s to 1.%d: %q, want %q", test.server, test.target, got, test.want)
		}
	}
}

// TestRefusedByTheTarget: what only a later API server refuses is told before the upgrade to it, and of a
// manifest that is no error yet.
func TestRefusedByTheTarget(t *testing.T) {
	const slice = `
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: s}
spec: {driver: d.example.com, allNodes: true, pool: {name: p, generation: 1, resourceSliceCount: 1}, devices: [{name: d, attributes: {a/b/c: {int: 1}}}]}
`
	for _, test := range []struct {
		minor, target int
		files         bool
		want          Severity
	}{
		{36, 0, false, ""}, {36, 38, false, Warning}, {37, 0, false, Warning}, {37, 0, true, Warning}, {38, 0, true, Error}, {38, 0, false, Warning},
	} {
		result, err := manifest.ReadBytes("slice.yaml", []byte(slice), manifest.Options{})
		if err != nil {
			t.Fatal(err)
		}
		s := inspect.New(result.Objects, inspect.Config{Features: inspect.DefaultFeatures(test.minor), Health: result.Health})
		report, err := Run(context.Background(), s, Options{Target: test.target, Files: test.files, Only: []Code{"ObjectInvalid"}})
		if err != nil {
			t.Fatal(err)
		}
		var got Severity
		for _, f := range report.Findings {
			got += f.Severity
		}
		if got != test.want {
			t.Errorf("1.%d to 1.%d: %q, want %q", test.minor, test.target, got, test.want)
		}
	}
}

// TestTriageFails: where it cannot be worked out what is stuck, that is told of each rule that needs it.
func TestTriageFails(t *testing.T) {
	v := newVisit(context.Background(), partialSnapshot(t, "v1.34.2", 34), Options{Target: 37})
	v.stuck = func() (*waiting, error) { return nil, errors.New("no such luck") }
	for i := range rules {
		if v.rule = &rules[i]; v.rule.triage {
			v.rule.find(v)
		}
	}
	want := []Skipped{{"Stuck", "what is stuck could not be worked out: no such luck"}, {"UpgradeVerdict", "what is stuck could not be worked out: no such luck"}}
	if !slices.Equal(v.skipped, want) || len(v.findings) > 0 {
		t.Errorf("skipped %v, found %d", v.skipped, len(v.findings))
	}
}

// TestVerdictsNotLookedInto: of what was not looked into in one of two releases nothing is said, since it may
// be stuck in both.
func TestVerdictsNotLookedInto(t *testing.T) {
	pod := explain.Subject{Kind: "Pod", Namespace: "ml", Name: "p"}
	stuck := &explain.Triage{Causes: []explain.Cause{{Verdict: explain.Unsatisfiable, Subjects: []explain.StuckSubject{{Subject: pod}}}}}
	for want, before := range map[int]*explain.Triage{0: {NotLookedInto: []explain.Subject{pod}}, 1: {}} {
		v := newVisit(context.Background(), partialSnapshot(t, "v1.34.2", 34), Options{})
		v.rule = &rules[0]
		if v.verdicts(before, stuck, nil, "stuck: "); len(v.findings) != want {
			t.Errorf("%d findings, want %d", len(v.findings), want)
		}
	}
}
