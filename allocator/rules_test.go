package allocator

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
)

// ruleCase is a file of testdata/rules: a small cluster, in which every claim that is not allocated is asked
// about together on node n1, and the answer in several releases.
type ruleCase struct {
	name     string
	objects  []byte
	gates    map[inspect.Gate]bool
	want     map[string]string // release -> devices, or the outcome
	releases []string          // the keys of want, in order
}

func readRuleCases(t *testing.T) []ruleCase {
	t.Helper()
	paths, err := filepath.Glob("testdata/rules/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no rules: %v", err)
	}
	prelude, err := os.ReadFile("testdata/rules/prelude.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var out []ruleCase
	for _, path := range paths {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		c := ruleCase{name: strings.TrimSuffix(filepath.Base(path), ".txtar"), objects: prelude, want: map[string]string{}}
		for _, f := range archive.Files {
			switch f.Name {
			case "cluster.yaml":
				c.objects = append(append(slices.Clone(prelude), "---\n"...), f.Data...)
			case "features":
				if c.gates, err = inspect.ParseFeatures(strings.TrimSpace(string(f.Data))); err != nil {
					t.Fatal(err)
				}
			case "want":
				for line := range strings.Lines(string(f.Data)) {
					release, want, _ := strings.Cut(strings.TrimSpace(line), ": ")
					c.want[release] = want
					c.releases = append(c.releases, release)
				}
			}
		}
		out = append(out, c)
	}
	return out
}

// question makes the problem of a case for a release.
func (c *ruleCase) question(t *testing.T, release string) *question {
	t.Helper()
	read, err := manifest.ReadBytes(c.name, c.objects, manifest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	minor := 0
	if _, err := fmt.Sscanf(release, "1.%d", &minor); err != nil {
		t.Fatal(err)
	}
	q := &question{features: inspect.DefaultFeatures(minor).With(c.gates), objects: read.Objects, gates: map[inspect.Gate]bool{}}
	for _, gate := range q.features.List() {
		q.gates[gate] = true
	}
	if strings.Count(release, ".") >= 2 {
		q.serverVersion = "v" + strings.TrimSuffix(release, ".?") // the patch is not known
	}
	for _, claim := range read.Objects.Claims {
		if claim.Status.Allocation == nil {
			q.pending = append(q.pending, claim)
		}
	}
	return q
}

// inWords shows an answer as the cases write it: the devices, with the configuration if there is any.
func (a *answer) inWords() string {
	if a.outcome != gotDevices {
		return string(a.outcome)
	}
	var out []string
	for _, allocation := range a.allocations {
		for _, r := range allocation.Devices.Results {
			text := r.Request + "=" + r.Device
			if len(r.Tolerations) > 0 {
				text += " tolerant"
			}
			out = append(out, text)
		}
		for _, config := range allocation.Devices.Config {
			out = append(out, "config for "+fmt.Sprint(config.Requests))
		}
	}
	return strings.Join(out, ", ")
}

// TestRules decides each case by the rules of releases in which the answer differs.
func TestRules(t *testing.T) {
	for _, c := range readRuleCases(t) {
		t.Run(c.name, func(t *testing.T) {
			for _, release := range c.releases {
				q := c.question(t, release)
				node := q.objects.Nodes[0]
				for _, plain := range []bool{true, false} {
					cluster := NewCluster(snapshotOf(q), Options{Plain: plain})
					if !plain {
						cluster.plainSteps = 0
					}
					a := answerOf(context.Background(), cluster, q, node, nil)
					if got := a.inWords(); got != c.want[release] {
						t.Errorf("%s, plain %t: %s (%v), want %s", release, plain, got, a.err, c.want[release])
					}
				}
			}
			if answers := c.answers(); len(answers) < 2 {
				t.Errorf("all releases answer alike: %v", answers)
			}
		})
	}
}

func (c *ruleCase) answers() map[string]bool {
	out := map[string]bool{}
	for _, want := range c.want {
		out[want] = true
	}
	return out
}
