package tui

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/charmbracelet/colorprofile"
	"github.com/google/go-cmp/cmp"

	testwork "github.com/kubectl-dra/kubectl-dra/internal/effort"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/screen/screentest"
)

// task is a question that a platform engineer has, and how it is answered.
type task struct {
	question string
	// steps of its life has the demo cluster taken since the start.
	steps int
	// keys are pressed in kubectl dra top, which has just been started; shows is then on the screen.
	keys  []string
	shows []string
	// says tells people what they see.
	says string
	// kubectl are the commands that come nearest to an answer, k9s the keys; the other two say what they
	// leave to do.
	kubectl     []string
	kubectlLeft string
	k9s         []string
	k9sLeft     string
}

// strokes counts the keys of a list: a named key is one, and so is each character that is typed.
func strokes(keys []string) int {
	n := 0
	for _, key := range keys {
		if _, named := namedKeys[key]; named {
			n++
		} else {
			n += utf8.RuneCountInString(key)
		}
	}
	return n
}

// typed counts the characters of commands, each with the Enter behind it.
func typed(commands []string) int {
	n := 0
	for _, c := range commands {
		n += utf8.RuneCountInString(c) + 1
	}
	return n
}

// labels are how named keys are written for people.
var labels = map[string]string{"enter": "⏎", "home": "Home", "tab": "⇥", "esc": "Esc"}

func written(keys []string) string {
	parts := make([]string, len(keys))
	for i, key := range keys {
		parts[i] = "`" + key + "`"
		if label, named := labels[key]; named {
			parts[i] = label
		}
	}
	return strings.Join(parts, " ")
}

// dry is a writer that works out what would be written, for tasks that end in front of the question.
type dry struct{}

func (dry) Plan(_ context.Context, action Action, subject screen.Ref) (Plan, error) {
	return dryPlan(fmt.Sprintf("%s %s", action, subject)), nil
}

type dryPlan string

func (p dryPlan) Text() string                            { return string(p) }
func (p dryPlan) Execute(context.Context) (string, error) { panic("a task wrote something") }

// atWork is the demo cluster with an API server that is under load, after some steps of its life.
func atWork(t *testing.T, steps, width, height int) *driver {
	t.Helper()
	load := demoLoad(t)
	for range 30 {
		load.Read(context.Background())
	}
	// What happens is seen from a view that takes little time, and the program is shown as if it had just
	// been started.
	d, life := alive(t, Options{Profile: colorprofile.NoTTY, Writer: dry{}, Levels: load, View: "storage"}, width, height)
	for range steps {
		d.send(arrived{life.Step()})
	}
	settle(d.m, d.m.switchTo("claims"))
	return d
}

// TestTasks does the tasks on a screen of 80 columns and 24 lines.
func TestTasks(t *testing.T) {
	for i, task := range tasks {
		if i%testwork.InUsual(2, 1) != 0 {
			continue
		}
		t.Run(task.question, func(t *testing.T) {
			d := atWork(t, task.steps, 80, 24)
			for _, key := range task.keys {
				d.frame()
				d.press(key)
			}
			d.pass() // figures of the server come by themselves
			d.shows(task.shows...)
		})
	}
}

// TestTopDocument holds docs/top.md against the tasks and the keys; -update writes what is between its marks.
func TestTopDocument(t *testing.T) {
	path := filepath.Join("..", "docs", "top.md")
	document, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := document
	for _, part := range []struct{ name, text string }{{"keys", keysTable(t)}, {"summary", summaryTable()}, {"tasks", taskSections()}} {
		want = replaced(t, want, part.name, part.text)
	}
	if *screentest.Update && !bytes.Equal(document, want) {
		if err := os.WriteFile(path, want, 0o644); err != nil { //nolint:gosec // a document is for everybody to read
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(string(document), "\n")); diff != "" {
		t.Errorf("docs/top.md is not what the program does (-want +got; go test ./tui -run TopDocument -update):\n%s", diff)
	}
}

// replaced puts a text between the marks of a part of a document.
func replaced(t *testing.T, document []byte, name, text string) []byte {
	t.Helper()
	begin, end := []byte("<!-- "+name+": written by go test ./tui -run TopDocument -update -->\n"), []byte("<!-- end of "+name+" -->")
	head, rest, ok := bytes.Cut(document, begin)
	_, tail, closed := bytes.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("docs/top.md has no place for the %s, between %q and %q", name, begin, end)
	}
	return bytes.Join([][]byte{head, begin, []byte(text), end, tail}, nil)
}

// keysTable lists the keys that mean the same everywhere, and those of tables and texts.
func keysTable(t *testing.T) string {
	d := drive(t, 80, 24, "claims")
	var b strings.Builder
	b.WriteString("\n| key | does |\n|---|---|\n")
	for _, k := range d.m.keys() {
		fmt.Fprintf(&b, "| %s | %s |\n", keyCode(k), cell(k.Help))
	}
	for _, k := range d.m.state().Keys {
		fmt.Fprintf(&b, "| %s | %s |\n", keyCode(k), cell(k.Help))
	}
	b.WriteString("\n")
	return b.String()
}

func keyCode(k screen.Key) string { return "`" + k.Label() + "`" }

// cell makes a text fit for a table.
func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }

func summaryTable() string {
	var b strings.Builder
	b.WriteString("\n| | question | top | kubectl | k9s |\n|---|---|---|---|---|\n")
	for i, task := range tasks {
		fmt.Fprintf(&b, "| %d | %s | %d | %s | %s |\n", i+1, cell(task.question), strokes(task.keys), effort(typed(task.kubectl), task.kubectlLeft), effort(strokes(task.k9s), task.k9sLeft))
	}
	b.WriteString("\n")
	return b.String()
}

// effort is a number of keys, marked when these do not give the answer.
func effort(keys int, left string) string {
	switch {
	case keys == 0:
		return "–"
	case left == "":
		return fmt.Sprint(keys)
	}
	return fmt.Sprintf("%d +", keys)
}

func counted(keys int) string {
	if keys == 1 {
		return "1 key"
	}
	return fmt.Sprintf("%d keys", keys)
}

func taskSections() string {
	var b strings.Builder
	for i, task := range tasks {
		fmt.Fprintf(&b, "\n### %d. %s\n\n", i+1, task.question)
		fmt.Fprintf(&b, "**top**, %s: %s. %s\n\n", counted(strokes(task.keys)), written(task.keys), task.says)
		if len(task.kubectl) > 0 {
			fmt.Fprintf(&b, "**kubectl**, %d characters:\n\n```sh\n%s\n```\n\n", typed(task.kubectl), strings.Join(task.kubectl, "\n"))
			if task.kubectlLeft != "" {
				fmt.Fprintf(&b, "%s\n\n", task.kubectlLeft)
			}
		} else {
			fmt.Fprintf(&b, "**kubectl**: %s\n\n", task.kubectlLeft)
		}
		if len(task.k9s) > 0 {
			fmt.Fprintf(&b, "**k9s**, %s: %s.", counted(strokes(task.k9s)), written(task.k9s))
		} else {
			b.WriteString("**k9s**:")
		}
		fmt.Fprintf(&b, " %s\n", task.k9sLeft)
	}
	b.WriteString("\n")
	return b.String()
}
