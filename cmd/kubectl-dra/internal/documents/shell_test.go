package documents

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"
	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli"
)

// shell runs the commands of blocks: the program, a stand-in of kubectl, jq, and the tools that every system
// has.
type shell struct {
	*stage
	runner *interp.Runner

	mu       sync.Mutex
	results  []result // of the program, as they ended
	notRun   []string // commands that are not run
	stdout   bytes.Buffer
	terminal bytes.Buffer // stdout and stderr
}

// followed is how long a command that follows the cluster is let run once it has said anything, or follows
// it.
const followed = 2 * time.Second

// firstWrite closes began when anything is written.
type firstWrite struct {
	io.Writer
	once  *sync.Once
	began chan struct{}
}

func (w firstWrite) Write(p []byte) (int, error) {
	w.once.Do(func() { close(w.began) })
	return w.Writer.Write(p)
}

// tools are programs of the system that are run as they are.
var tools = []string{
	"awk", "base64", "cat", "column", "cp", "cut", "date", "diff", "echo", "env", "grep", "gunzip", "gzip", "head", "ls", "mkdir", "mktemp", "mv", "paste", "printf", "rm",
	"sed", "seq", "sleep", "sort", "tail", "tee", "test", "touch", "tr", "uniq", "wc", "xargs", "zcat",
}

// elsewhere are programs that pages name and no block runs: what installs, builds and releases is tried by
// the tests of these.
var elsewhere = []string{"go", "make", "git", "brew", "curl", "tar", "cosign", "goreleaser", "sha256sum", "shasum", "install", "sudo", "ln", "chmod", "docker", "crictl", "ssh", "claude", "npx", "source", "."}

// newShell makes a shell on a stage.
func newShell(s *stage) *shell {
	sh := &shell{stage: s}
	runner, err := interp.New(interp.Dir(s.dir), interp.StdIO(strings.NewReader(""), both{sh, &sh.stdout}, both{sh, nil}),
		interp.ExecHandlers(func(next interp.ExecHandlerFunc) interp.ExecHandlerFunc {
			return func(ctx context.Context, args []string) error { return sh.exec(ctx, args, next) }
		}))
	if err != nil {
		s.t.Fatal(err)
	}
	sh.runner = runner
	return sh
}

// both writes to what a terminal shows and perhaps to something else.
type both struct {
	shell *shell
	other *bytes.Buffer
}

// Write implements io.Writer.
func (b both) Write(p []byte) (int, error) {
	b.shell.mu.Lock()
	defer b.shell.mu.Unlock()
	b.shell.terminal.Write(p)
	if b.other != nil {
		b.other.Write(p)
	}
	return len(p), nil
}

// exec runs one command.
func (sh *shell) exec(ctx context.Context, args []string, next interp.ExecHandlerFunc) error {
	of := interp.HandlerCtx(ctx)
	if dra, ok := programArgs(args); ok {
		return status(sh.run(of, dra))
	}
	switch {
	case args[0] == "kubectl":
		if code, ok := sh.kubectl(of, args[1:]); ok {
			return status(code)
		}
	case args[0] == "jq":
		return status(jq(of, args[1:]))
	case slices.Contains(tools, args[0]):
		return next(ctx, args)
	case !slices.Contains(elsewhere, args[0]):
		return fmt.Errorf("%q is no program that blocks can run: see tools in shell_test.go, or say <!-- not run: why --> above the block", args[0])
	}
	sh.mu.Lock()
	defer sh.mu.Unlock()
	sh.notRun = append(sh.notRun, strings.Join(args, " "))
	return nil
}

func status(code int) error {
	if code == 0 {
		return nil
	}
	return interp.ExitStatus(uint8(code)) //nolint:gosec // exit codes are small
}

// programArgs are the arguments for the program, if a command is the program.
func programArgs(args []string) ([]string, bool) {
	for _, name := range [][]string{{"kubectl", "dra"}, {"kubectl-dra"}, {"bin/kubectl-dra"}, {"./kubectl-dra"}, {"go", "run", "./cmd/kubectl-dra"}} {
		if len(args) >= len(name) && slices.Equal(args[:len(name)], name) {
			return args[len(name):], true
		}
	}
	return nil, false
}

// run runs the program in a shell.
func (sh *shell) run(of interp.HandlerContext, args []string) int {
	var errOut bytes.Buffer
	r := result{args: args}
	if args = slices.Clone(args); len(args) > 0 && args[0] == "snapshot" {
		if name := flagValue(args, "-o", "--output"); madeFiles[name] != nil {
			_ = os.Remove(filepath.Join(sh.dir, name)) // the stage has it, where the reader's directory has not
		}
	}
	if follows(args) {
		r.code = sh.follow(of, args, &errOut)
	} else {
		in := of.Stdin
		if in == nil {
			in = strings.NewReader("")
		}
		r.code = cli.Main(args, genericiooptions.IOStreams{In: in, Out: of.Stdout, ErrOut: io.MultiWriter(of.Stderr, &errOut)}, instant(sh.at))
	}
	r.stderr = errOut.String()
	sh.mu.Lock()
	defer sh.mu.Unlock()
	sh.results = append(sh.results, r)
	return r.code
}

