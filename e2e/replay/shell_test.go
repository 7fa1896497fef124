package replay

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/hinshun/vt10x"

	"github.com/kubectl-dra/kubectl-dra/e2e/cluster"
)

// patience is how long a shell may take to show something.
const patience = 60 * time.Second

// prompt is what every shell begins its lines with.
const prompt = "%$ "

// shells are those that are tested, with what they need: the program, how it is started, and the file that it
// reads first.
var shells = []struct {
	name, needs string
	command     []string
	file, setup string
}{
	{
		name: "bash", needs: "/usr/share/bash-completion/bash_completion",
		command: []string{"bash", "--noprofile", "--rcfile", "rc", "-i"}, file: "rc",
		setup: `PS1='` + prompt + `'
. /usr/share/bash-completion/bash_completion
bind 'set bell-style none'
bind 'set show-all-if-ambiguous on'
bind 'set completion-query-items 0'
bind 'set page-completions off'
bind 'set enable-bracketed-paste off'
. <(kubectl completion bash)
. <(kubectl dra completion bash)
`,
	},
	{
		name: "zsh", command: []string{"zsh", "-i"}, file: ".zshrc",
		setup: `PS1='` + strings.ReplaceAll(prompt, "%", "%%") + `'
unsetopt beep prompt_sp list_ambiguous
autoload -Uz compinit
compinit -u -D
unset zle_bracketed_paste
. <(kubectl completion zsh)
. <(kubectl dra completion zsh)
`,
	},
	{
		name: "fish", command: []string{"fish", "-i"}, file: ".config/fish/config.fish",
		setup: `function fish_prompt; echo -n '` + prompt + `'; end
set -g fish_greeting
set -g fish_autosuggestion_enabled 0
kubectl completion fish | source
kubectl dra completion fish | source
`,
	},
}

// eachShell runs a test in every shell. One that is not installed is skipped: .ci/run installs all.
func eachShell(t *testing.T, environment []string, test func(t *testing.T, s *shell)) {
	t.Helper()
	kubectl, product := cluster.Programs(t)
	for _, about := range shells {
		t.Run(about.name, func(t *testing.T) {
			t.Parallel()
			program, err := exec.LookPath(about.command[0])
			if err != nil {
				t.Skipf("%s is not installed; it is in the Debian package of that name", about.name)
			}
			if _, err := os.Stat(about.needs); about.needs != "" && err != nil {
				t.Skip("bash-completion is not installed; it is in the Debian package of that name")
			}
			home := t.TempDir()
			place(t, filepath.Join(home, "bin", "kubectl"), kubectl)
			place(t, filepath.Join(home, "bin", "kubectl-dra"), product)
			place(t, filepath.Join(home, "bin", "kubectl_complete-dra"), product)
			file := filepath.Join(home, about.file)
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(about.setup), 0o600); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(program, about.command[1:]...)
			cmd.Dir = home
			cmd.Env = append([]string{
				"PATH=" + filepath.Join(home, "bin") + ":/usr/bin:/bin", "HOME=" + home, "ZDOTDIR=" + home, "TERM=xterm", "LANG=C.UTF-8",
			}, environment...)
			s := startShell(t, cmd, home)
			s.name = about.name
			test(t, s)
		})
	}
}

// place puts a link to a program somewhere.
func place(t *testing.T, link, program string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(link), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(program, link); err != nil {
		t.Fatal(err)
	}
}

// shell is a shell in a pseudo terminal, and what is on its screen.
type shell struct {
	name string
	home string
	pty  *os.File
	done chan struct{}

	mu      sync.Mutex
	screen  vt10x.Terminal
	changed time.Time
}

const shellColumns, shellRows = 160, 60

func startShell(t *testing.T, cmd *exec.Cmd, home string) *shell {
	t.Helper()
	f, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: shellRows, Cols: shellColumns})
	if err != nil {
		t.Fatal(err)
	}
	s := &shell{home: home, pty: f, done: make(chan struct{}), screen: vt10x.New(vt10x.WithSize(shellColumns, shellRows))}
	go s.read()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = f.Close()
		<-s.done
	})
	s.wait(t, "a prompt", func(screen string) bool { return strings.TrimSpace(line(screen)) == strings.TrimSpace(prompt) })
	return s
}

