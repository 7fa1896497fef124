package tui

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/charmbracelet/colorprofile"

	testwork "github.com/kubectl-dra/kubectl-dra/internal/effort"
	"github.com/kubectl-dra/kubectl-dra/internal/screenshot"
	"github.com/kubectl-dra/kubectl-dra/internal/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/internal/tui/screen/screentest"
)

// scene is a step of a film: keys are pressed, or the demo cluster goes on, and what is seen then is held.
type scene struct {
	// keys are pressed together; key is how they are shown to the reader.
	keys         []string
	key, caption string
	// steps is how often the demo cluster goes on.
	steps int
	held  time.Duration
}

// topFilm goes from what is stuck to why, to what would be, and to the picture of the cluster.
var topFilm = []scene{
	{caption: "Claims that are stuck come first.", held: 2500 * time.Millisecond},
	{steps: 1, caption: "Claims that are stuck come first.", held: 1200 * time.Millisecond},
	{keys: []string{"down"}, key: "↓", caption: "Go to a claim.", held: 500 * time.Millisecond},
	{keys: []string{"down"}, key: "↓", caption: "Go to a claim.", held: 500 * time.Millisecond},
	{keys: []string{"down"}, key: "↓", caption: "The selected claim: its cause, and what to try.", held: 2500 * time.Millisecond},
	{keys: []string{"e"}, key: "e", caption: "Explain it: the cause, and fixes that were tried.", held: 6 * time.Second},
	{keys: []string{"esc"}, key: "Esc", caption: "Back.", held: 700 * time.Millisecond},
	{keys: []string{"3"}, key: "3", caption: "The cluster: one cell for each device.", held: 2 * time.Second},
	{steps: 1, caption: "It follows what changes.", held: time.Second},
	{steps: 1, caption: "It follows what changes.", held: time.Second},
	{keys: []string{"down", "down", "down", "down", "down", "down", "down", "down"}, key: "↓", caption: "Go to a node.", held: 1500 * time.Millisecond},
	{keys: []string{"p"}, key: "p", caption: "What would be if it were drained or lost?", held: 4500 * time.Millisecond},
	{keys: []string{"enter"}, key: "Enter", caption: "Who has to go, and where each fits again.", held: 5 * time.Second},
}

// shoot plays scenes on a demo cluster that has lived for a while.
func shoot(t *testing.T, scenes []scene, light bool) screenshot.Film {
	t.Helper()
	const width, height = 100, 30
	options := Options{View: "claims", Profile: colorprofile.TrueColor, Levels: demoLoad(t), NoWriter: "the demo cluster cannot be written"}
	d, life := alive(t, options, width, height)
	d.m.dark = !light
	d.m.applyTheme()
	film := screenshot.Film{Title: "kubectl dra top --demo", Width: width, Height: height, Light: light}
	live := func(steps int) {
		for range steps {
			d.send(arrived{life.Step()})
		}
	}
	live(10)
	d.frame() // tells tables how high they are
	d.send(screen.Go{View: "claims", Ref: claimRef("ml", "llama-405b-eval")})
	for _, s := range scenes {
		live(s.steps)
		d.press(s.keys...)
		film.Frames = append(film.Frames, screenshot.Frame{Text: d.frame(), Key: s.key, Caption: s.caption, Lasts: s.held})
	}
	return film
}

// TestGoldenFilm holds the moving pictures of the terminal UI against what it shows when the same keys are pressed.
func TestGoldenFilm(t *testing.T) {
	if !testwork.Full() && !*screentest.Update {
		t.Skip("pictures are drawn in the full run: make test-all")
	}
	for name, light := range map[string]bool{"film-top": false, "film-top-light": true} {
		screenshot.Golden(t, filepath.Join("..", "..", "docs", "images", name+".svg"), shoot(t, topFilm, light).SVG(), *screentest.Update)
	}
}
