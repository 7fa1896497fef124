package layout

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
)

// TestFoldCommand folds commands; a shell reads what is folded as it reads the command.
func TestFoldCommand(t *testing.T) {
	for _, tt := range []struct {
		command string
		width   int
		want    []string
	}{
		{"kubectl delete pod a -n b", 30, []string{"kubectl delete pod a -n b"}},
		{"kubectl delete pod a -n b", 20, []string{`kubectl delete pod \`, "a -n b"}},
		{"print --fix 1 | replace -f -", 20, []string{"print --fix 1 |", "replace -f -"}},
		{"print --fix 1 -o yaml | replace -f -", 20, []string{`print --fix 1 \`, "-o yaml |", "replace -f -"}},
		{"patch -p '[{\"a\": \"b | c\"}]' -n x", 28, []string{`patch \`, "-p '[{\"a\": \"b | c\"}]' \\", "-n x"}},
		{"patch -p '[{\"a\": \"b | c\"}]' -n x", 20, []string{`patch -p \`, `"$(printf %s \`, `'[{"a": "b | ' \`, `'c"}]')" -n x`}},
		{"print -o yaml > a.yaml", 20, []string{`print -o yaml \`, "> a.yaml"}},
	} {
		got := foldCommand(tt.command, tt.width)
		if strings.Join(got, "\n") != strings.Join(tt.want, "\n") {
			t.Errorf("%s in %d columns: %q, want %q", tt.command, tt.width, got, tt.want)
		}
	}
}

// TestFoldedCommandsRun: a shell reads a command that is folded, and pasted from a screen, as it reads the
// command, and no line is wider than the screen, where it would be cut.
func TestFoldedCommandsRun(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip(err)
	}
	run := func(script string) string {
		t.Helper()
		out, err := exec.CommandContext(t.Context(), shell, "-c", "kubectl() { printf '<%s>' \"$@\"; }\nreplace() { tr '<' '{'; }\n"+script).CombinedOutput()
		if err != nil {
			t.Errorf("%v: %s\n%s", err, out, script)
		}
		return string(out)
	}
	for _, command := range []string{
		"kubectl patch pod pretrain-2 -n ml --type=json -p '[{\"op\":\"add\",\"path\":\"/spec/tolerations\",\"value\":[{\"key\":\"kubectl-dra.dev/making-room\",\"operator\":\"Exists\"}]}]'",
		"until [ $(kubectl get pods -n infer --field-selector 'spec.nodeName!=,status.phase!=Succeeded,status.phase!=Failed' -o name | wc -l) -ge 0 ]; do sleep 1; done",
		"kubectl delete pod " + strings.Repeat("a-long-name.", 20) + "x -n b",
		"kubectl delete pod 'it'\\''s a \"name\"; rm $HOME `x` \\ of 显卡显卡显卡显卡显卡显卡显卡显卡显卡显卡显卡显卡显卡显卡显卡显卡显卡显卡' -n 'b c'",
		"kubectl label node n " + "'" + strings.Repeat("'\\''", 40) + "' -n b | replace",
		"kubectl get pods --selector=" + strings.Repeat("app=x,", 30) + "tier=y -o name | replace | replace",
		"kubectl dra explain claim llama-405b-eval -n ml --demo --fix 2 -o yaml | replace --force -f -",
		"for claim in a b c " + strings.Repeat("d-e-f ", 9) + `g; do kubectl get claim "$claim" -o json | replace --type=json -p '[{"op":"replace","path":"/a b","value":"'\''"}]' | replace -f -; done`,
	} {
		want := run(command)
		for width := 24; width < 130; width += 3 {
			lines := foldCommand(command, width)
			for i, line := range lines {
				if i > 0 {
					lines[i] = "  " + line
				}
				if n := styled.Width(lines[i]); n > width {
					t.Errorf("a line of %d columns on %d: %q", n, width, line)
				}
			}
			if got := run("   " + strings.Join(lines, "\n   ")); got != want {
				t.Errorf("folded to %d columns it says %q, want %q:\n%s", width, got, want, strings.Join(lines, "\n"))
			}
		}
	}
}