func (s *shell) read() {
	defer close(s.done)
	buf := make([]byte, 1<<16)
	for {
		n, err := s.pty.Read(buf)
		if n > 0 {
			s.mu.Lock()
			_, _ = s.screen.Write(buf[:n])
			s.changed = time.Now()
			s.mu.Unlock()
			s.answer(buf[:n])
		}
		if err != nil {
			return
		}
	}
}

// answer answers what shells ask a terminal when they begin.
func (s *shell) answer(asked []byte) {
	if bytes.Contains(asked, []byte("\x1b[c")) || bytes.Contains(asked, []byte("\x1b[0c")) {
		_, _ = s.pty.WriteString("\x1b[?62c")
	}
}

// text is what is on the screen, without blanks at the ends of lines.
func (s *shell) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var lines []string
	for _, line := range strings.Split(s.screen.String(), "\n") {
		lines = append(lines, strings.TrimRight(line, " "))
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// line is the command line: the last that begins with the prompt.
func line(screen string) string {
	at := strings.LastIndex(screen, strings.TrimRight(prompt, " "))
	if at < 0 {
		return ""
	}
	first, _, _ := strings.Cut(screen[at:], "\n")
	return first
}

// typed is what is typed on the command line, without blanks at its end.
func typed(screen string) string { return strings.TrimPrefix(line(screen), prompt) }

// offered is what is shown below the command line, or, in bash, above it.
func offered(screen string) string {
	at := strings.LastIndex(screen, strings.TrimRight(prompt, " "))
	if at < 0 {
		return ""
	}
	_, below, _ := strings.Cut(screen[at:], "\n")
	return screen[:at] + below
}

func (s *shell) wait(t *testing.T, what string, ok func(screen string) bool) string {
	t.Helper()
	screen, shown := s.within(patience, ok)
	if !shown {
		t.Fatalf("%s does not appear:\n%s", what, screen)
	}
	return screen
}

// within waits for so long until the screen satisfies a condition.
func (s *shell) within(patience time.Duration, ok func(screen string) bool) (screen string, shown bool) {
	for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		last := time.Now().After(deadline) // before it looks
		if screen = s.text(); ok(screen) || last {
			return screen, ok(screen)
		}
	}
}

// send types keys.
func (s *shell) send(t *testing.T, keys string) {
	t.Helper()
	if _, err := s.pty.WriteString(keys); err != nil {
		t.Fatal(err)
	}
}

// clear leaves an empty command line on an empty screen.
func (s *shell) clear(t *testing.T) {
	t.Helper()
	const again = 10 * time.Second // it may end what runs to complete the line, and not the line
	for begun := time.Now(); time.Since(begun) < patience && !s.empty(); {
		s.send(t, "\x03") // what is typed is forgotten, and a list is closed
		for sent := time.Now(); time.Since(sent) < again && !s.empty(); {
			time.Sleep(10 * time.Millisecond)
		}
	}
	s.send(t, "\x0c")
	s.wait(t, "an empty line", func(screen string) bool { return strings.TrimSpace(screen) == strings.TrimSpace(prompt) })
}

// empty reports whether nothing is on the command line.
func (s *shell) empty() bool { return strings.TrimSpace(line(s.text())) == strings.TrimSpace(prompt) }

// settle waits until the screen stands still.
func (s *shell) settle() {
	const still = 200 * time.Millisecond
	for {
		s.mu.Lock()
		since := time.Since(s.changed)
		s.mu.Unlock()
		if since > still {
			return
		}
		time.Sleep(still - since)
	}
}

// tab types a line on a clear screen, presses TAB and returns the screen when it satisfies a condition. The
// program offers nothing where it takes more than a second and a half, as it may on a busy machine; then it
// is asked again, as somebody would who has to wait.
func (s *shell) tab(t *testing.T, line, what string, ok func(screen string) bool) string {
	t.Helper()
	const again = 15 * time.Second
	for try := 1; ; try++ {
		s.clear(t)
		s.send(t, line)
		s.wait(t, fmt.Sprintf("%q on the line", line), func(screen string) bool { return strings.Contains(typed(screen), strings.TrimRight(line, " ")) })
		s.send(t, "\t")
		if try == 4 {
			return s.wait(t, what+" after TAB behind "+line, ok)
		}
		if screen, shown := s.within(again, ok); shown {
			return screen
		}
		t.Logf("%s: not %s after TAB, the first %d times", line, what, try)
	}
}
