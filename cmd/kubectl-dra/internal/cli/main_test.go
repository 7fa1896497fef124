package cli

import (
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/clitest"
)

func TestSignalsEndACommandInGoodOrder(t *testing.T) {
	if signal.Ignored(syscall.SIGHUP) {
		t.Skip("started with nohup")
	}
	for sent, want := range map[os.Signal]int{os.Interrupt: 130, syscall.SIGTERM: 143, syscall.SIGHUP: 129} {
		t.Run(sent.String(), func(t *testing.T) {
			self, err := os.FindProcess(os.Getpid())
			if err != nil {
				t.Fatal(err)
			}
			var once sync.Once
			out := &clitest.StopAfter{Lines: 1, Stop: func() {
				once.Do(func() {
					if err := self.Signal(sent); err != nil {
						t.Error(err)
					}
				})
			}}
			streams := genericiooptions.IOStreams{In: strings.NewReader(""), Out: out, ErrOut: io.Discard}
			if code := Main([]string{"get", "devices", "--watch", "--demo"}, streams, time.Now); code != want {
				t.Errorf("exit code %d, want %d", code, want)
			}
		})
	}
}
