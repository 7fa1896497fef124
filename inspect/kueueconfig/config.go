// Package kueueconfig reads the configuration of Kueue (Configuration v1beta2 or v1beta1, the file of the
// flag --config of its manager) and says what in it decides about admission. What is not known here is named,
// so that nobody takes what follows from the rest for certain.
package kueueconfig

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-dra/kubectl-dra/inspect/quantity"
)

// Group is the API group of configurations.
const Group = "config.kueue.x-k8s.io"

// Config is a configuration as Kueue runs with it. It is never changed. A nil Config is one that nobody
// knows: Kueue's defaults are assumed.
type Config struct {
	// Text is the configuration as it was given, in YAML or JSON.
	Text string
	// Origin says where it was found, as "ConfigMap kueue-system/kueue-manager-config". It is "" if the user
	// gave it.
	Origin string
	// Version is the release of Kueue that runs with it, as "0.19.1", or "" if that is not known.
	Version string
	// Flags are the gates of the flag --feature-gates, which win.
	Flags string

	settings   Settings
	gates      map[string]bool
	unknown    []string
	unreadable string
}

// Settings are the fields of a configuration that decide about admission. Each means what it means in Kueue's
// Configuration v1beta2, and is as it was given, without defaults.
type Settings struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Namespace is where Kueue runs.
	Namespace                    string                `json:"namespace,omitempty"`
	ManageJobsWithoutQueueName   bool                  `json:"manageJobsWithoutQueueName,omitempty"`
	ManagedJobsNamespaceSelector *metav1.LabelSelector `json:"managedJobsNamespaceSelector,omitempty"`
	WaitForPodsReady             *WaitForPodsReady     `json:"waitForPodsReady,omitempty"`
	Integrations                 *Integrations         `json:"integrations,omitempty"`
	FairSharing                  *FairSharing          `json:"fairSharing,omitempty"`
	AdmissionFairSharing         *AdmissionFairSharing `json:"admissionFairSharing,omitempty"`
	Resources                    *Resources            `json:"resources,omitempty"`
	FeatureGates                 map[string]bool       `json:"featureGates,omitempty"`
}

// WaitForPodsReady makes Kueue wait for the pods of what it admitted.
type WaitForPodsReady struct {
	// Enable is of v1beta1, which has to turn it on.
	Enable            *bool              `json:"enable,omitempty"`
	Timeout           string             `json:"timeout,omitempty"`
	BlockAdmission    *bool              `json:"blockAdmission,omitempty"`
	RequeuingStrategy *RequeuingStrategy `json:"requeuingStrategy,omitempty"`
	RecoveryTimeout   string             `json:"recoveryTimeout,omitempty"`
}

// RequeuingStrategy says when what was evicted is tried again, and where in the queue it stands then.
type RequeuingStrategy struct {
	Timestamp          string `json:"timestamp,omitempty"`
	BackoffLimitCount  *int32 `json:"backoffLimitCount,omitempty"`
	BackoffBaseSeconds *int32 `json:"backoffBaseSeconds,omitempty"`
	BackoffMaxSeconds  *int32 `json:"backoffMaxSeconds,omitempty"`
}

// Integrations are the kinds of jobs that Kueue manages.
type Integrations struct {
	Frameworks         []string        `json:"frameworks,omitempty"`
	ExternalFrameworks []string        `json:"externalFrameworks,omitempty"`
	LabelKeysToCopy    []string        `json:"labelKeysToCopy,omitempty"`
	PodOptions         json.RawMessage `json:"podOptions,omitempty"`
}

// FairSharing orders workloads of a cohort by the share that their queues have.
type FairSharing struct {
	// Enable is of v1beta1, which has to turn it on.
	Enable               *bool    `json:"enable,omitempty"`
	PreemptionStrategies []string `json:"preemptionStrategies,omitempty"`
}

// AdmissionFairSharing orders workloads of a queue by what their LocalQueues have used.
type AdmissionFairSharing struct {
	UsageHalfLifeTime     string                          `json:"usageHalfLifeTime,omitempty"`
	UsageSamplingInterval string                          `json:"usageSamplingInterval,omitempty"`
	ResourceWeights       map[corev1.ResourceName]float64 `json:"resourceWeights,omitempty"`
}

// Resources say what counts for how much.
type Resources struct {
	QuotaCheckStrategy      string               `json:"quotaCheckStrategy,omitempty"`
	ExcludeResourcePrefixes []string             `json:"excludeResourcePrefixes,omitempty"`
	Transformations         []Transformation     `json:"transformations,omitempty"`
	DeviceClassMappings     []DeviceClassMapping `json:"deviceClassMappings,omitempty"`
}

// Transformation makes other resources of one.
type Transformation struct {
	Input      corev1.ResourceName `json:"input,omitempty"`
	Strategy   string              `json:"strategy,omitempty"`
	MultiplyBy corev1.ResourceName `json:"multiplyBy,omitempty"`
	Outputs    corev1.ResourceList `json:"outputs,omitempty"`
}

// DeviceClassMapping names the resource that devices of some classes count as.
type DeviceClassMapping struct {
	Name             corev1.ResourceName   `json:"name,omitempty"`
	DeviceClassNames []corev1.ResourceName `json:"deviceClassNames,omitempty"`
	Sources          []DeviceSource        `json:"sources,omitempty"`
}

// DeviceSource makes devices count by a counter or a capacity instead of one each.
type DeviceSource struct {
	Counter  *SourceOf `json:"counter,omitempty"`
	Capacity *SourceOf `json:"capacity,omitempty"`
}

