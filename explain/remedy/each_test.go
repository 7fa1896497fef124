package remedy_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/remedy"
)

// TestAddToAll: a fix that is made to several has commands that change the objects of each, with the same
// patch, and objects that they share once.
func TestAddToAll(t *testing.T) {
	const patch = ` | kubectl patch --local -f - --type=json -p '[{"op":"replace","path":"/spec/devices/requests/0/exactly/count","value":2}]' -o json | `
	three := func(name string) string { return claim(name, "", "gpu", "3", "") }
	deployed := ", labels: {pod-template-hash: abc}" + controlledBy("ReplicaSet", "web-abc")
	for _, tt := range []struct {
		name    string
		objects []string
		kind    string // of what waits: a, b and c
		asked   remedy.Asked
		fix     explain.FixKind
		want    []string
	}{
		{
			"claims", []string{three("a"), three("b"), three("c")}, "ResourceClaim", remedy.Asked{Flags: []string{"--context", "my cluster"}}, explain.ReduceCount,
			[]string{`for claim in a b c; do kubectl get resourceclaim "$claim" -n ml -o json --context 'my cluster'` + patch + "kubectl replace --force -f - --context 'my cluster'; done"},
		},
		{
			"claims of pods", []string{
				three("u"), three("v"), three("w"), pod("a", "", "", "resourceClaimName: u"), pod("b", "", "", "resourceClaimName: v"), pod("c", "", "", "resourceClaimName: w"),
			}, "Pod", remedy.Asked{}, explain.ReduceCount,
			[]string{`for claim in u v w; do kubectl get resourceclaim "$claim" -n ml -o json` + patch + "kubectl replace --force -f -; done"},
		},
		{
			"a claim that pods share", []string{
				three("x"), pod("a", "", "", "resourceClaimName: x"), pod("b", "", "", "resourceClaimName: x"), pod("c", "", "", "resourceClaimName: x"),
			}, "Pod", remedy.Asked{}, explain.ReduceCount,
			[]string{`for claim in x; do kubectl get resourceclaim "$claim" -n ml -o json` + patch + "kubectl replace --force -f -; done"},
		},
		{
			"pods", []string{
				claim("one", "", "gpu", "1", ""), pod("a", "", "", "resourceClaimName: onne"), pod("b", "", "", "resourceClaimName: onne"), pod("c", "", "", "resourceClaimName: onne"),
			}, "Pod", remedy.Asked{}, explain.UseClaim,
			[]string{`for pod in a b c; do kubectl get pod "$pod" -n ml -o json | kubectl patch --local -f - --type=json -p '[{"op":"replace","path":"/spec/resourceClaims/0/resourceClaimName","value":"one"}]' -o json | kubectl replace --force -f -; done`},
		},
		{
			"pods of a Deployment", []string{
				claim("one", "", "gpu", "1", ""), pod("a", deployed, "", "resourceClaimName: onne"), pod("b", deployed, "", "resourceClaimName: onne"), pod("c", deployed, "", "resourceClaimName: onne"),
			}, "Pod", remedy.Asked{}, explain.UseClaim,
			[]string{`kubectl patch deployment/web -n ml --type=json -p '[{"op":"test","path":"/spec/template/spec/resourceClaims/0/resourceClaimName","value":"onne"},{"op":"replace","path":"/spec/template/spec/resourceClaims/0/resourceClaimName","value":"one"}]'`},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := snapshotOf(t, append([]string{devices}, tt.objects...)...)
			tt.asked.Args = []string{strings.ToLower(strings.TrimPrefix(tt.kind, "Resource")), "a", "-n", "ml"}
			e := explained(t, s, tt.kind, "a", tt.asked)
			f, _ := fixOf(t, e, tt.fix)
			all := explain.CauseFix{Fix: *f, Of: e.Subject}
			alone := slices.Clone(f.Commands)
			if remedy.AddToAll(s, &all, tt.asked); !slices.Equal(all.Commands, alone) {
				t.Errorf("for nobody else: %q, want %q", all.Commands, alone)
			}
			for _, name := range []string{"b", "c"} {
				all.Alike = append(all.Alike, explain.Subject{Kind: tt.kind, Namespace: "ml", Name: name})
			}
			if remedy.AddToAll(s, &all, tt.asked); !slices.Equal(all.Commands, tt.want) {
				t.Errorf("%s\nwant\n%s", strings.Join(all.Commands, "\n"), strings.Join(tt.want, "\n"))
			}
			if out, err := exec.CommandContext(t.Context(), "sh", "-n", "-c", strings.Join(all.Commands, "\n")).CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}

// TestAddToAllInPart: where the commands of one cannot be written for all, they say whose they are.
func TestAddToAllInPart(t *testing.T) {
	spread := "topologySpreadConstraints: [{maxSkew: 1, topologyKey: a, whenUnsatisfiable: ScheduleAnyway, labelSelector: {}, matchLabelKeys: [x]}], "
	s := snapshotOf(t, devices, claim("one", "", "gpu", "1", ""), pod("a", "", spread, "resourceClaimName: onne"), pod("b", "", spread, "resourceClaimName: onne"))
	e := explained(t, s, "Pod", "a", remedy.Asked{Args: []string{"pod", "a", "-n", "ml"}})
	f, _ := fixOf(t, e, explain.UseClaim)
	all := explain.CauseFix{Fix: *f, Of: e.Subject, Alike: []explain.Subject{{Kind: "Pod", Namespace: "ml", Name: "b"}}}
	remedy.AddToAll(s, &all, remedy.Asked{})
	if !slices.Equal(all.Commands, f.Commands) || all.Remarks[len(all.Remarks)-1] != "The commands are those for ml/a; the others take the same with their own names." {
		t.Errorf("%q %q", all.Commands, all.Remarks)
	}
}
