package tui

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"
	corev1 "k8s.io/api/core/v1"
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

// TestCommandsOfCauses: on a cause, the same key opens the commands of the first change that helps, and then
// shows those of the next. The page follows the cluster, and says so when the cause is gone.
func TestCommandsOfCauses(t *testing.T) {
	base := demoSnapshot(t)
	d := start(t, Options{
		Source: Static(base), Origin: "demo", View: "causes", Profile: colorprofile.NoTTY, Clock: demo.Now, Asked: askedOfDemo,
	}, 80, 40)
	d.press("J", "x")
	d.shows("── fixes ml/pretrain-2", "Fix 1 of 4", "→ unblocks 1", "Commands")
	d.press("x")
	if got, want := d.m.copied(), "kubectl dra explain pod pretrain-2 -n ml --demo --fix 1 -o yaml | kubectl replace --force -f -"; got != want {
		t.Errorf("copied %q, want %q", got, want)
	}
	d.press("x", "x", "x")
	d.shows("2  needs 8 devices of class gpu-80gb.example.com")
	d.press("x")
	d.send(arrived{base.With(func(o *inspect.Objects) {
		o.Pods = slices.DeleteFunc(slices.Clone(o.Pods), func(p *corev1.Pod) bool { return p.Name == "pretrain-2" })
		o.Claims = slices.DeleteFunc(slices.Clone(o.Claims), func(c *resourcev1.ResourceClaim) bool { return c.Name == "pretrain-2" })
	})})
	d.shows("nothing is stuck because of this any more")
	if got := d.m.copied(); strings.Contains(got, "kubectl") {
		t.Errorf("copied %q for what is gone", got)
	}
}

// TestSave: what C copies can be kept in a file, for terminals without a clipboard; and where it cannot be
// kept, that is said.
func TestSave(t *testing.T) {
	var kept string
	options := Options{
		Source: Static(demoSnapshot(t)), Origin: "demo", View: "claims", Profile: colorprofile.NoTTY, Clock: demo.Now, Asked: askedOfDemo,
		Save: func(text string) (string, error) { kept = text; return "a\x1bfile", nil },
	}
	d := start(t, options, 100, 30)
	d.send(screen.Go{View: "claims", Ref: screen.Ref{Kind: screen.Claim, Namespace: "ml", Name: "pretrain-2"}})
	d.press("e", "x", "ctrl+s")
	d.shows(`saved in a\x1bfile`)
	if want := d.m.copied() + "\n"; kept != want || !strings.HasPrefix(kept, "kubectl ") {
		t.Errorf("%q was kept of %q", kept, want)
	}
	d.m.options.Save = func(string) (string, error) { return "", errors.New("the disk\x1b is full") }
	d.press("ctrl+s")
	d.shows(`not saved: the disk\x1b is full`)
	d.m.options.Save = nil
	d.press("ctrl+s")
	d.shows("^S save: there is nowhere to save it")

	t.Chdir(t.TempDir())
	first, err := SaveHere("a\n")
	second, again := SaveHere("b\n")
	if err := errors.Join(err, again); err != nil || first == second {
		t.Fatal(first, second, err)
	}
	data, err := os.ReadFile(first)
	info, statErr := os.Stat(first)
	if errors.Join(err, statErr) != nil || string(data) != "a\n" || info.Mode().Perm() != 0o600 {
		t.Error(string(data), err, statErr)
	}
}

// TestLog: the changes tell also what the user has copied, saved and supposed.
func TestLog(t *testing.T) {
	d := start(t, Options{
		Source: Static(demoSnapshot(t)), Origin: "demo", View: "changes", Profile: colorprofile.NoTTY, Clock: demo.Now, Asked: askedOfDemo,
		Save: func(string) (string, error) { return "a-file", nil },
	}, 140, 30)
	d.frame()
	d.send(screen.Go{View: "claims", Ref: screen.Ref{Kind: screen.Claim, Namespace: "dev", Name: "notebook-omar"}})
	d.press("C", "ctrl+s", "w", "W", "9", "/", "by you", "enter")
	d.shows("what if ends claim dev/notebook-omar", "what if      claim dev/notebook-omar", "released by you", "saved        claim dev/notebook-omar", "in a-file by you", "copied       claim dev/notebook-omar", "4 of ")
}

// TestOwnDoingsAreNoChanges: that a claim was copied does not change since when it is idle.
func TestOwnDoingsAreNoChanges(t *testing.T) {
	ref := screen.Ref{Kind: screen.Claim, Namespace: "a", Name: "c"}
	idle := screen.Event{Kind: screen.ClaimUnreserved, Time: demo.Now()}
	h := &screen.History{Events: map[screen.Ref][]screen.Event{ref: {idle, {Kind: screen.Copied}, {Kind: screen.Wrote}}}}
	if got := h.IdleSince(ref); got != idle.Time {
		t.Errorf("idle since %v", got)
	}
	h.Events[ref] = append(h.Events[ref], screen.Event{Kind: screen.ClaimReserved}, screen.Event{Kind: screen.Copied})
	if got := h.IdleSince(ref); !got.IsZero() {
		t.Errorf("idle since %v, but reserved", got)
	}
}
