package console

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/klog/v2"

	"github.com/kubectl-dra/kubectl-dra/explain"
)

func TestDidYouMean(t *testing.T) {
	tests := map[string]struct {
		word       string
		candidates []string
		want       string
	}{
		"the nearest only":   {"trian-0", []string{"train-0", "train-1", "other"}, `; did you mean "train-0"?`},
		"several as near":    {"train-9", []string{"train-1", "train-0", "train-0"}, `; did you mean "train-0" or "train-1"?`},
		"at most three":      {"train-9", []string{"train-1", "train-0", "train-2", "train-3"}, `; did you mean "train-0" or "train-1" or "train-2"?`},
		"nothing near":       {"zebra", []string{"train-0"}, ""},
		"short words differ": {"a", []string{"b"}, `; did you mean "b"?`},
		"nothing at all":     {"a", nil, ""},
		"case does not count": {
			"TRAIN-0", []string{"train-0"}, `; did you mean "train-0"?`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := DidYouMean(test.word, test.candidates); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestReport(t *testing.T) {
	tests := map[string]struct {
		err  error
		code int
		text string
	}{
		"no error":           {nil, 0, ""},
		"a no":               {ExitWith(ExitNo), 3, ""},
		"wrapped":            {fmt.Errorf("x: %w", ExitWith(ExitFailed)), 1, ""},
		"failure":            {errors.New("it broke"), 1, "error: it broke\n"},
		"wrong usage":        {Usagef("no such flag"), 2, "error: no such flag\n"},
		"wrapped usage":      {fmt.Errorf("x: %w", Usagef("y")), 2, "error: x: y\n"},
		"several lines":      {errors.Join(errors.New("one"), errors.New("  two"), errors.New("")), 1, "error: one; two\n"},
		"escape sequences":   {errors.New("bad \x1b[31mname\u202e"), 1, `error: bad \x1b[31mname\u202e` + "\n"},
		"interrupted":        {ErrInterrupted, 130, "error: interrupted\n"},
		"cancelled":          {fmt.Errorf("reading: %w", context.Canceled), 130, "error: reading: context canceled\n"},
		"deadline is no 130": {fmt.Errorf("reading: %w", context.DeadlineExceeded), 1, "error: reading: context deadline exceeded\n"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if code := Report(&b, test.err); code != test.code {
				t.Errorf("code %d, want %d", code, test.code)
			}
			if b.String() != test.text {
				t.Errorf("printed %q, want %q", b.String(), test.text)
			}
		})
	}
}

func TestWorst(t *testing.T) {
	tests := []struct{ a, b, want int }{
		{ExitAnswered, ExitAnswered, ExitAnswered}, {ExitAnswered, ExitNo, ExitNo}, {ExitNo, ExitFailed, ExitFailed},
		{ExitFailed, ExitNo, ExitFailed}, {ExitFailed, ExitAnswered, ExitFailed},
	}
	for _, test := range tests {
		if got := WorstExitCode(test.a, test.b); got != test.want {
			t.Errorf("worst(%d, %d) = %d, want %d", test.a, test.b, got, test.want)
		}
	}
}

func TestVerdictCode(t *testing.T) {
	want := map[explain.Verdict]int{
		explain.Allocated: 0, explain.Allocatable: 0, explain.Unsatisfiable: 3, explain.Invalid: 1, explain.Unknown: 1,
	}
	got := map[explain.Verdict]int{}
	for v := range want {
		got[v] = VerdictCode(v)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error("exit codes (-want +got):\n" + diff)
	}
}

func TestLogIsSilent(t *testing.T) {
	stderr := os.Stderr
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	os.Stderr = w // the log goes there by itself
	defer func() { os.Stderr = stderr }()
	var shown bytes.Buffer
	for _, verbosity := range []int{0, 5, 6} {
		if err := ConfigureLog(&shown, verbosity); err != nil {
			t.Fatal(err)
		}
		klog.ErrorS(nil, "an error", "verbosity", verbosity)
		klog.V(6).InfoS("a request", "verbosity", verbosity)
		klog.Flush()
	}
	if err := ConfigureLog(&shown, 0); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	leaked, err := io.ReadAll(r)
	if err != nil || len(leaked) > 0 {
		t.Errorf("on stderr: %q, %v", leaked, err)
	}
	lines := strings.Split(strings.TrimSpace(shown.String()), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], `"an error"`) || !strings.Contains(lines[1], `"a request"`) {
		t.Errorf("with -v=6: %q, want an error and a request", lines)
	}
}

// TestAnswersAfterAnInterruptAreNotPrinted: the work ended at the moment of the interrupt.
func TestAnswersAfterAnInterruptAreNotPrinted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var out bytes.Buffer
	a := &uninterruptedOutput{ctx: ctx, w: &out}
	if _, err := a.Write([]byte("before")); err != nil {
		t.Error(err)
	}
	cancel()
	if _, err := a.Write([]byte("after")); err == nil || out.String() != "before" {
		t.Errorf("%v, printed %q", err, out.String())
	}
}

func TestMaskUserinfo(t *testing.T) {
	for text, want := range map[string]string{
		"https://a:b@c/x":              "https://…@c/x",
		`parse "https://a:b@d@c:1": x`: `parse "https://…@c:1": x`,
		"https://c/x and a@b":          "https://c/x and a@b",
		"https://c:1":                  "https://c:1",
	} {
		if got := maskUserinfo(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

func TestPlainWord(t *testing.T) {
	for word, want := range map[string]bool{
		"train-0": true, "gpu.example.com/n1/gpu-0": true, "system:node:n1": true, "custom-columns=A:.a,B:.b": true, ".name": true, "arn:aws:eks:x:1:cluster/a": true,
		"": false, "-x": false, "=x": false, "a b": false, "$x": false, "a\tb": false, "ü": false, "a%": false, "~": false,
	} {
		if got := plainWord(word); got != want {
			t.Errorf("%q: %v", word, got)
		}
	}
}