// SourceOf is the counter or capacity of a name, of the devices of a driver that a selector matches.
type SourceOf struct {
	Name           string                    `json:"name,omitempty"`
	Driver         string                    `json:"driver,omitempty"`
	DeviceSelector resourcev1.DeviceSelector `json:"deviceSelector"`
}

// besides are fields of a configuration that decide nothing about admission in this cluster.
var besides = []string{
	"webhook", "leaderElection", "metrics", "health", "pprofBindAddress", "controller", "tls", "internalCertManagement", "clientConnection",
	"multiKueue", "objectRetentionPolicies", "visibilityServer", "queueVisibility",
}

// ErrVersion is that of a configuration at a version that is not known here.
var ErrVersion = errors.New("unknown version")

// Read reads a configuration and the value of the flag --feature-gates, which may be empty. A field or value
// that is not known is no error; see Unknown.
func Read(text []byte, flags string) (*Config, error) {
	raw, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		return nil, fmt.Errorf("reading a configuration of Kueue: %w", err)
	}
	if safe := quantity.Replace(raw); safe != nil {
		raw = safe
	}
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(raw, &fields); err != nil {
		return nil, fmt.Errorf("reading a configuration of Kueue: %w", err)
	}
	for _, name := range besides {
		delete(fields, name)
	}
	if raw, err = json.Marshal(fields); err != nil {
		return nil, fmt.Errorf("reading a configuration of Kueue: %w", err)
	}
	c := &Config{Text: string(bytes.Clone(text)), Flags: flags}
	complaints, err := kjson.UnmarshalStrict(raw, &c.settings)
	if err != nil {
		return nil, fmt.Errorf("reading a configuration of Kueue: %w", err)
	}
	if s := &c.settings; s.Kind != "Configuration" || s.APIVersion != Group+"/v1beta2" && s.APIVersion != Group+"/v1beta1" {
		err := fmt.Errorf("couldn't decode as Configuration of %s/v1beta2 or v1beta1, got %q, kind %q", Group, s.APIVersion, s.Kind)
		if s.Kind == "Configuration" && strings.HasPrefix(s.APIVersion, Group+"/") {
			err = fmt.Errorf("%w: %w", ErrVersion, err)
		}
		return nil, err
	}
	for _, complaint := range complaints {
		c.unknown = append(c.unknown, complaint.Error())
	}
	c.gates = maps.Clone(c.settings.FeatureGates)
	if c.gates == nil {
		c.gates = map[string]bool{}
	}
	c.readFlags()
	c.checkValues()
	return c, nil
}

// readFlags applies the flag --feature-gates.
func (c *Config) readFlags() {
	for gate := range strings.SplitSeq(c.Flags, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(gate), "=")
		on, err := strconv.ParseBool(strings.TrimSpace(value))
		switch {
		case name == "":
		case err != nil:
			c.unknown = append(c.unknown, fmt.Sprintf("--feature-gates: %q", gate))
		default:
			c.gates[name] = on
		}
	}
}

// checkValues turns what v1beta1 has to turn on off where it does not, and names values that are not known.
func (c *Config) checkValues() {
	s := &c.settings
	if old := s.APIVersion == Group+"/v1beta1"; old {
		if w := s.WaitForPodsReady; w != nil && (w.Enable == nil || !*w.Enable) {
			s.WaitForPodsReady = nil
		}
		if f := s.FairSharing; f != nil && (f.Enable == nil || !*f.Enable) {
			s.FairSharing = nil
		}
	}
	known := func(field, value string, values ...string) {
		if value != "" && !slices.Contains(values, value) {
			c.unknown = append(c.unknown, fmt.Sprintf("unknown value %q of %q", value, field))
		}
	}
	if w := s.WaitForPodsReady; w != nil && w.RequeuingStrategy != nil {
		known("waitForPodsReady.requeuingStrategy.timestamp", w.RequeuingStrategy.Timestamp, "Creation", "Eviction")
	}
	if f := s.FairSharing; f != nil {
		for _, strategy := range f.PreemptionStrategies {
			known("fairSharing.preemptionStrategies", strategy, "LessThanOrEqualToFinalShare", "LessThanInitialShare")
		}
	}
	if r := s.Resources; r != nil {
		known("resources.quotaCheckStrategy", r.QuotaCheckStrategy, "BlockUndeclared", "IgnoreUndeclared")
		for i := range r.Transformations {
			known("resources.transformations.strategy", r.Transformations[i].Strategy, "Retain", "Replace")
		}
	}
}

// Unreadable is the configuration of a Kueue that has one that could not be read, which says why.
func Unreadable(why string) *Config { return &Config{unreadable: why} }

// Unreadable says why the configuration could not be read. It is "" for one that could.
func (c *Config) Unreadable() string {
	if c == nil {
		return ""
	}
	return c.unreadable
}

// Unknown names what is in the configuration and not known here: fields and values, each as a complaint.
func (c *Config) Unknown() []string {
	if c == nil {
		return nil
	}
	return c.unknown
}

// Settings are those of the configuration, or none if it is not known. They must not be changed.
func (c *Config) Settings() *Settings {
	if c == nil {
		return &Settings{}
	}
	return &c.settings
}

// Gates are the feature gates that were set, in the configuration or by flag. It must not be changed.
func (c *Config) Gates() map[string]bool {
	if c == nil {
		return nil
	}
	return c.gates
}

// From is the same configuration, found somewhere, of a release of Kueue.
func (c *Config) From(origin, version string) *Config {
	out := *c
	out.Origin, out.Version = origin, version
	return &out
}

// Same reports whether two configurations say the same.
func (c *Config) Same(other *Config) bool {
	return c == other || c != nil && other != nil && c.Text == other.Text && c.Origin == other.Origin && c.Version == other.Version &&
		c.Flags == other.Flags && c.unreadable == other.unreadable
}
