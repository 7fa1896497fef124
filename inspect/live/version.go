package live

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	apiversion "k8s.io/apimachinery/pkg/version"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/live/connection"
	"github.com/kubectl-dra/kubectl-dra/inspect/live/wire"
)

// serverVersion is what the server says about its version.
type serverVersion struct {
	git   string // "" when it could not be read
	minor int    // of 1.minor, as emulated; 0 when it could not be read
	types int    // of the program itself, likewise
	why   string // why it could not be read
	// compatible is the oldest minor release that the control plane stays compatible with, one less
	// than its own unless --min-compatibility-version says otherwise; 0 when the server does not say.
	compatible int
}

// release is the version by whose rules answers are given. A server that does not say its own is taken for
// the newest minor release, of which the patch is not known.
func (v serverVersion) release() string {
	return cmp.Or(v.git, fmt.Sprintf("v1.%d", inspect.NewestMinor))
}

// version reads /version. The error is that of a server that does not answer; that the version cannot
// be read is no error.
func (r *reader) version(ctx context.Context) (serverVersion, error) {
	bounded := connection.With(ctx, connection.Bounds{Bytes: limits.version})
	data, err := r.get("/version").SetHeader("Accept", runtime.ContentTypeJSON).DoRaw(bounded)
	if ctx.Err() != nil {
		return serverVersion{}, ctx.Err() //nolint:wrapcheck // of the caller
	}
	if err != nil {
		return serverVersion{why: reason(err)}, r.fatal(err)
	}
	v := parseVersion(data)
	r.age.Workloads.Store(v.types == 35)
	r.age.Old.Store(v.types > 0 && v.types <= inspect.TypesMinor)
	return v, nil
}

func parseVersion(data []byte) serverVersion {
	var info apiversion.Info
	if err := json.Unmarshal(data, &info); err != nil || info.GitVersion == "" {
		return serverVersion{why: "not a version"}
	}
	// A server that emulates an older release behaves like that one.
	text := info.Minor
	if info.EmulationMinor != "" {
		text = info.EmulationMinor
	}
	v := serverVersion{git: wire.Clean(info.GitVersion)}
	minor, err := strconv.Atoi(strings.TrimRight(text, "+")) // some distributions say "36+"
	if err != nil || minor < 0 || minor > 1000 || info.Major != "1" {
		v.why = fmt.Sprintf("%q is not a version 1.x", wire.Clean(info.Major+"."+text))
		return v
	}
	v.minor, v.types = minor, minor
	if info.EmulationMinor != "" {
		v.types, _ = strconv.Atoi(strings.TrimRight(info.Minor, "+")) // 0 is not known
	}
	if compatible, err := strconv.Atoi(info.MinCompatibilityMinor); err == nil && info.MinCompatibilityMajor == "1" {
		v.compatible = compatible
	}
	return v
}

// fractionalCompatible is the release that a control plane must not be older than for
// DRAFractionalCapacityRange to be on by default in 1.37: replicas of 1.36 would not know fractional ranges.
// Of the gates that matter to devices it is the only one with such a condition (pkg/features of 1.37).
const fractionalCompatible = 37

// reason is an error in a few words, to stand in parentheses.
func reason(err error) string {
	switch {
	case apierrors.IsForbidden(err):
		return "forbidden"
	case apierrors.IsNotFound(err):
		return "not served"
	case isTimeout(err):
		return "no answer in time"
	}
	return wire.Clean(cause(err))
}

// features combines what the server says about its gates with the defaults of its version, and, if it says
// nothing, with what its objects use.
func features(v serverVersion, m metricGates, objects *inspect.Objects) inspect.Features {
	minor := v.minor
	if minor == 0 {
		minor = inspect.NewestMinor
	}
	f := inspect.DefaultFeatures(minor)
	if len(m.gates) > 0 {
		// A gate that the server does not list is either unknown to it or so old that it was removed:
		// the defaults of its version are right in both cases.
		f = f.With(m.gates)
		f.Source = "feature gates of the API server (kubernetes_feature_enabled)"
		if v.minor == 0 {
			f.Source += fmt.Sprintf(", taken for Kubernetes 1.%d (version not readable: %s)", minor, v.why)
		}
		return f
	}
	if v.minor == fractionalCompatible && v.compatible != 0 {
		f = f.With(map[inspect.Gate]bool{inspect.GateFractionalCapacityRange: v.compatible >= fractionalCompatible})
	}
	why := "metrics not readable: " + m.why
	if v.minor == 0 {
		why = "version not readable: " + v.why + "; " + why
	}
	f.Source += " (" + why + ")"
	return f.WithUsed(*objects)
}
