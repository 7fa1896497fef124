package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-dra/kubectl-dra/e2e/cluster"
)

// TestPermissions asks as users who may not read everything. The answer must say what it did not see
// and must never call a claim allocatable or unsatisfiable on the strength of objects that it could not
// read.
func TestPermissions(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Users: []string{"noslices", "nobody"}})
	c.AddNode(t, "n1", nil)
	c.ApplyText(t, sliceYAML("gpu.example.com", "n1", 2))
	c.ApplyText(t, objectsYAML)
	allow(t, c, "noslices", "", "resource.k8s.io", "resourceclaims", "resourceclaimtemplates", "deviceclasses", "devicetaintrules")
	allow(t, c, "noslices", "", "", "pods", "nodes")

	t.Run("slices are forbidden", func(t *testing.T) {
		result := c.Plugin(t, "noslices", "explain", "claim", "two", "-n", "other", "-o", "json")
		var answer explanation
		result.JSON(t, &answer)
		if answer.Verdict != "Unknown" || !strings.Contains(fmt.Sprint(answer.Partial), "resourceslices") {
			t.Errorf("verdict %s, partial %v; want Unknown because of resourceslices\n%v", answer.Verdict, answer.Partial, result)
		}
	})
	t.Run("slices are forbidden, as text", func(t *testing.T) {
		result := c.Plugin(t, "noslices", "explain", "claim", "two", "-n", "other")
		if !strings.Contains(result.Stdout+result.Stderr, "cannot list resourceslices.resource.k8s.io at cluster scope") {
			t.Errorf("the missing permission is not named:\n%v", result)
		}
	})
	t.Run("slices are forbidden to the user that the admin impersonates", func(t *testing.T) {
		result := c.Plugin(t, cluster.Admin, "explain", "claim", "two", "-n", "other", "-o", "json", "--as", "noslices", "--request-timeout", "20s")
		var answer explanation
		if result.JSON(t, &answer); answer.Verdict != "Unknown" {
			t.Errorf("verdict %s, want Unknown\n%v", answer.Verdict, result)
		}
	})
	t.Run("the same question of the admin", func(t *testing.T) {
		result := c.Plugin(t, cluster.Admin, "explain", "claim", "two", "-n", "other", "-o", "json")
		var answer explanation
		result.JSON(t, &answer)
		if answer.Verdict != "Allocatable" || len(answer.Partial) != 0 || result.Code != 0 {
			t.Errorf("want Allocatable, nothing partial, exit code 0\n%v", result)
		}
	})
	t.Run("everything is forbidden", func(t *testing.T) {
		result := c.Plugin(t, "nobody", "explain", "claim", "one")
		if result.Code != 1 || !strings.Contains(result.Stderr, "cannot list resourceclaims.resource.k8s.io") {
			t.Errorf("want exit code 1 and the missing permission on stderr\n%v", result)
		}
	})
	t.Run("credentials that the server does not know", func(t *testing.T) {
		result := c.Plugin(t, "stranger", "explain", "claim", "one")
		if result.Code != 1 || !strings.Contains(result.Stderr, "401 Unauthorized") || strings.Count(strings.TrimSpace(result.Stderr), "\n") != 0 {
			t.Errorf("want exit code 1 and one line about the credentials\n%v", result)
		}
	})
	t.Run("a claim that does not exist", func(t *testing.T) {
		result := c.Plugin(t, cluster.Admin, "explain", "claim", "twoo", "-n", "other")
		if result.Code != 1 || !strings.Contains(result.Stderr, `did you mean "two"?`) {
			t.Errorf("want exit code 1 and a suggestion\n%v", result)
		}
	})
}
