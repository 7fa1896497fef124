package fix_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
)

// TestMissingClass checks that the classes are proposed whose names are not much less similar than the most
// similar one, and that a class is to be created only if the API server would accept its name.
func TestMissingClass(t *testing.T) {
	for asked, want := range map[string][]string{
		"gpus.example.com": {"UseClass gpu.example.com", "CreateClass"},
		"gpu.nvidia.com":   {"UseClass gpu.example.com", "CreateClass"},
		"gpu":              {"UseClass gpu.example.com", "CreateClass"},
		"gpu_80gb":         {"UseClass gpu-80gb.example.com"},
		"nic.example.com":  {"UseClass edge-nic.example.com", "UseClass rdma-nic.example.com", "UseClass mig.example.com", "CreateClass"},
		"accelerator":      {"CreateClass"},
	} {
		t.Run(asked, func(t *testing.T) {
			e, err := question.ClaimObject(context.Background(), explaintest.DemoCluster(t), explaintest.GPUClaim(1, asked), question.Options{})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range e.Fixes {
				text := string(f.Kind)
				if len(f.Patch) > 0 {
					text += fmt.Sprint(" ", f.Patch[0].Value)
				}
				got = append(got, text)
			}
			if !slices.Equal(got, want) {
				t.Errorf("fixes %q, want %q", got, want)
			}
		})
	}
}
