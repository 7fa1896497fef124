package checks

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/checkup"
)

// Check is the wire form of a checkup.Report.
type Check struct {
	output.Head
	// Findings are the worst first.
	Findings []CheckFinding `json:"findings"`
	// Asked is how many checks were made, and Skipped are those that could not be.
	Asked   int               `json:"asked"`
	Skipped []checkup.Skipped `json:"skipped"`
	// Known is how many findings are those of the baseline, and not listed.
	Known int           `json:"known,omitempty"`
	Basis explain.Basis `json:"basis"`
}

// CheckFinding is one thing that is wrong.
type CheckFinding struct {
	Code     string `json:"code" enum:"checkup.Code"`
	Severity string `json:"severity" enum:"checkup.Severity"`
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

// NewCheck returns the wire form of a report .
func NewCheck(r *checkup.Report) *Check {
	return &Check{
		Head: output.HeadOf("Check"), Asked: r.Asked, Known: r.Known,
		Findings: words.Each(r.Findings, func(f *checkup.Finding) CheckFinding {
			return CheckFinding{
				Code: string(f.Code), Severity: string(f.Severity), Objects: f.Names(), Path: f.Path, Subject: f.Subject, Message: f.Message(),
				Evidence: f.Evidence, Remedy: f.Remedy, Key: f.Key(),
			}
		}),
		Skipped: output.OrEmpty(r.Skipped),
		Basis:   r.Basis,
	}
}

// RulePreview is the wire form of a checkup.RulePreview.
type RulePreview struct {
	output.Head
	Rule  string `json:"rule"`
	Taint string `json:"taint"`
	// Ignored: the cluster does not look at such rules.
	Ignored bool     `json:"ignored,omitempty"`
	Devices []string `json:"devices"`
	Claims  []string `json:"claims"`
	// AllocatedDevices counts devices that the rule selects in the allocations of all claims.
	AllocatedDevices int `json:"allocatedDevices"`
	// Evicted are pods that are evicted, or, where Executes is false, that would be if the effect were
	// NoExecute.
	Executes bool       `json:"executes"`
	Evicted  []Eviction `json:"evicted"`
	Staying  []string   `json:"staying"`
}

// Eviction is a pod that is evicted.
type Eviction struct {
	Pod     string       `json:"pod"`
	At      *metav1.Time `json:"at,omitempty"`
	Devices []string     `json:"devices"`
}

// RulePreviews returns the wire form of one preview, or a RulePreviewList of several.
func RulePreviews(previews []*checkup.RulePreview) any {
	return output.OneOrList("RulePreviewList", words.Each(previews, newRulePreview))
}

func newRulePreview(p *checkup.RulePreview) *RulePreview {
	return &RulePreview{
		Head: output.HeadOf("RulePreview"), Rule: p.Rule, Taint: words.FormatTaint(&p.Taint), Ignored: p.Ignored, Executes: p.Executes(), AllocatedDevices: p.Allocated,
		Devices: words.Each(p.Devices, inspect.DeviceID.String), Claims: words.Each(p.Claims, inspect.ClaimRef.String), Staying: words.Each(p.Staying, inspect.PodRef.String),
		Evicted: words.Each(p.Evicted, func(e checkup.Eviction) Eviction {
			return Eviction{Pod: e.Pod.String(), At: output.OptionalTime(e.At), Devices: words.Each(e.Devices, inspect.DeviceID.String)}
		}),
	}
}
