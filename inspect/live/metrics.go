package live

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"regexp"
	"time"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/live/connection"
)

const (
	// metricsTimeout bounds the wait for /metrics, which on a busy server is tens of megabytes. The
	// gates are worth waiting for, but there are defaults to fall back to.
	metricsTimeout = 10 * time.Second
	// longestLine is the longest line that is looked at; a line with a gate has a hundred bytes.
	longestLine = 4 << 10
)

// metricGates are the feature gates that the API server reports. It and the scheduler are configured
// alike in practice, and the scheduler's own metrics cannot be reached through the API server.
type metricGates struct {
	gates map[inspect.Gate]bool // only gates that inspect knows
	why   string                // why there are none
}

// gates reads the feature gates from /metrics. Failing is no error: when the whole server is at fault,
// the lists say so.
func (r *reader) gates(ctx context.Context) metricGates {
	patience := metricsTimeout
	if r.timeout > 0 {
		patience = min(patience, r.timeout)
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	bounded := connection.With(ctx, connection.Bounds{Bytes: limits.metrics})
	body, err := r.client.Get().AbsPath("/metrics").SetHeader("Accept", "text/plain").MaxRetries(0).Stream(bounded)
	if err != nil {
		return metricGates{why: reason(err)}
	}
	defer func() { _ = body.Close() }() // nothing was written
	gates, err := parseGates(body)
	switch {
	case err != nil:
		return metricGates{why: reason(err)}
	case len(gates) == 0:
		return metricGates{why: "they list no feature gates"}
	}
	return metricGates{gates: gates}
}

// gateFamily is the metric of component-base that says 1 for a gate that is on and 0 for one that is
// off: kubernetes_feature_enabled{name="DRADeviceTaints",stage="BETA"} 1.
var gateFamily = []byte("kubernetes_feature_enabled{")

// gateLine is a line of gateFamily. The labels may come in any order, and a time stamp may follow. Gate names
// need no escapes, so a name with one is no gate that we know.
var gateLine = regexp.MustCompile(
	`^kubernetes_feature_enabled\{(?:[^}]*,)?\s*name="([^"\\]*)"[^}]*\}\s+([01])(?:\s|$)`)

// parseGates scans metrics in the text format for the gates that inspect knows, and stops behind
// them: the lines of one family stand together. A full parse of the format would keep the whole of a
// large answer in memory to use a thousandth of it. If reading fails before the gates ended there are
// none, because half a set of gates is worse than the defaults.
func parseGates(in io.Reader) (map[inspect.Gate]bool, error) {
	gates := map[inspect.Gate]bool{}
	reader := bufio.NewReaderSize(in, longestLine)
	found := false
	for {
		line, tooLong, err := readLine(reader)
		isGate := !tooLong && bytes.HasPrefix(line, gateFamily)
		if found && !isGate && len(line) > 0 {
			return gates, nil
		}
		if isGate {
			found = true
			if m := gateLine.FindSubmatch(line); m != nil && inspect.KnownGate(inspect.Gate(m[1])) {
				gates[inspect.Gate(m[1])] = m[2][0] == '1'
			}
		}
		if errors.Is(err, io.EOF) {
			return gates, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// readLine reads a line, or skips it when it is longer than the buffer. The line is valid until the
// next call.
func readLine(in *bufio.Reader) (line []byte, tooLong bool, err error) {
	line, err = in.ReadSlice('\n')
	for errors.Is(err, bufio.ErrBufferFull) {
		tooLong = true
		line, err = in.ReadSlice('\n')
	}
	return bytes.TrimSpace(line), tooLong, err
}
