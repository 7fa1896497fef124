package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"weak"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/sources"
)

// TestEverythingIsCompleted walks all commands: where nothing is known of an argument or the value of a flag,
// the shell offers no files.
func TestEverythingIsCompleted(t *testing.T) {
	flags := 0
	p := newProgram(genericiooptions.IOStreams{}, time.Now)
	root := p.root()
	p.completions()
	walk(root, func(cmd *cobra.Command) {
		if cmd.ValidArgsFunction == nil && cmd.Name() != "help" {
			t.Errorf("%s: the shell offers files for its arguments", cmd.CommandPath())
		}
		cmd.NonInheritedFlags().VisitAll(func(f *pflag.Flag) {
			if !hasValue(f) {
				return
			}
			flags++
			if _, ok := cmd.GetFlagCompletionFunc(f.Name); !ok {
				t.Errorf("%s: the shell offers files for --%s", cmd.CommandPath(), f.Name)
			}
		})
	})
	if flags < 100 {
		t.Errorf("saw %d flags only", flags)
	}
}

// TestCommandsAreForgotten: of a command that has run nothing stays in memory. Cobra keeps the flags of which
// it was told how they are completed, and each flag is a part of what reads.
func TestCommandsAreForgotten(t *testing.T) {
	run := func() weak.Pointer[sources.Reader] {
		p := newProgram(genericiooptions.NewTestIOStreamsDiscard(), time.Now)
		root := p.root()
		root.SetArgs([]string{"get", "claims", "--demo"})
		if err := root.ExecuteContext(t.Context()); err != nil {
			t.Fatal(err)
		}
		return weak.Make(p.reader)
	}
	reader := run()
	for range 10 { // what has a finalizer takes more than one
		if runtime.GC(); reader.Value() == nil {
			return
		}
	}
	t.Error("what reads is still there")
}

// walk visits a command and all below it, in the order of their paths. Help, which cobra completes itself, is
// left out.
func walk(cmd *cobra.Command, visit func(*cobra.Command)) {
	cmd.InitDefaultHelpFlag()
	visit(cmd)
	for _, sub := range cmd.Commands() {
		if sub.Name() != "help" {
			walk(sub, visit)
		}
	}
}

func hasValue(f *pflag.Flag) bool {
	return !f.Hidden && f.Value.Type() != "bool" && f.Value.Type() != "count"
}

// completionPage is the page that lists what is completed.
var completionPage = filepath.Join("..", "..", "..", "..", "docs", "completion.md")

var generatedTables = regexp.MustCompile(`(?s)(<!-- generated: begin -->\n).*(<!-- generated: end -->)`)

// TestCompletionTable: the tables in docs/completion.md are those of the commands.
func TestCompletionTable(t *testing.T) {
	page, err := os.ReadFile(completionPage)
	if err != nil {
		t.Fatal(err)
	}
	if !generatedTables.Match(page) {
		t.Fatal("the page has no place for the tables")
	}
	want := generatedTables.ReplaceAll(page, []byte("${1}"+strings.ReplaceAll(completionTables(), "$", "$$")+"${2}"))
	if bytes.Equal(page, want) {
		return
	}
	if !*update {
		t.Fatalf("%s is out of date: run this test with -update", completionPage)
	}
	if err := os.WriteFile(completionPage, want, 0o644); err != nil { //nolint:gosec // a page for all to read
		t.Fatal(err)
	}
}

func completionTables() string {
	var b strings.Builder
	root := newProgram(genericiooptions.IOStreams{}, time.Now).root()
	b.WriteString("\nEvery command has these flags:\n\n| flag | TAB offers |\n|---|---|\n")
	writeFlagRows(&b, root.PersistentFlags(), "")
	b.WriteString("\nBesides:\n\n| command | argument or flag | TAB offers |\n|---|---|---|\n")
	walk(root, func(cmd *cobra.Command) {
		name := strings.TrimPrefix(cmd.CommandPath(), "kubectl dra")
		name = strings.TrimSpace(name)
		var subs []string
		for _, sub := range cmd.Commands() {
			if sub.IsAvailableCommand() {
				subs = append(subs, "`"+sub.Name()+"`")
			}
		}
		what := cmd.Annotations[console.Completes]
		if len(subs) > 0 && what != "" {
			what += "; commands: " + strings.Join(subs, ", ")
		}
		if cmd == root {
			name, what = "(none)", "commands"
		}
		if what != "" {
			fmt.Fprintf(&b, "| `%s` | arguments | %s |\n", name, cell(what))
		}
		if cmd != root {
			writeFlagRows(&b, cmd.NonInheritedFlags(), "`"+name+"` | ")
		}
	})
	b.WriteString("\n")
	return b.String()
}

func writeFlagRows(b *strings.Builder, flags *pflag.FlagSet, before string) {
	var lines []string
	flags.VisitAll(func(f *pflag.Flag) {
		if hasValue(f) && len(f.Annotations[console.Completes]) > 0 {
			lines = append(lines, fmt.Sprintf("| %s`--%s` | %s |\n", before, f.Name, cell(f.Annotations[console.Completes][0])))
		}
	})
	slices.Sort(lines)
	b.WriteString(strings.Join(lines, ""))
}

func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }
