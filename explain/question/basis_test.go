package question_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// TestBasis wants that an answer names the release whose rules were applied.
func TestBasis(t *testing.T) {
	const unordered = "does not define the order of devices; the devices named are one possible choice"
	const preview = "Kubernetes 1.38 is a preview in this program, which decides by the rules of 1.38.0-beta.0: the release may differ"
	for _, tt := range []struct {
		minor   int    // of the gates
		server  string // its version
		version string
		variant allocator.Variant
		remarks []string
	}{
		{37, "", "1.37", allocator.Incubating, nil},
		{36, "v1.36.2-gke.100", "1.36.2-gke.100", allocator.Incubating, nil},
		{36, "", "1.36", allocator.Incubating, nil},
		{35, "v1.35.4", "1.35.4", allocator.Incubating, []string{"Kubernetes 1.35 " + unordered}},
		{34, "v1.34.1", "1.34.1", allocator.Experimental, []string{"Kubernetes 1.34 " + unordered}},
		{34, "v1.34.13", "1.34.13", allocator.Experimental, []string{"Kubernetes 1.34 " + unordered}},
		// A server that does not say its patch.
		{37, "v1.37", "1.37.0", allocator.Incubating, []string{
			"the patch release of the server is not known; this is decided by the rules of 1.37.0, and later patches differ",
		}},
		{33, "v1.33.9", "1.34.0", allocator.Experimental, []string{
			"Kubernetes 1.33 is older than what this program models; it decides by the rules of 1.34", "Kubernetes 1.34 " + unordered,
		}},
		{38, "v1.38.0-alpha.3", "1.38.0-alpha.3", allocator.Stable, []string{preview}},
		{38, "v1.38.0", "1.38.0", allocator.Stable, []string{preview}},
		{38, "v1.38", "1.38", allocator.Stable, []string{preview}},
		{38, "", "1.38", allocator.Stable, []string{preview}},
		{37, "v1.38.0", "1.38.0", allocator.Stable, []string{preview}},
		{38, "v1.38.0-beta.0", "1.38.0-beta.0", allocator.Stable, []string{preview}},
		{37, "v1.37.9", "1.37.9", allocator.Incubating, []string{"Kubernetes 1.37.9 is newer than this program, which decides by the rules of 1.37.2"}},
		{39, "v1.39.0", "1.38", allocator.Stable, []string{"Kubernetes 1.39 is newer than this program, which decides by the rules of 1.38.0-beta.0"}},
		// The program of the server decides, not the release whose gates it emulates.
		{36, "v1.37.1", "1.37.1", allocator.Incubating, nil},
	} {
		t.Run(strings.TrimSpace(tt.server+" gates of "+inspect.Release{Minor: tt.minor, Patch: inspect.LatestPatch}.String()), func(t *testing.T) {
			s := inspect.New(explaintest.NodesWithDevices(1), inspect.Config{Features: inspect.DefaultFeatures(tt.minor), ServerVersion: tt.server})
			e, err := question.ClaimObject(context.Background(), scheduler.NewCluster(s, scheduler.Options{}), explaintest.GPUClaim(1, "any"), question.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if b := e.Basis; b.Version != tt.version || b.Variant != tt.variant || !slices.Equal(b.Remarks, tt.remarks) {
				t.Errorf("version %s, variant %s, remarks %q\nwant %s, %s, %q", b.Version, b.Variant, b.Remarks, tt.version, tt.variant, tt.remarks)
			}
		})
	}
}
