package allocate

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
)

func TestTheWriterEndsAfterWhatWasBegun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		writer := &topWriter{}
		end, err := writer.begin()
		if err != nil {
			t.Fatal(err)
		}
		waited := false
		go func() { writer.wait(); waited = true }()
		synctest.Wait()
		if waited {
			t.Error("it did not wait for what is being written")
		}
		if _, err := writer.begin(); err == nil {
			t.Error("something was begun although the program ends")
		}
		end()
		synctest.Wait()
		if !waited {
			t.Error("it waits although nothing is being written")
		}
	})
}

// TestTheEndOfAWriteIsSaid: when there is no screen any more to say it on, stderr tells what was written.
func TestTheEndOfAWriteIsSaid(t *testing.T) {
	for _, ended := range []bool{false, true} {
		var out bytes.Buffer
		writer := &topWriter{access: &Access{Streams: &console.Streams{IOStreams: genericiooptions.IOStreams{ErrOut: &out}}, Grace: &console.GracePeriod{}}}
		for _, failure := range []error{nil, errors.New("allocated all the same: \x1b[2Jml/x has gpu-0")} {
			writer.ended = false
			if _, err := writer.execute(func() (string, error) { writer.ended = ended; return "allocated: ml/x", failure }); !errors.Is(err, failure) {
				t.Error(err)
			}
		}
		want := ""
		if ended {
			want = "allocated: ml/x\nallocated all the same: \\x1b[2Jml/x has gpu-0\n"
		}
		if !strings.HasPrefix(out.String(), want) || ended == (out.Len() == 0) {
			t.Errorf("ended %v: said %q", ended, out.String())
		}
	}
}
