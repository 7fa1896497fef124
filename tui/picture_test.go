package tui

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	testwork "github.com/kubectl-dra/kubectl-dra/internal/effort"
	"github.com/kubectl-dra/kubectl-dra/internal/screenshot"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/screen/screentest"
)

// picture is a file in docs/images.
type picture struct {
	name, title   string
	view          string
	width, height int
	light         bool
	// at is where the cursor is put before show does the rest.
	at   screen.Ref
	show func(*driver)
}

func claimRef(namespace, name string) screen.Ref {
	return screen.Ref{Kind: screen.Claim, Namespace: namespace, Name: name}
}

func keys(keys ...string) func(*driver) { return func(d *driver) { d.press(keys...) } }

var pictures = []picture{
	{"claims", "kubectl dra top", "claims", 120, 34, false, claimRef("ml", "train-0"), nil},
	{"explain", "kubectl dra top", "claims", 120, 34, false, claimRef("ml", "train-0"), keys("e")},
	{"devices", "kubectl dra top devices", "devices", 120, 34, false, screen.Ref{Kind: screen.Device, Name: "gpu.example.com/gpu-a-03/gpu-5"}, nil},
	{"nodes", "kubectl dra top nodes", "nodes", 120, 24, false, screen.Ref{Kind: screen.Device, Name: "gpu.example.com/gpu-a-04/gpu-1"}, nil},
	{"nodes-light", "kubectl dra top nodes", "nodes", 120, 24, true, screen.Ref{Kind: screen.Device, Name: "gpu.example.com/gpu-a-04/gpu-1"}, nil},
	{"nodes-wide", "kubectl dra top nodes", "nodes", 200, 24, false, screen.Ref{Kind: screen.Node, Name: "mig-02"}, nil},
	{"nodes-claim", "kubectl dra top", "claims", 160, 30, false, claimRef("ml", "train-0"), keys("m")},
	{"usage", "kubectl dra top usage", "usage", 160, 40, false, screen.Ref{}, keys("b")},
	{"priority", "kubectl dra top priority", "priority", 120, 26, false, screen.Ref{Kind: screen.PriorityLevel, Name: "workload-low"}, func(d *driver) {
		for range 30 {
			d.pass()
		}
	}},
	{"cel", "kubectl dra top cel", "cel", 120, 34, false, screen.Ref{}, func(d *driver) {
		d.press("i")
		d.send(tea.PasteMsg{Content: `device.driver == "gpu.example.com" && device.attributes["gpu.example.com"].nvlinkGeneration >= 3`})
	}},
	{"what-if", "kubectl dra top", "claims", 120, 34, false, claimRef("ml", "pretrain-1"), keys("w", "home")},
	{"causes", "kubectl dra top causes", "causes", 120, 24, false, screen.Ref{}, keys("home")},
	{"queues", "kubectl dra top queues", "queues", 120, 24, false, screen.Ref{}, nil},
	{"claims-80x24", "kubectl dra top", "claims", 80, 24, false, claimRef("ml", "train-0"), nil},
}

// lively is a demo cluster that has lived for a while, in colour, with its API server.
func lively(t *testing.T, p picture) *driver {
	t.Helper()
	options := Options{View: p.view, Profile: colorprofile.TrueColor, Levels: demoLoad(t), NoWriter: "the demo cluster cannot be written"}
	d, life := alive(t, options, p.width, p.height)
	d.m.dark = !p.light
	d.m.applyTheme()
	for i := range 40 {
		if s := life.Step(); i >= 30 {
			d.send(arrived{s})
		}
	}
	d.frame() // tells tables how high they are
	return d
}

// TestGoldenPictures holds the pictures of the documents against what is drawn. They are written anew, as all
// golden files, by go test -update; make screenshots does that.
func TestGoldenPictures(t *testing.T) {
	if testwork.Usual() && !*screentest.Update {
		t.Skip("pictures are drawn with KUBECTL_DRA_TESTS=more: .ci/run unit")
	}
	for _, p := range pictures {
		t.Run(p.name, func(t *testing.T) {
			d := lively(t, p)
			if p.at.Kind != screen.None {
				d.send(screen.Go{View: p.view, Ref: p.at})
			}
			if p.show != nil {
				p.show(d)
			}
			svg := screenshot.Picture{Title: p.title, Width: p.width, Height: p.height, Light: p.light, Text: d.frame()}.SVG()
			screenshot.Golden(t, filepath.Join("..", "docs", "images", p.name+".svg"), svg, *screentest.Update)
		})
	}
}

// TestPicturesAreShown: each picture is small, and in a document; what a document shows is there.
func TestPicturesAreShown(t *testing.T) {
	shown := map[string]bool{}
	for _, pattern := range []string{"../README.md", "../docs/*.md"} {
		documents, err := filepath.Glob(pattern)
		if err != nil || len(documents) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		for _, path := range documents {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, match := range image.FindAllStringSubmatch(string(text), -1) {
				name := filepath.Join(filepath.Dir(path), match[1])
				shown[name] = true
				limit := int64(60_000)
				if strings.HasPrefix(filepath.Base(name), "film-") {
					limit = 300_000
				}
				if info, err := os.Stat(name); err != nil || info.Size() > limit {
					t.Errorf("%s shows %s: %v, %v", path, name, info, err)
				}
			}
		}
	}
	drawn, err := filepath.Glob("../docs/images/*")
	if err != nil || len(drawn) == 0 {
		t.Fatal("no pictures", err)
	}
	for _, name := range drawn {
		if !shown[name] {
			t.Errorf("no document shows %s", name)
		}
	}
}

// image finds the pictures of a document.
var image = regexp.MustCompile(`(?:\]\(|src="|srcset=")([a-z/]*images/[^)"]+)[)"]`)

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
	{keys: []string{"p"}, key: "p", caption: "What happens if it is drained or lost?", held: 4500 * time.Millisecond},
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

// TestGoldenFilm holds the moving pictures of the terminal UI against what it shows when the same keys are
// pressed.
func TestGoldenFilm(t *testing.T) {
	if testwork.Usual() && !*screentest.Update {
		t.Skip("pictures are drawn with KUBECTL_DRA_TESTS=more: .ci/run unit")
	}
	for name, light := range map[string]bool{"film-top": false, "film-top-light": true} {
		screenshot.Golden(t, filepath.Join("..", "docs", "images", name+".svg"), shoot(t, topFilm, light).SVG(), *screentest.Update)
	}
}
