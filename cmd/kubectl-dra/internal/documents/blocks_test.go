package documents

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"
	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli"
	"github.com/kubectl-dra/kubectl-dra/internal/demo"
	"github.com/kubectl-dra/kubectl-dra/internal/effort"
)

// TestBlocks runs the blocks of code of every page, each page on a stage of its own.
func TestBlocks(t *testing.T) {
	var sum tally
	wanted, ran, again := 0, 0, map[string]int{}
	for _, p := range pages(t) {
		if len(p.blocks) == 0 || bytes.HasPrefix(p.source, []byte("<!-- Written by make generate")) && !effort.Full() {
			continue // TestWritten has just written it from what the program prints
		}
		wanted++
		t.Run(p.path, func(t *testing.T) {
			ran++
			if !effort.Usual() {
				again = map[string]int{}
			}
			r := &blockRunner{t: t, page: p, again: again}
			for _, b := range p.blocks {
				r.block(b)
			}
			sum.add(r.tally)
		})
	}
	t.Logf("%d commands of the program were run and %d only parsed, %d outputs compared", sum.run, sum.parsed, sum.compared)
	if ran == wanted && (sum.run < effort.InFull(60, 30) || sum.compared < 3) {
		t.Errorf("only %d commands were run, and %d outputs compared: are blocks found?", sum.run, sum.compared)
	}
}

// tally counts what was done.
type tally struct{ run, parsed, compared int }

func (a *tally) add(b tally) {
	a.run, a.parsed, a.compared = a.run+b.run, a.parsed+b.parsed, a.compared+b.compared
}

// blockRunner runs the blocks of a page.
type blockRunner struct {
	t     *testing.T
	page  *page
	shell *shell // made when the first block is run
	// again counts the command lines so far, of the page or in the usual run of all pages, by their command.
	again map[string]int
	tally
}

// oneOf is of how many command lines that give the same command, and of which nothing is shown that it
// prints, every run but the full one runs one and only parses the others.
const oneOf = 4

func (r *blockRunner) failf(b block, line int, format string, args ...any) {
	r.t.Helper()
	r.t.Errorf("%s:%d: "+format, append([]any{r.page.path, b.line + line}, args...)...)
}

// block does with a block what its language says.
func (r *blockRunner) block(b block) {
	r.t.Helper()
	if name := b.said["saved as"]; name != "" {
		r.stage().write(name, []byte(b.text))
	}
	switch b.language {
	case "yaml", "json":
		for i, document := range strings.Split("\n"+b.text, "\n---\n") {
			var v any
			if err := yaml.Unmarshal([]byte(document), &v); err != nil {
				r.failf(b, 0, "document %d of the block is no %s: %v", i+1, b.language, err)
			}
		}
	case "sh", "bash", "shell", "console":
		r.commands(b)
	case "":
		if strings.HasPrefix(b.text, "$ ") || strings.HasPrefix(b.text, "kubectl dra ") || strings.HasPrefix(b.text, "kubectl-dra ") {
			r.commands(b)
		}
	}
}

func (r *blockRunner) stage() *shell {
	if r.shell == nil {
		r.shell = newShell(newStage(r.t))
	}
	return r.shell
}

// commands runs a block of commands, or only parses it.
func (r *blockRunner) commands(b block) {
	r.t.Helper()
	list, err := statements(b.text)
	if err != nil {
		r.failf(b, 0, "the block is no shell: %v; a block that is none needs another language, such as text", err)
		return
	}
	if !slices.ContainsFunc(list, func(s statement) bool { return s.names() }) {
		return // kubectl, make and others are not run
	}
	if why, ok := b.said["not run"]; ok {
		if len(why) < 10 {
			r.failf(b, 0, "say why the block is not run")
		}
		r.onlyParse(b, list)
		return
	}
	sh := r.stage()
	if archive := b.said["unpack"]; archive != "" {
		sh.unpack(archive)
	}
	sh.at = demo.Now()
	if at := b.said["at"]; at != "" {
		if sh.at, err = time.Parse(time.RFC3339, at); err != nil {
			r.failf(b, 0, "%v", err)
		}
	}
	for i := range list {
		if r.enough(&list[i]) {
			r.onlyParse(b, list[i:i+1])
			continue
		}
		r.statement(b, &list[i])
	}
}

// enough reports whether others like a command line are run on the page. Those that write, or of which the
// page shows the output, are always run.
func (r *blockRunner) enough(s *statement) bool {
	call, ok := s.node.Cmd.(*syntax.CallExpr)
	commands := s.commands()
	if !ok || len(call.Assigns)+len(s.node.Redirs)+len(s.shown) > 0 || len(commands) != 1 {
		return false
	}
	args, ok := programArgs(commands[0])
	writes := []string{"snapshot", "record", "allocate", "deallocate"}
	if !ok || len(args) == 0 || slices.Contains(writes, args[0]) {
		return false
	}
	command := args[0]
	if command == "plan" && len(args) > 1 {
		command += " " + args[1]
	}
	r.again[command]++
	return (r.again[command]-1)%effort.InFull(1, oneOf) > 0
}

