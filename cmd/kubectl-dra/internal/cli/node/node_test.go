package node

import (
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/sources"
)

// TestPatience: a kubelet is waited for as long as --request-timeout says, and otherwise for a few seconds;
// "0" is no limit for a server.
func TestPatience(t *testing.T) {
	for flag, want := range map[string]time.Duration{"": kubeletPatience, "0": kubeletPatience, "1s": time.Second, "2": 2 * time.Second, "1m": time.Minute} {
		connection := sources.NewConnection(&console.Streams{})
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		connection.AddFlags(flags)
		if err := flags.Set("request-timeout", flag); err != nil {
			t.Fatal(err)
		}
		o := &nodeOptions{Options: sources.Options{Reader: sources.NewReader(&console.Streams{}, connection, nil, time.Now)}}
		if got := o.patience(); got != want {
			t.Errorf("--request-timeout=%s: %s, want %s", flag, got, want)
		}
	}
}
