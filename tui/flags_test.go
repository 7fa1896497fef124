package tui

import (
	"regexp"
	"strings"
	"testing"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	testwork "github.com/kubectl-dra/kubectl-dra/internal/effort"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// flagOf finds words that only the reader of a command's output can do something with.
var flagOf = regexp.MustCompile(`\(-v |; --fix `)

// TestScreensNameKeys: what is left out is shown by a key, which the screen names. A flag could not be typed
// there.
func TestScreensNameKeys(t *testing.T) {
	for _, size := range [][2]int{{200, 60}, {80, 60}}[:testwork.Of(2, 1)] {
		d := drive(t, size[0], size[1], "claims")
		named := 0
		for i, claim := range demoSnapshot(t).Objects().Claims {
			if claim.Status.Allocation != nil && i%testwork.InFull(1, 6) != 0 {
				continue
			}
			d.send(screen.Go{View: "claims", Ref: screen.Ref{Kind: screen.Claim, Namespace: claim.Namespace, Name: claim.Name}})
			beside := d.frame()
			d.press("e")
			page := d.frame()
			d.press("esc")
			for _, frame := range []string{beside, page} {
				if flag := flagOf.FindString(frame); flag != "" {
					t.Errorf("%q is on a screen about %s:\n%s", flag, inspect.RefOf(claim), frame)
				}
			}
			if strings.Contains(page, "(v shows all)") {
				named++
			}
		}
		if named == 0 {
			t.Error("no explanation leaves anything out: the test sees nothing")
		}
	}
	for _, view := range []string{"causes", "checkup"} {
		d := drive(t, 200, 100, view)
		if flag := flagOf.FindString(d.frame()); flag != "" {
			t.Errorf("%q is in %s:\n%s", flag, view, d.frame())
		}
	}
}

// TestARefusalFits: what is too long for the screen goes on in the next line, also when the size changes
// while it is shown.
func TestARefusalFits(t *testing.T) {
	d := drive(t, 60, 15, "claims")
	why := "ml/" + strings.Repeat("name-", 20) + " needs a device"
	d.m.popup = refusal(why)
	for _, width := range []int{100, 60, 100} {
		d.m.width = width
		if d.frame(); d.m.popup == nil {
			t.Fatal("it is gone")
		}
		text := d.m.popup.page.Plain(d.m.world.Theme)
		if all := strings.ReplaceAll(strings.ReplaceAll(text, " ", ""), "\n", ""); all != strings.ReplaceAll(why, " ", "") {
			t.Errorf("%d columns: %q", width, all)
		}
		for line := range strings.SplitSeq(text, "\n") {
			if styled.Width(line) > width-6 {
				t.Errorf("%d columns: %q is wider than its box", width, line)
			}
		}
	}
}
