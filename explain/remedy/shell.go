package remedy

import (
	"regexp"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// plain matches what no shell takes for anything else than itself.
var plain = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`)

// Quote writes a word as a POSIX shell reads it back: as it is, or in single quotes. ok is false if it should
// not be put into a command: it is empty, or has characters that could steer a terminal or that a reader does
// not see.
func Quote(word string) (quoted string, ok bool) {
	switch {
	case word == "" || inspect.Sanitize(word) != word:
		return "", false
	case plain.MatchString(word):
		return word, true
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'", true
}

// writer writes commands. It remembers whether it came across a word that it should not write.
type writer struct {
	flags   []string // of kubectl, that say which cluster it is
	refused bool
}

// name is the name of an object, which comes from a cluster: it must not look like a flag.
func (w *writer) name(s string) string {
	if strings.HasPrefix(s, "-") {
		w.refused = true
	}
	return s
}

// command writes the words of a command.
func (w *writer) command(words ...string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		var ok bool
		if quoted[i], ok = Quote(word); !ok {
			w.refused = true
		}
	}
	return strings.Join(quoted, " ")
}

// kubectl writes a command of kubectl, for the cluster that was asked about.
func (w *writer) kubectl(words ...string) string {
	return w.command(append(append([]string{"kubectl"}, words...), w.flags...)...)
}

// of writes the kind and the name of an object, as kubectl takes them.
func (w *writer) of(kind, name string) string { return strings.ToLower(kind) + "/" + w.name(name) }
