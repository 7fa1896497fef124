package console

import (
	"bytes"
	"io"
	"os"
	"strings"
	"sync"
	"unicode/utf8"
)

// inASCII replaces the signs that this program draws by what stands for them where the locale has only ASCII,
// most of them as wide. Text of the cluster stays as it is.
var inASCII = sync.OnceValue(func() *strings.Replacer {
	signs := []string{
		"✗", "x", "✓", "+", "→", ">", "←", "<", "↑", "^", "↓", "v", "…", "~", "·", ".", "×", "x", "–", "-", "−", "-",
		"≥", ">=", "≤", "<=", "∞", "inf", "⏎", "<", "⇧", "^", "›", ">", "▸", ">", "▾", "v", "▴", "^", "●", "*",
		"■", "#", "▨", "/", "◧", "/", "─", "-", "│", "|", "▁", "_", "▂", "_", "▃", "-", "▄", "-", "▅", "=", "▆", "=",
		"▒", "%", "░", ":", "⠀", " ",
	}
	for _, others := range []struct {
		first, last rune
		sign        string
	}{{'─', '╿', "+"}, {'▀', '▟', "#"}, {'■', '◿', "o"}, {'⠀', '⣿', ":"}} {
		for r := others.first; r <= others.last; r++ {
			signs = append(signs, string(r), others.sign) // those above come first
		}
	}
	return strings.NewReplacer(signs...)
})

// Text is where text for people goes: stdout, with signs in ASCII where the locale has nothing else. What
// programs read, such as JSON, goes to Out itself.
func (s *Streams) Text() io.Writer { return s.forLocale(s.Out) }

// forLocale returns a writer that writes signs as the locale can show them.
func (s *Streams) forLocale(w io.Writer) io.Writer {
	if !s.ascii {
		return w
	}
	out := &asciiWriter{Writer: w}
	if file, ok := w.(*os.File); ok {
		return &asciiFile{File: file, out: out}
	}
	return out
}

// onlyASCII reports whether a locale is set that is not of UTF-8. One that is not set says nothing: few
// containers set it.
func onlyASCII(getenv func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if locale := strings.ToLower(getenv(name)); locale != "" {
			return !strings.Contains(locale, "utf-8") && !strings.Contains(locale, "utf8")
		}
	}
	return false
}

// asciiWriter writes signs in ASCII.
type asciiWriter struct {
	io.Writer
	rest []byte // the beginning of a character whose end has not been written yet
}

// Write writes whole characters, and keeps the beginning of one for the next call.
func (w *asciiWriter) Write(p []byte) (int, error) {
	text, rest := WholeCharacters(append(w.rest, p...))
	w.rest = bytes.Clone(rest)
	if _, err := io.WriteString(w.Writer, inASCII().Replace(string(text))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// WholeCharacters splits off the beginning of a character whose other bytes are still to come.
func WholeCharacters(data []byte) (whole, rest []byte) {
	for i := len(data) - 1; i >= 0 && i >= len(data)-utf8.UTFMax; i-- {
		if utf8.RuneStart(data[i]) {
			if !utf8.FullRune(data[i:]) {
				return data[:i], data[i:]
			}
			break
		}
	}
	return data, nil
}

// asciiFile is a terminal to which signs are written in ASCII.
type asciiFile struct {
	*os.File
	out *asciiWriter
}

func (f *asciiFile) Write(p []byte) (int, error) { return f.out.Write(p) }
