package triage_test

import (
	"fmt"
	"testing"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain/triage"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/demo"
)

func TestDemo(t *testing.T) {
	objects, err := demo.Objects()
	if err != nil {
		t.Fatal(err)
	}
	c := allocator.NewCluster(inspect.New(objects, inspect.Config{Time: demo.Now(), Health: demo.Health()}), allocator.Options{})
	got, err := triage.Of(t.Context(), c, triage.Options{})
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println(got.Waiting, got.Ready, got.NotLookedInto, got.OtherSchedulers, got.Partial)
	for _, cause := range got.Causes {
		fmt.Printf("== %s [%s] %s %v\n", cause.Message, cause.Key, cause.Actor, cause.Since)
		for _, s := range cause.Subjects {
			fmt.Println("   ", s.FullName(), s.Message, s.Behind)
		}
		for _, f := range cause.Fixes {
			fmt.Println("    ->", f.Kind, f.Message, len(f.Frees), f.Loses, f.Of.FullName())
		}
	}
}
