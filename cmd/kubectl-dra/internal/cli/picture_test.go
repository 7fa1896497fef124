package cli

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
	"github.com/kubectl-dra/kubectl-dra/internal/demo"
	"github.com/kubectl-dra/kubectl-dra/internal/screenshot"
)

var update = flag.Bool("update", false, "draw the pictures of the documents anew")

// TestGoldenPictures holds the pictures of commands in docs/images against what they print in colour.
func TestGoldenPictures(t *testing.T) {
	t.Setenv("NO_COLOR", "")
	const typed = "kubectl dra explain claim train-0 -n ml --demo"
	var out, errOut bytes.Buffer
	streams := genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errOut}
	args := append(strings.Fields(strings.TrimPrefix(typed, "kubectl dra ")), "--color=always")
	if code := Main(args, streams, demo.Now); code != console.ExitNo || errOut.Len() > 0 {
		t.Fatalf("exit code %d: %s", code, errOut.String())
	}
	text := "\x1b[32m$\x1b[0m " + typed + "\n" + strings.TrimRight(out.String(), "\n")
	picture := screenshot.Picture{Title: "kubectl dra explain", Width: 82, Height: strings.Count(text, "\n") + 1, Text: text}
	screenshot.Golden(t, filepath.Join("..", "..", "..", "..", "docs", "images", "explain-claim.svg"), picture.SVG(), *update)
}

// TestGoldenFilm holds the moving picture of explain against what the commands in it print: a claim is
// explained, the first fix is written to a file, and the question is asked again with the file.
func TestGoldenFilm(t *testing.T) {
	t.Setenv("NO_COLOR", "")
	t.Chdir(t.TempDir())
	images := filepath.Join(repository(t), "docs", "images")
	s := session{T: t, film: screenshot.Film{Title: "kubectl dra explain", Width: 82, Height: 34}}
	s.run("explain claim train-0 -n ml --demo", "", console.ExitNo, "Why does this claim get no devices?", "The cause, and fixes: each was tried by deciding again.", 8*time.Second)
	s.film.Still = len(s.film.Frames) - 1
	if n := len(s.lines) + 1; n > s.film.Height {
		t.Errorf("the first answer scrolls out of the window: it needs %d lines, and the window has %d", n, s.film.Height)
	}
	s.run("explain claim train-0 -n ml --demo --fix 1 -o yaml", "fixed.yaml", console.ExitAnswered, "Take the first fix.", "The first fix, as a claim in a file.", 2*time.Second)
	s.run("explain -f fixed.yaml --demo", "", console.ExitAnswered, "Ask again, with the file in place of the claim.", "It fits: where, and which devices the scheduler would pick.", 7*time.Second)
	for name, light := range map[string]bool{"film-explain": false, "film-explain-light": true} {
		s.film.Light = light
		screenshot.Golden(t, filepath.Join(images, name+".svg"), s.film.SVG(), *update)
	}
}

// repository is the root of the source tree, which does not change when a test goes to another directory.
func repository(t *testing.T) string {
	t.Helper()
	_, here, _, ok := runtime.Caller(0)
	if !ok {
		t.Fatal("the test does not know its source")
	}
	return filepath.Join(filepath.Dir(here), "..", "..", "..", "..")
}

// session is a terminal in which commands are typed.
type session struct {
	*testing.T
	film screenshot.Film
	// lines are all that was printed so far.
	lines []string
}

const prompt = "\x1b[32m$\x1b[0m "

// run types a command and shows what it prints, but for what goes into a file.
func (s *session) run(command, file string, want int, asks, answers string, held time.Duration) {
	s.Helper()
	typed := "kubectl dra " + command
	if file != "" {
		typed += " > " + file
	}
	s.show("", asks, 800*time.Millisecond)
	for n := 6; n < len(typed); n += 6 {
		s.show(typed[:n], asks, 110*time.Millisecond)
	}
	s.show(typed, asks, 500*time.Millisecond)
	var out, errOut bytes.Buffer
	streams := genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errOut}
	args := strings.Fields(command)
	if file == "" {
		args = append(args, "--color=always")
	}
	if code := Main(args, streams, demo.Now); code != want {
		s.Fatalf("%s: exit code %d, want %d: %s", command, code, want, errOut.String())
	}
	printed := errOut.String()
	if file == "" {
		printed += out.String()
	} else if err := os.WriteFile(file, out.Bytes(), 0o600); err != nil {
		s.Fatal(err)
	}
	s.lines = append(s.lines, prompt+typed)
	s.lines = append(s.lines, strings.Split(strings.TrimRight(printed, "\n"), "\n")...)
	s.show("", answers, held)
}

// show adds a frame: what was printed, and behind the prompt what is being typed, at the bottom once the
// window is full.
func (s *session) show(typing, caption string, lasts time.Duration) {
	lines := append(s.lines[:len(s.lines):len(s.lines)], prompt+typing+"\x1b[7m \x1b[0m")
	lines = lines[max(0, len(lines)-s.film.Height):]
	s.film.Frames = append(s.film.Frames, screenshot.Frame{Text: strings.Join(lines, "\n"), Caption: caption, Lasts: lasts})
}
