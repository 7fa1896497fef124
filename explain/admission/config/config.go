// Package config is what decides in the configuration of Kueue that a snapshot has.
package config

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/kueueconfig"
	"github.com/kubectl-dra/kubectl-dra/scheduler/kueue"
)

// Of is a configuration as package kueue has it. It is assumed if it is nil or could not be read.
func Of(c *kueueconfig.Config) kueue.Config {
	out := kueue.DefaultConfig()
	if c == nil || c.Unreadable() != "" {
		return out
	}
	s := c.Settings()
	out.Assumed, out.Gates, out.ManageJobsWithoutQueueName = false, c.Gates(), s.ManageJobsWithoutQueueName
	if i := s.Integrations; i != nil && len(i.Frameworks) > 0 {
		out.Frameworks = i.Frameworks
	}
	if f := s.FairSharing; f != nil {
		out.FairSharing = &kueue.FairSharing{PreemptionStrategies: f.PreemptionStrategies}
	}
	out.AdmissionFairSharing = s.AdmissionFairSharing != nil
	if w := s.WaitForPodsReady; w != nil {
		out.WaitForPodsReady = &kueue.WaitForPodsReady{
			BlockAdmission: w.BlockAdmission != nil && *w.BlockAdmission, ByCreation: w.RequeuingStrategy != nil && w.RequeuingStrategy.Timestamp == "Creation",
		}
	}
	r := s.Resources
	if r == nil {
		return out
	}
	out.ExcludeResourcePrefixes, out.IgnoreUndeclared = r.ExcludeResourcePrefixes, r.QuotaCheckStrategy == "IgnoreUndeclared"
	for i := range r.Transformations {
		t := &r.Transformations[i]
		out.Transformations = append(out.Transformations, kueue.Transformation{Input: t.Input, Replace: t.Strategy == "Replace", MultiplyBy: t.MultiplyBy, Outputs: t.Outputs})
	}
	for i := range r.DeviceClassMappings {
		m := &r.DeviceClassMappings[i]
		mapping := kueue.DeviceClassMapping{Resource: m.Name}
		for _, class := range m.DeviceClassNames {
			mapping.DeviceClasses = append(mapping.DeviceClasses, string(class))
		}
		for _, source := range m.Sources {
			for at, of := range []*kueueconfig.SourceOf{source.Counter, source.Capacity} {
				if of == nil {
					continue
				}
				one := kueue.DeviceSource{Driver: of.Driver}
				if one.Counter = of.Name; at == 1 {
					one.Counter, one.Capacity = "", of.Name
				}
				if of.DeviceSelector.CEL != nil {
					one.Selector = of.DeviceSelector.CEL.Expression
				}
				mapping.Sources = append(mapping.Sources, one)
			}
		}
		out.DeviceClassMappings = append(out.DeviceClassMappings, mapping)
	}
	return out
}

// State is the configuration of a snapshot with its LimitRanges, if all of them were read.
func State(s *inspect.Snapshot) kueue.Config {
	out := Of(s.Kueue())
	if !s.Health(inspect.LimitRanges).Partial() {
		out.LimitRanges = append([]*corev1.LimitRange{}, s.Objects().LimitRanges...)
	}
	return out
}

// Doubts says why what follows from a configuration is not certain, a sentence each.
func Doubts(c *kueueconfig.Config) []string {
	var out []string
	switch {
	case c.Unreadable() != "":
		out = append(out, c.Unreadable())
	case c != nil && c.Version != "" && !strings.HasPrefix(c.Version, "0.19.") && !strings.HasPrefix(c.Version, "0.18."):
		out = append(out, fmt.Sprintf("Kueue is %s here, and is decided as 0.19 decides", c.Version))
	}
	for _, what := range c.Unknown() {
		out = append(out, "the configuration of Kueue has what is not known here: "+what)
	}
	return out
}

// Origin says where the configuration was found; "" if it is assumed.
func Origin(c *kueueconfig.Config) string {
	switch {
	case c == nil || c.Unreadable() != "":
		return ""
	case c.Origin == "":
		return "--kueue-config"
	}
	return c.Origin
}
