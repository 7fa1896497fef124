package progress_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/kubectl-dra/kubectl-dra/internal/progress"
)

func TestStepsAreTold(t *testing.T) {
	var told []string
	ctx := progress.With(t.Context(), func(doing string, done, of int) { told = append(told, fmt.Sprintf("%s %d/%d", doing, done, of)) })
	progress.Say(ctx, "reading")
	within, step := progress.Begin(ctx, "placing", 2)
	step()
	_, inner := progress.Begin(within, "asking", 7)
	inner()
	progress.Say(within, "choosing")
	step()
	progress.Begin(ctx, "nothing", 0)
	if want := []string{"reading 0/0", "placing 0/2", "placing 1/2", "placing 2/2"}; !slices.Equal(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}
}

// TestNobodyListens: work does not care whether it is watched, and what it does then costs nothing.
func TestNobodyListens(t *testing.T) {
	ctx := t.Context()
	_, step := progress.Begin(ctx, "placing", 2)
	if n := testing.AllocsPerRun(100, func() { step(); progress.Say(ctx, "reading") }); n != 0 {
		t.Errorf("%v allocations a step", n)
	}
}
