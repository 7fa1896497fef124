package console

import (
	"bytes"
	"io"
	"testing"
)

// Characters may be cut anywhere between two calls, and what is not one of ours stays.
func TestSignsInASCII(t *testing.T) {
	const text, want = "✗ → 显卡 \xff …\x1b[0m ▅─│", "x > 显卡 \xff ~\x1b[0m =-|"
	for cut := range len(text) {
		var out bytes.Buffer
		s := &Streams{ascii: true}
		w := s.forLocale(&out)
		for _, part := range []string{text[:cut], text[cut:]} {
			if n, err := io.WriteString(w, part); n != len(part) || err != nil {
				t.Fatalf("wrote %d of %d: %v", n, len(part), err)
			}
		}
		if out.String() != want {
			t.Errorf("cut at %d: %q, want %q", cut, out.String(), want)
		}
	}
}

func TestReadEnvironment(t *testing.T) {
	for _, tt := range []struct {
		env   map[string]string
		ascii bool
		pipe  int
	}{
		{map[string]string{}, false, 0},
		{map[string]string{"LANG": "C", "COLUMNS": "100"}, true, 100},
		{map[string]string{"LANG": "C", "LC_CTYPE": "C.UTF-8", "COLUMNS": "-3"}, false, 0},
		{map[string]string{"LANG": "en_US.utf8", "LC_ALL": "POSIX", "COLUMNS": "wide"}, true, 0},
		{map[string]string{"LANG": "de_DE.ISO-8859-1"}, true, 0},
	} {
		s := &Streams{}
		s.ReadEnvironment(func(name string) string { return tt.env[name] })
		if s.ascii != tt.ascii || s.pipe != tt.pipe {
			t.Errorf("%v: ascii %t, pipe %d, want %t and %d", tt.env, s.ascii, s.pipe, tt.ascii, tt.pipe)
		}
	}
}
