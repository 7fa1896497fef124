package tui

import (
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/demo"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// clipboard is what a copy puts onto the clipboard, "" if nothing.
func (d *driver) clipboard(text string) string {
	cmd := d.m.copyText(text)
	if cmd == nil {
		return ""
	}
	return fmt.Sprint(cmd())
}

func TestCopiedTextIsSafe(t *testing.T) {
	d := drive(t, 100, 30, "")
	got := d.clipboard("a: \x1b]52;c;eA==\x07\nb: \u202ex\u3164\r\n")
	if want := "a: \\x1b]52;c;eA==\\a\nb: \\u202ex\\u3164\\r\n"; got != want {
		t.Errorf("copied %q, want %q", got, want)
	}
	d.shows("copied")
	whole := strings.Repeat("x", maxCopied)
	if got := d.clipboard(whole); got != whole {
		t.Errorf("%d bytes are copied of %d", len(got), maxCopied)
	}
	if got := d.clipboard(whole + "\x1b"); got != "" {
		t.Errorf("%d bytes are copied, more than terminals take", len(got))
	}
	d.shows("not copied: it has 74 kB, and terminals take up to 74 kB")
}

// TestCopiedNameIsOneLine: what is pasted into a shell does not run by itself.
func TestCopiedNameIsOneLine(t *testing.T) {
	d := drive(t, 100, 30, "")
	name := "x\nreboot\n\x1b[201~"
	d.send(arrived{d.m.base.With(func(o *inspect.Objects) {
		o.Claims = []*resourcev1.ResourceClaim{{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: name}}}
	})})
	ref := screen.Ref{Kind: screen.Claim, Namespace: "ml", Name: name}
	d.send(screen.Go{View: "claims", Ref: ref})
	if got, want := d.m.copied(), `x\nreboot\n\x1b[201~`; got != want {
		t.Errorf("copied %q from the list, want %q", got, want)
	}
	d.send(screen.Go{View: "claims"})
	for _, key := range []string{"enter", "e", "y"} {
		d.press(key)
		if got := d.m.copied(); strings.Contains(got, "\nreboot") || !strings.Contains(got, "reboot") {
			t.Errorf("after %s: copied %q", key, got)
		}
		d.press("esc")
	}
}

// TestCommandsOfFixes: on the page that explains, a key shows each fix with all of its commands, and the copy
// key takes these, each on a line of its own, however narrow the screen.
func TestCommandsOfFixes(t *testing.T) {
	options := Options{
		Source: Static(demoSnapshot(t)), Origin: "demo", View: "claims", Profile: colorprofile.NoTTY, Clock: demo.Now,
		Asked: askedOfDemo,
	}
	d := start(t, options, 60, 40)
	d.send(screen.Go{View: "claims", Ref: screen.Ref{Kind: screen.Claim, Namespace: "infer", Name: "rerank-0"}})
	d.press("e")
	whole := d.frame()
	for _, want := range []string{
		"kubectl dra explain claim rerank-0 -n infer --demo --fix 1 -o yaml | kubectl replace --force -f -",
		"kubectl dra explain claim rerank-0 -n infer --demo --fix 2 -o yaml | kubectl replace --force -f -",
	} {
		d.press("x")
		if got := strings.Split(d.m.copied(), "\n")[0]; got != want {
			t.Errorf("copied %q, want %q", got, want)
		}
		d.shows(`kubectl dra explain claim rerank-0 -n infer --demo \`)
	}
	for range 10 {
		if d.press("x"); d.frame() == whole {
			return
		}
	}
	t.Error("the key does not come back to the explanation")
}
