package console

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// shown are the lines that a terminal showed one after the other, without those that were the same.
func shown(b *bytes.Buffer) []string { return strings.Split(b.String(), "\r\x1b[K")[1:] }

func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun = time.Now()
		var out bytes.Buffer
		p := &Progress{w: &out}
		p.start(t.Context())
		p.Report("placing pods", 0, 10)
		for range 9 {
			time.Sleep(410 * time.Millisecond)
			p.Report("placing pods", p.taken+1, 10)
		}
		p.Report("placing pods", 3, 10) // somebody was slow to say so
		p.Show("reading \x1b[7m")
		time.Sleep(progressPause * 3 / 2)
		p.Stop()
		p.Show("too late")
		time.Sleep(time.Second)
		want := []string{
			"placing pods: 1 of 10", "placing pods: 2 of 10", "placing pods: 3 of 10", "placing pods: 4 of 10",
			"placing pods: 4 of 10, the rest in about 3s", "placing pods: 5 of 10, the rest in about 2s",
			"placing pods: 6 of 10, the rest in about 2s", "placing pods: 7 of 10, the rest in about 1s", "placing pods: 8 of 10, the rest in about 1s",
			`reading \x1b[7m`, "",
		}
		if got := shown(&out); strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("shown:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}

// TestShortWork: nothing flickers.
func TestShortWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun = time.Now()
		var out bytes.Buffer
		p := &Progress{w: &out}
		p.start(t.Context())
		p.Show("reading")
		time.Sleep(progressDelay - time.Millisecond)
		p.Stop()
		if out.Len() > 0 {
			t.Errorf("shown: %q", out.String())
		}
	})
}

// TestProgressEndsWithTheContext: what is said of an interrupt begins on a line of its own.
func TestProgressEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun = time.Now()
		ctx, cancel := context.WithCancel(t.Context())
		var out bytes.Buffer
		p := &Progress{w: &out}
		p.start(ctx)
		p.Show("reading")
		time.Sleep(progressDelay + time.Millisecond)
		cancel()
		synctest.Wait()
		if got := shown(&out); len(got) != 2 || got[1] != "" {
			t.Errorf("shown: %q", got)
		}
	})
}

// TestSoFar: an interrupted command prints nothing but what says itself that it is not whole.
func TestSoFar(t *testing.T) {
	for name, partial := range map[string]bool{"whole": false, "partial": true} {
		var out bytes.Buffer
		s := &Streams{IOStreams: genericiooptions.IOStreams{Out: &out}}
		ctx, cancel := context.WithCancel(t.Context())
		cmd := s.OnlyReading(&cobra.Command{RunE: func(*cobra.Command, []string) error {
			cancel()
			answer := func() error { _, _ = io.WriteString(s.Out, "answer"); return ExitWith(ExitNo) }
			if partial {
				return s.SoFar(answer)
			}
			return answer()
		}})
		cmd.SetContext(ctx)
		if err := cmd.RunE(cmd, nil); !errors.Is(err, ErrInterrupted) || (out.String() == "answer") != partial {
			t.Errorf("%s: %v and %q", name, err, out.String())
		}
	}
}
