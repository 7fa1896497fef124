package fix

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/requirement"
	"github.com/kubectl-dra/kubectl-dra/explain/suppose"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// What helps in a trial is no fix unless it can be carried out as a whole, and does then what the trial did.

// writable reports whether each edit of the claim for extended resources can be written into an object:
// nobody can change that claim itself.
func (s *search) writable(ctx context.Context, c *requirement.Change) bool {
	return !slices.ContainsFunc(c.Edits, func(e whatif.Edit) bool {
		of, ok := e.(whatif.SpecEdit)
		return ok && s.Q.Generated(of.Target().Claim) && len(whatif.ChangesOf(ctx, s.Q, []whatif.Edit{e})) == 0
	})
}

// endsOwnClaim reports whether a change ends a pod that owns a claim of the pod in question. The claim is
// then deleted too.
func (s *search) endsOwnClaim(c *requirement.Change) bool {
	all := s.Q.Cluster.Snapshot()
	ended := slices.Clone(c.Pods)
	for _, ref := range c.Claims {
		ended = append(ended, all.PodsOf(ref)...)
	}
	owned := func(claim *resourcev1.ResourceClaim) bool { return suppose.GoesWith(claim, ended) }
	if slices.ContainsFunc(s.Q.Claims, owned) {
		return true
	}
	for ref := range s.Q.Own {
		if claim, ok := all.Claim(ref); ok && owned(claim) {
			return true
		}
	}
	return false
}

// deeds identifies what is done to carry out a fix: what is changed, and which pods end. It is "" if that is
// not all of it.
func deeds(f *explain.Fix) string {
	var released []string
	ended := slices.Clone(f.Pods)
	for i := range f.Claims {
		if ended = append(ended, f.Claims[i].Pods...); len(f.Claims[i].Pods) == 0 {
			released = append(released, f.Claims[i].Claim.String())
		}
	}
	if len(f.Changes)+len(ended)+len(released) == 0 || f.Like != "" || len(f.TaintRules) > 0 {
		return ""
	}
	for _, kind := range append([]explain.FixKind{f.Kind}, f.Also...) {
		switch kind {
		case explain.AddDevices, explain.AddNode, explain.EnableFeature, explain.UseNode, explain.UncordonNode, explain.WaitFor, explain.RemoveTaint:
			return ""
		}
	}
	pods := words.Each(ended, inspect.PodRef.String)
	slices.Sort(pods)
	slices.Sort(released)
	text, err := json.Marshal([]any{fmt.Sprint(f.Changes), slices.Compact(pods), released})
	if err != nil {
		return ""
	}
	return string(text)
}

// withoutSupersets leaves out fixes that make all the changes of another one, and more.
func withoutSupersets(fixes []explain.Fix) []explain.Fix {
	keys := make([]sets.Set[string], len(fixes))
	for i := range fixes {
		keys[i] = sets.New(words.Each(fixes[i].Edits, explain.Edit.Key)...)
	}
	var out []explain.Fix
	for i := range fixes {
		if !slices.ContainsFunc(keys, func(other sets.Set[string]) bool {
			return other.Len() > 0 && other.Len() < keys[i].Len() && keys[i].IsSuperset(other)
		}) {
			out = append(out, fixes[i])
		}
	}
	return out
}
