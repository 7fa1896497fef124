package sources

import (
	"bytes"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/rest"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
)

const (
	// maxPluginLines is how many lines of a credential plugin the terminal UI shows, the last ones.
	maxPluginLines = 6
	// maxPluginLine is how many bytes of one.
	maxPluginLine = 500
	// pluginDrain is how long the end of a command waits for what a plugin said last.
	pluginDrain = 100 * time.Millisecond
)

// pluginOutput is where credential plugins write what they have to say. client-go hands them os.Stderr; here
// that is a pipe, and what comes out of it is made safe before it is shown: at once, for it may be a
// question.
type pluginOutput struct {
	mu      sync.Mutex
	to      io.Writer // if it is nil, lines are kept for the terminal UI
	rest    []byte    // the beginning of a character
	lines   []string
	partial string
	stderr  *os.File // the real one, once it was replaced
	pipe    *os.File
	done    chan struct{}
}

// replaceStderr replaces os.Stderr, once, before a client is made. Without a pipe everything stays as it is.
func (p *pluginOutput) replaceStderr(to io.Writer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pipe != nil {
		return
	}
	out, in, err := os.Pipe()
	if err != nil {
		return
	}
	p.to, p.stderr, p.pipe, p.done = to, os.Stderr, in, make(chan struct{})
	os.Stderr = in
	go func() {
		defer close(p.done)
		_, _ = io.Copy(p, out) // until the last plugin has ended
		_ = out.Close()
	}()
}

// Release gives os.Stderr back when a command ends.
func (p *pluginOutput) Release() {
	p.mu.Lock()
	pipe, done := p.pipe, p.done
	if pipe != nil {
		os.Stderr, p.pipe = p.stderr, nil
	}
	p.mu.Unlock()
	if pipe == nil {
		return
	}
	_ = pipe.Close() // plugins have their own
	select {
	case <-done:
	case <-time.After(pluginDrain):
	}
}

// KeepForScreen has what comes from now on kept for the terminal UI.
func (p *pluginOutput) KeepForScreen() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.to = nil
}

// Write takes in what a plugin writes.
func (p *pluginOutput) Write(data []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	text, rest := console.WholeCharacters(append(p.rest, data...))
	p.rest = bytes.Clone(rest)
	safe := console.SafeLines(string(text))
	if p.to != nil {
		_, _ = io.WriteString(p.to, safe) // nobody else could be told
		return len(data), nil
	}
	parts := strings.Split(p.partial+safe, "\n")
	p.partial = parts[len(parts)-1]
	p.partial = p.partial[:min(len(p.partial), maxPluginLine)]
	for _, line := range parts[:len(parts)-1] {
		p.lines = append(p.lines, line[:min(len(line), maxPluginLine)])
	}
	p.lines = p.lines[max(0, len(p.lines)-maxPluginLines):]
	return len(data), nil
}

// LastLines are the last lines that were kept.
func (p *pluginOutput) LastLines() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	lines := append([]string(nil), p.lines...)
	if p.partial != "" {
		lines = append(lines, p.partial)
	}
	return lines
}

// NeedsKeyboard reports whether a credential plugin cannot do without the keyboard.
func NeedsKeyboard(config *rest.Config) bool {
	return config.ExecProvider != nil && config.ExecProvider.InteractiveMode == clientcmdapi.AlwaysExecInteractiveMode
}

// withoutKeyboard keeps a credential plugin from the keyboard while the terminal UI reads it, if it can do
// without.
func withoutKeyboard(config *rest.Config) {
	if config.ExecProvider == nil || NeedsKeyboard(config) {
		return
	}
	config.ExecProvider = config.ExecProvider.DeepCopy()
	config.ExecProvider.StdinUnavailable = true
	config.ExecProvider.StdinUnavailableMessage = "it is used by the terminal UI"
}
