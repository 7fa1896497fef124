package checks

import (
	"strconv"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/internal/checkup"
)

// SARIF is a log in the Static Analysis Results Interchange Format 2.1.0 (OASIS), as far as a Check needs it:
// what code hosts show beside the lines of a change.
type SARIF struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []SARIFRun `json:"runs"`
}

// SARIFRun is one run of one tool.
type SARIFRun struct {
	Tool    SARIFTool     `json:"tool"`
	Results []SARIFResult `json:"results"`
}

// SARIFTool is the tool, with the rules by which it finds something.
type SARIFTool struct {
	Driver SARIFDriver `json:"driver"`
}

// SARIFDriver describes the tool.
type SARIFDriver struct {
	Name    string      `json:"name"`
	Version string      `json:"version,omitempty"`
	Rules   []SARIFRule `json:"rules"`
}

// SARIFRule is a rule.
type SARIFRule struct {
	ID                   string             `json:"id"`
	ShortDescription     SARIFText          `json:"shortDescription"`
	Help                 SARIFText          `json:"help"`
	DefaultConfiguration SARIFConfiguration `json:"defaultConfiguration"`
}

// SARIFConfiguration says how bad a rule is.
type SARIFConfiguration struct {
	Level string `json:"level"`
}

// SARIFText is a text.
type SARIFText struct {
	Text string `json:"text"`
}

// SARIFResult is a finding.
type SARIFResult struct {
	RuleID              string            `json:"ruleId"`
	Level               string            `json:"level"`
	Message             SARIFText         `json:"message"`
	Locations           []SARIFLocation   `json:"locations"`
	PartialFingerprints map[string]string `json:"partialFingerprints"`
}

// SARIFLocation is where something is: a line of a file, and a field of an object.
type SARIFLocation struct {
	PhysicalLocation *SARIFPhysical `json:"physicalLocation,omitempty"`
	LogicalLocations []SARIFLogical `json:"logicalLocations"`
}

// SARIFPhysical is a line of a file.
type SARIFPhysical struct {
	ArtifactLocation SARIFArtifact `json:"artifactLocation"`
	Region           *SARIFRegion  `json:"region,omitempty"`
}

// SARIFArtifact is a file.
type SARIFArtifact struct {
	URI string `json:"uri"`
}

// SARIFRegion is a line, counted from 1.
type SARIFRegion struct {
	StartLine int `json:"startLine"`
}

// SARIFLogical is an object or one of its fields.
type SARIFLogical struct {
	FullyQualifiedName string `json:"fullyQualifiedName"`
	Kind               string `json:"kind"`
}

// NewSARIF returns a report in SARIF. place says where the first object of a finding was given, such as
// "claims.yaml:12", or "".
func NewSARIF(r *checkup.Report, version string, place func(*checkup.Finding) string) *SARIF {
	driver := SARIFDriver{Name: "kubectl-dra", Version: version}
	for _, rule := range checkup.Rules() {
		driver.Rules = append(driver.Rules, SARIFRule{
			ID: string(rule.Code), ShortDescription: SARIFText{rule.About}, Help: SARIFText{rule.Remedy},
			DefaultConfiguration: SARIFConfiguration{string(rule.Severity)},
		})
	}
	return &SARIF{
		Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0",
		Runs: []SARIFRun{{SARIFTool{driver}, output.Each(r.Findings, func(f *checkup.Finding) SARIFResult {
			return SARIFResult{
				RuleID: string(f.Code), Level: string(f.Severity), Message: SARIFText{f.Message()},
				Locations:           []SARIFLocation{sarifLocation(f, place(f))},
				PartialFingerprints: map[string]string{"kubectl-dra/v1": f.Key()},
			}
		})}},
	}
}

func sarifLocation(f *checkup.Finding, place string) SARIFLocation {
	name := f.Names()[0]
	if f.Path != "" {
		name += "." + f.Path
	}
	l := SARIFLocation{LogicalLocations: []SARIFLogical{{name, "object"}}}
	if place == "" {
		return l
	}
	l.PhysicalLocation = &SARIFPhysical{ArtifactLocation: SARIFArtifact{place}}
	at := strings.LastIndexByte(place, ':')
	if line, err := strconv.Atoi(place[at+1:]); at > 0 && err == nil {
		l.PhysicalLocation = &SARIFPhysical{SARIFArtifact{place[:at]}, &SARIFRegion{line}}
	}
	return l
}
