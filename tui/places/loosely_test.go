package places

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/demo"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// TestLoosely: characters may be left out of the names of objects, if nothing has what was typed and nothing
// is spelt like it; pods say where they are, and devices who has them.
func TestLoosely(t *testing.T) {
	objects, err := demo.Objects()
	if err != nil {
		t.Fatal(err)
	}
	s := inspect.New(objects, demo.Config(inspect.DefaultFeatures(inspect.NewestMinor)))
	w := screen.NewWorld(t.Context(), 1, s)
	w.SetNow(demo.Now())
	x := &Index{World: w, Views: []View{{Name: "claims"}}}
	all := x.In(w)
	for text, want := range map[string][]string{
		"b3/3":        {"device gpu.example.com/gpu-b-03/gpu-3, held by infer/llm-70b-2-gpus-w9bnf for 7d23h or longer"},
		"device b3/3": {"device gpu.example.com/gpu-b-03/gpu-3, held by infer/llm-70b-2-gpus-w9bnf for 7d23h or longer"},
		"70b-2":       {"claim infer/llm-70b-2-gpus-w9bnf, on gpu-b-03", "pod infer/llm-70b-2, on gpu-b-03"},
		"pod train-0": {"pod ml/train-0, waits for a node", "pod ml/pretrain-0, on gpu-a-01"},
		"clms":        nil, // views are named
		"quxx":        nil,
	} {
		got := words.Each(x.Find(all, text).Hits, func(p Place) string { return strings.TrimSuffix(p.Text+", "+p.Note, ", ") })
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	if f := x.Find(all, "trian-0"); len(f.Hits) > 0 || len(f.Like) == 0 {
		t.Errorf("a misspelt name: %+v", f)
	}
}
