package lifecycle

import (
	"slices"
	"testing"
)

// TestCommandsAreWordsOnly: a name in a file that a shell or kubectl would take for something else gets no
// command.
func TestCommandsAreWordsOnly(t *testing.T) {
	for _, name := range []string{
		"a b", "a;reboot", "$(reboot)", "`reboot`", "a|b", "a&b", "a>b", "a\nb", "-rf", "--kubeconfig=/x", "'a'", `"a"`, `a\`, "a*", "~root", "#a", "a\x1b", "é", "a!b", "{a,b}",
	} {
		if got := commands(describe("pod", "ml", name), describe("pod", name, "p")); len(got) > 0 {
			t.Errorf("%q: %q", name, got)
		}
	}
	want := []string{"kubectl describe pod -n ml train-0.x:1", "kubectl describe node n1"}
	if got := commands(describe("pod", "ml", "train-0.x:1"), nil, describe("node", "", "n1")); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
