package output

import (
	"github.com/kubectl-dra/kubectl-dra/internal/checkup"
)

// Check is the wire form of a checkup.Report.
type Check struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Findings are the worst first.
	Findings []CheckFinding `json:"findings"`
	// Asked is how many checks were made, and Skipped are those that could not be.
	Asked   int            `json:"asked"`
	Skipped []SkippedCheck `json:"skipped"`
	// Known is how many findings are those of the baseline, and not listed.
	Known int   `json:"known,omitempty"`
	Basis Basis `json:"basis"`
}

// CheckFinding is one thing that is wrong.
type CheckFinding struct {
	Code     string `json:"code"`
	Severity string `json:"severity"`
	// Objects are those at fault, as Kind/name or Kind/namespace/name.
	Objects []string `json:"objects"`
	// Path is the field of the first object at fault, if it is one.
	Path     string   `json:"path,omitempty"`
	Subject  string   `json:"subject"`
	Message  string   `json:"message"`
	Evidence []string `json:"evidence,omitempty"`
	Remedy   string   `json:"remedy"`
	// Key tells findings apart across runs.
	Key string `json:"key"`
}

// SkippedCheck is a check that could not be made.
type SkippedCheck struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// NewCheck returns the wire form of a report .
func NewCheck(r *checkup.Report) *Check {
	return &Check{
		APIVersion: APIVersion, Kind: "Check", Asked: r.Asked, Known: r.Known,
		Findings: each(r.Findings, func(f *checkup.Finding) CheckFinding {
			return CheckFinding{
				Code: string(f.Code), Severity: string(f.Severity), Objects: f.Names(), Path: f.Path, Subject: f.Subject, Message: f.Message(),
				Evidence: f.Evidence, Remedy: f.Remedy, Key: f.Key(),
			}
		}),
		Skipped: each(r.Skipped, func(s checkup.Skipped) SkippedCheck { return SkippedCheck{string(s.Code), s.Why} }),
		Basis:   basis(r.Basis),
	}
}