// follows reports whether a command goes on until it is interrupted.
func follows(args []string) bool {
	if len(args) == 0 {
		return false
	}
	flag := func(names ...string) bool {
		return slices.ContainsFunc(args, func(a string) bool {
			return slices.ContainsFunc(names, func(n string) bool { return a == n || strings.HasPrefix(a, n+"=") })
		})
	}
	switch args[0] {
	case "record":
		return !flag("--for")
	case "get", "check", "explain":
		return flag("--watch", "-w")
	}
	return false
}

// follow runs the program as a process of its own and interrupts it after a while. It returns 0 if that is
// how it ended.
func (sh *shell) follow(of interp.HandlerContext, args []string, errOut io.Writer) int {
	self, err := os.Executable()
	if err != nil {
		sh.t.Fatal(err)
	}
	cmd := exec.CommandContext(context.Background(), self, args...) //nolint:gosec // it is this test
	once, began := &sync.Once{}, make(chan struct{})
	cmd.Dir, cmd.Stdout, cmd.Stderr = sh.dir, firstWrite{of.Stdout, once, began}, firstWrite{io.MultiWriter(of.Stderr, errOut), once, began}
	cmd.Env = append(os.Environ(), program+"=1")
	if err := cmd.Start(); err != nil {
		sh.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	interrupt, before := make(chan struct{}), sh.watches()
	running, end := context.WithCancel(sh.t.Context())
	defer end()
	go func() {
		defer close(interrupt)
		for begun := false; !begun && sh.watches() == before; { // a busy machine may take seconds to begin
			select {
			case <-began:
				begun = true
			case <-running.Done():
				return
			case <-time.After(followed / 20): //nolint:mnd // often
			}
		}
		time.Sleep(followed)
	}()
	select {
	case err = <-ended:
	case <-interrupt:
		_ = cmd.Process.Signal(os.Interrupt) // it may just have ended
		err = <-ended
	}
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit) && exit.ExitCode() == 130:
		return 0
	case errors.As(err, &exit):
		return exit.ExitCode()
	}
	return 1
}

// watches is how many watches the server was asked for.
func (sh *shell) watches() int {
	n := 0
	for _, request := range sh.server.Requests() {
		if request.Watch {
			n++
		}
	}
	return n
}

// statement is a command line of a block, and what the page shows below it.
type statement struct {
	line   int // within the block, from 0
	text   string
	node   *syntax.Stmt
	shown  []string
	prompt bool
}

// statements takes a block apart: all lines are commands, or those behind "$ " are and the others what these
// print.
func statements(text string) ([]statement, error) {
	if !strings.Contains("\n"+text, "\n$ ") {
		return parse(text, 0, false)
	}
	var out []statement
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i := 0; i < len(lines); {
		command, ok := strings.CutPrefix(lines[i], "$ ")
		if !ok {
			return nil, fmt.Errorf("line %d stands before any command: commands begin with \"$ \"", i+1)
		}
		at := i
		parsed, err := parse(command, at, true)
		for i++; err != nil && i < len(lines) && !strings.HasPrefix(lines[i], "$ ") && incomplete(err); i++ {
			command += "\n" + strings.TrimPrefix(lines[i], "> ")
			parsed, err = parse(command, at, true)
		}
		if err != nil {
			return nil, err
		}
		begin := i
		for i < len(lines) && !strings.HasPrefix(lines[i], "$ ") {
			i++
		}
		if len(parsed) > 0 {
			parsed[len(parsed)-1].shown = lines[begin:i]
		}
		out = append(out, parsed...)
	}
	return out, nil
}

func incomplete(err error) bool {
	return syntax.IsIncomplete(err) || strings.Contains(err.Error(), "must be followed by")
}

// parse takes commands apart.
func parse(text string, line int, prompt bool) ([]statement, error) {
	if strings.HasSuffix(text, "\\") { // it goes on in the next line
		return nil, errors.New("\\ must be followed by another line")
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		return nil, err
	}
	var out []statement
	for _, s := range file.Stmts {
		out = append(out, statement{line: line + int(s.Pos().Line()) - 1, text: text[s.Pos().Offset():s.End().Offset()], node: s, prompt: prompt}) //nolint:gosec // pages are short
	}
	return out, nil
}

// names reports whether a command names the program.
func (s *statement) names() bool {
	found := false
	for _, args := range s.commands() {
		_, ok := programArgs(args)
		found = found || ok
	}
	return found
}

// commands are the simple commands in it, as far as their words are plain.
func (s *statement) commands() [][]string {
	var out [][]string
	syntax.Walk(s.node, func(n syntax.Node) bool {
		if call, ok := n.(*syntax.CallExpr); ok {
			var args []string
			for _, w := range call.Args {
				args = append(args, plainWord(w))
			}
			if len(args) > 0 {
				out = append(out, args)
			}
		}
		return true
	})
	return out
}

// plainWord is a word without its quotes.
func plainWord(w *syntax.Word) string {
	var b strings.Builder
	for _, part := range w.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			b.WriteString(part.Value)
		case *syntax.SglQuoted:
			b.WriteString(part.Value)
		case *syntax.DblQuoted:
			for _, inner := range part.Parts {
				if lit, ok := inner.(*syntax.Lit); ok {
					b.WriteString(lit.Value)
				}
			}
		}
	}
	return b.String()
}
