package cli

import (
	"testing"
	"time"

	"github.com/spf13/pflag"
)

// TestPatience: a kubelet is waited for as long as --request-timeout says, and otherwise for a few seconds; "0" is no limit for a server.
func TestPatience(t *testing.T) {
	for flag, want := range map[string]time.Duration{"": kubeletPatience, "0": kubeletPatience, "1s": time.Second, "2": 2 * time.Second, "1m": time.Minute} {
		connection := newConnection(&streams{})
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		connection.addFlags(flags)
		if err := flags.Set("request-timeout", flag); err != nil {
			t.Fatal(err)
		}
		o := &nodeOptions{shared: shared{reader: newReader(&streams{}, connection, nil, time.Now)}}
		if got := o.patience(); got != want {
			t.Errorf("--request-timeout=%s: %s, want %s", flag, got, want)
		}
	}
}
