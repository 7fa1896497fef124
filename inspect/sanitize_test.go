package inspect_test

import (
	"testing"
	"unicode/utf8"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

func TestSanitize(t *testing.T) {
	tests := map[string]struct{ in, want string }{
		"plain name":          {"train-0", "train-0"},
		"other scripts":       {"größe 训练 🙂", "größe 训练 🙂"},
		"terminal title":      {"a\x1b]0;owned\x07b", `a\x1b]0;owned\ab`},
		"C1 control sequence": {"a\u009b31mb", `a\u009b31mb`},
		"line break":          {"a\nb\r\nc\td", `a\nb\r\nc\td`},
		"delete":              {"a\x7fb", `a\x7fb`},
		"direction override":  {"user\u202egnp.exe", `user\u202egnp.exe`},
		"isolate":             {"a\u2066b\u2069", `a\u2066b\u2069`},
		"zero width space":    {"a\u200bb", `a\u200bb`},
		"invalid UTF-8":       {"a\xffb\xc3", `a\xffb\xc3`},
		"replacement itself":  {"a\ufffdb", "a\ufffdb"},
		"tag character":       {"a\U000e0041b", `a\U000e0041b`},
		"empty":               {"", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := inspect.Sanitize(test.in); got != test.want {
				t.Errorf("Sanitize(%q) = %q, want %q", test.in, got, test.want)
			}
		})
	}
}

func FuzzSanitize(f *testing.F) {
	f.Add("a\x1b[31m\xff\u202e\n")
	f.Fuzz(func(t *testing.T, s string) {
		out := inspect.Sanitize(s)
		if !utf8.ValidString(out) {
			t.Fatalf("Sanitize(%q) = %q is not UTF-8", s, out)
		}
		for _, r := range out {
			if inspect.Unsafe(r) {
				t.Fatalf("Sanitize(%q) = %q still holds %U", s, out, r)
			}
		}
		if again := inspect.Sanitize(out); again != out {
			t.Fatalf("Sanitize(%q) = %q, and again %q", s, out, again)
		}
	})
}