// onlyParse checks that the commands can be given, by asking for help with them.
func (r *blockRunner) onlyParse(b block, list []statement) {
	r.t.Helper()
	for i := range list {
		for _, args := range list[i].commands() {
			dra, ok := programArgs(args)
			if !ok {
				continue
			}
			r.parsed++
			var out, errOut bytes.Buffer
			code := cli.Main(append(slices.Clone(dra), "--help"), genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errOut}, demo.Now)
			if code != 0 || len(dra) > 0 && !strings.HasPrefix(dra[0], "-") && !strings.Contains(out.String(), "kubectl dra "+dra[0]) {
				r.failf(b, list[i].line, "kubectl dra %s cannot be given: %s", strings.Join(dra, " "), errOut.String())
			}
		}
	}
}

// statement runs one command line, and compares what it prints with what the page shows.
func (r *blockRunner) statement(b block, s *statement) {
	r.t.Helper()
	sh := r.shell
	sh.results, sh.notRun = nil, nil
	sh.stdout.Reset()
	sh.terminal.Reset()
	err := sh.runner.Run(context.Background(), s.node)
	var ended interp.ExitStatus
	if err != nil && !errors.As(err, &ended) {
		r.failf(b, s.line, "`%s`: %v", s.text, err)
		return
	}
	for i := range sh.results {
		r.run++
		if why := wrong(&sh.results[i], b.said); why != "" {
			r.failf(b, s.line, "`kubectl dra %s` %s", strings.Join(sh.results[i].args, " "), why)
		}
	}
	if len(s.shown) == 0 || len(sh.notRun) > 0 || len(sh.results) == 0 {
		return
	}
	r.compared++
	shown := trimmed(strings.Join(s.shown, "\n"))
	if whole, out := trimmed(sh.terminal.String()), trimmed(sh.stdout.String()); !matches(shown, whole) && !matches(shown, out) {
		r.failf(b, s.line, "the page does not show what `%s` prints (a line … stands for some that are left out):%s\nIt prints:\n%s", s.text, firstDifference(shown, out), whole)
	}
}

// wrong says what is wrong with a run of the program, if anything is.
func wrong(r *result, said directives) string {
	if r.code == 0 || r.code == 3 {
		return ""
	}
	code, _, _ := strings.Cut(said["exits"], " ")
	if want, err := strconv.Atoi(code); err == nil && want == r.code {
		return ""
	}
	message := strings.TrimSpace(r.stderr)
	why := fmt.Sprintf("ends with exit code %d: %s", r.code, message)
	switch {
	case r.code == 2:
		return why + "\n  the program does not understand it"
	case strings.Contains(message, "no such file"):
		return why + "\n  put the file into cmd/kubectl-dra/internal/documents/testdata/stage, or show it in a block of the page with <!-- saved as: NAME --> above"
	}
	return why + "\n  commands without --from are asked of the demo cluster: name objects of it (kubectl dra get claims -A --demo), or say <!-- exits: 1 --> or <!-- not run: why --> above the block"
}

// trimmed is a text without blank space at the ends of lines and of the whole.
func trimmed(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " \t")
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}

// matches reports whether a text is what is shown, in which a line … stands for any lines.
func matches(shown, text string) bool {
	parts := strings.Split("\n"+shown+"\n", "\n…\n")
	text = "\n" + text + "\n"
	if len(parts) == 1 {
		return "\n"+shown+"\n" == text
	}
	for i, part := range parts {
		if i > 0 {
			part = "\n" + part
		}
		if i < len(parts)-1 {
			part += "\n"
		}
		at := strings.Index(text, part)
		if at < 0 || i == 0 && at > 0 || i == len(parts)-1 && !strings.HasSuffix(text, part) {
			return false
		}
		text = "\n" + strings.TrimPrefix(text[at+len(part)-1:], "\n")
	}
	return true
}

func TestMatches(t *testing.T) {
	const text = "one\ntwo\nthree\nfour"
	for shown, want := range map[string]bool{
		text: true, "one\ntwo": false, "one\n…\nfour": true, "one\n…\nthree": false, "…\nthree\nfour": true, "one\n…\nthree\nfour": true,
		"one\ntwo\n…": true, "two\n…": false, "one\n…\ntwo\n…\nfour": true, "one\n…\nfive\n…\nfour": false,
	} {
		if got := matches(shown, text); got != want {
			t.Errorf("%q: %v, want %v", shown, got, want)
		}
	}
}

func TestStatements(t *testing.T) {
	list, err := statements("$ kubectl dra explain claim a |\n>   cat\nout 1\n\nout 2\n$ kubectl dra version\n")
	if err != nil || len(list) != 2 || !list[0].names() || strings.Join(list[0].shown, "|") != "out 1||out 2" || len(list[1].shown) != 0 || list[1].line != 5 {
		t.Errorf("%+v, %v", list, err)
	}
	if list, err = statements("# why\nkubectl get pods |\n  kubectl dra top # x\nmake\n"); err != nil || len(list) != 2 || !list[0].names() || list[1].names() || list[0].line != 1 {
		t.Errorf("%+v, %v", list, err)
	}
}
