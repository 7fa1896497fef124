package archive

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/kueueconfig"
)

// KueueConfig is the configuration of Kueue in an archive.
type KueueConfig struct {
	// Text is in YAML or JSON, Flags the value of --feature-gates.
	Text  string `json:"config,omitempty"`
	Flags string `json:"featureGates,omitempty"`
	// Origin says where it was found, if nobody gave it, and Version is the release of Kueue, if it is known.
	Origin  string `json:"from,omitempty"`
	Version string `json:"version,omitempty"`
	// Unreadable says why there is none, if Kueue has one that could not be read.
	Unreadable string `json:"unreadable,omitempty"`
}

// kueueOf is how an archive has a configuration, which may be nil.
func kueueOf(c *kueueconfig.Config) *KueueConfig {
	if c == nil {
		return nil
	}
	return &KueueConfig{Text: c.Text, Flags: c.Flags, Origin: c.Origin, Version: c.Version, Unreadable: c.Unreadable()}
}

// read is the other way round. A configuration at a version that is not known stays in the archive.
func (k *KueueConfig) read() (*kueueconfig.Config, error) {
	switch {
	case k == nil:
		return nil, nil
	case k.Unreadable != "" && k.Text == "":
		return kueueconfig.Unreadable(k.Unreadable), nil
	}
	c, err := kueueconfig.Read([]byte(k.Text), k.Flags)
	switch {
	case errors.Is(err, kueueconfig.ErrVersion):
		c = kueueconfig.Unreadable("the configuration of Kueue is newer than this program: " + inspect.SanitizeShort(err.Error(), maxWhy))
		c.Text, c.Flags = k.Text, k.Flags
	case err != nil:
		return nil, err //nolint:wrapcheck // it says what it is of
	}
	return c.From(k.Origin, k.Version), nil
}

// gateName is how feature gates are called, which tells nothing of a cluster.
var gateName = regexp.MustCompile(`^[A-Z][A-Za-z0-9]{2,80}$`)

// kueue replaces the names in a configuration of Kueue as in the objects. What decides about no workload is
// dropped, and what is not known becomes a field that is not known.
func (r *renamer) kueue(k *KueueConfig) (*KueueConfig, error) {
	c, err := k.read()
	if c == nil || err != nil {
		return k, err
	}
	if c.Unreadable() != "" {
		return &KueueConfig{Unreadable: "Kueue has a configuration that could not be read"}, nil
	}
	settings := *c.Settings()
	settings.FeatureGates = nil
	if w := settings.WaitForPodsReady; w != nil {
		w.Timeout, w.RecoveryTimeout = "", ""
	}
	if a := settings.AdmissionFairSharing; a != nil {
		a.UsageHalfLifeTime, a.UsageSamplingInterval = "", ""
	}
	if i := settings.Integrations; i != nil {
		i.LabelKeysToCopy, i.PodOptions = nil, nil
	}
	if of := settings.Resources; of != nil {
		of.ExcludeResourcePrefixes = r.withPrefix(of.ExcludeResourcePrefixes)
	}
	r.walk(reflect.ValueOf(&settings).Elem(), nil)
	if r.learning {
		return k, nil
	}
	settings.APIVersion, settings.Kind, settings.FeatureGates = c.Settings().APIVersion, c.Settings().Kind, maps.Clone(c.Gates())
	maps.DeleteFunc(settings.FeatureGates, func(gate string, _ bool) bool { return !gateName.MatchString(gate) })
	data, err := json.Marshal(settings)
	if len(c.Unknown()) > 0 {
		data = append([]byte(`{"unknown":true,`), data[1:]...)
	}
	if err != nil {
		return nil, fmt.Errorf("writing a configuration of Kueue: %w", err)
	}
	return &KueueConfig{Text: string(data), Origin: origin(k.Origin), Version: k.Version}, nil
}

// origin says as much of where a configuration was found as may be known.
func origin(of string) string {
	if of == "" {
		return ""
	}
	return "a ConfigMap"
}

// withPrefix are the resources with one of some prefixes, which are not to be told from the new names.
func (r *renamer) withPrefix(prefixes []string) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(r.known[resources])) {
		if slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) }) {
			out = append(out, name) // r.walk replaces it
		}
	}
	for _, prefix := range prefixes {
		if public(prefix) {
			out = append(out, prefix)
		}
	}
	return out
}
