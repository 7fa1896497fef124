package console

import (
	"flag"
	"fmt"
	"io"
	"strconv"

	"k8s.io/klog/v2"
)

// logVerbosity is the -v from which on the libraries' own log is shown. At 6 they tell of requests.
const logVerbosity = 6

// ConfigureLog keeps the libraries silent, errors included, unless the user wants to see their log:
// what matters in it comes back as an error.
func ConfigureLog(w io.Writer, verbosity int) error {
	settings := map[string]string{"logtostderr": "false", "stderrthreshold": "FATAL", "v": "0"}
	klog.SetOutput(io.Discard)
	if verbosity >= logVerbosity {
		klog.SetOutput(&logWriter{w})
		settings["one_output"] = "true" // else an error is written once per level
		settings["v"] = strconv.Itoa(verbosity)
	}
	flags := flag.NewFlagSet("log", flag.ContinueOnError)
	klog.InitFlags(flags)
	for name, value := range settings {
		if err := flags.Set(name, value); err != nil {
			return fmt.Errorf("configuring the log: %w", err)
		}
	}
	return nil
}
