package fix_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
)

// TestStrictComparisons checks, for several spellings of a comparison that excludes its value, that the fix
// accepts a value and includes it, and that the patch says what the message says.
func TestStrictComparisons(t *testing.T) {
	const memory = `device.capacity["gpu.example.com"].memory`
	for _, tt := range []struct{ term, patch string }{
		{memory + `.isGreaterThan(quantity("40Gi"))`, memory + `.compareTo(quantity("20Gi")) >= 0`},
		{memory + `.compareTo(quantity("40Gi")) > 0`, memory + `.compareTo(quantity("20Gi")) >= 0`},
		{`quantity("40Gi").compareTo(` + memory + `) < 0`, `quantity("20Gi").compareTo(` + memory + `) <= 0`},
	} {
		t.Run(tt.term, func(t *testing.T) {
			claim := explaintest.GPUClaim(1, "any")
			claim.Spec.Devices.Requests[0].Exactly.Selectors = explaintest.CELSelectors(tt.term)
			e, err := question.ClaimObject(context.Background(), sizedCluster("a S 10Gi;b S 20Gi"), claim, question.Options{})
			if err != nil || len(e.Fixes) == 0 {
				t.Fatalf("%v, %+v", err, e)
			}
			f := e.Fixes[0]
			if want := "accept memory >= 20Gi instead of > 40Gi: no device has more"; f.Message != want {
				t.Errorf("%s, want %s", f.Message, want)
			}
			if patch := fmt.Sprint(f.Patch); !strings.Contains(patch, tt.patch) {
				t.Errorf("%s, want %s", patch, tt.patch)
			}
		})
	}
}

// TestBriefTerms checks that of a term that is no plain comparison only the domains of fields are left out.
func TestBriefTerms(t *testing.T) {
	for _, tt := range []struct{ term, want string }{
		{explaintest.Attribute + `model == "NVIDIA A100"`, "gpu wants model == NVIDIA A100; devices here have H100"},
		{`"A100" == ` + explaintest.Attribute + `model`, "gpu wants model == A100; devices here have H100"},
		{explaintest.Attribute + `model.lowerAscii() == "a100"`, `gpu wants model.lowerAscii() == "a100"; devices here have model H100`},
		{explaintest.Attribute + `model.size() > 9`, `gpu wants model.size() > 9; devices here have model H100`},
		{explaintest.Attribute + `model == "device.attributes[\"x\"].y"`, `gpu wants model == "device.attributes[\"x\"].y"; devices here have model H100`},
	} {
		t.Run(tt.term, func(t *testing.T) {
			e := explainOdd(t, tt.term)
			if e.Conflict == nil {
				t.Fatalf("no conflict: %s", e.Message)
			}
			if got := e.Conflict.Requirements[0].Sentence(); got != tt.want {
				t.Errorf("%s\nwant %s", got, tt.want)
			}
		})
	}
}
