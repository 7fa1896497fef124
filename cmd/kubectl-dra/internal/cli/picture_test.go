package cli

import (
	"bytes"
	"flag"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-dra/kubectl-dra/internal/demo"
	"github.com/kubectl-dra/kubectl-dra/internal/screenshot"
)

var update = flag.Bool("update", false, "draw the pictures of the documents anew")

// TestGoldenPictures holds the pictures of commands in docs/images against what they print in colour.
func TestGoldenPictures(t *testing.T) {
	t.Setenv("NO_COLOR", "")
	const typed = "kubectl dra explain claim train-0 -n ml"
	var out, errOut bytes.Buffer
	streams := genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errOut}
	args := append(strings.Fields(strings.TrimPrefix(typed, "kubectl dra ")), "--demo", "--color=always")
	if code := Main(args, streams, demo.Now); code != exitNo || errOut.Len() > 0 {
		t.Fatalf("exit code %d: %s", code, errOut.String())
	}
	text := "\x1b[32m$\x1b[0m " + typed + "\n" + strings.TrimRight(out.String(), "\n")
	picture := screenshot.Picture{Title: "kubectl dra explain", Width: 82, Height: strings.Count(text, "\n") + 1, Text: text}
	screenshot.Golden(t, filepath.Join("..", "..", "..", "..", "docs", "images", "explain-claim.svg"), picture.SVG(), *update)
}
