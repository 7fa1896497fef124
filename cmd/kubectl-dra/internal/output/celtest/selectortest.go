package celtest

import (
	"math"

	"github.com/kubectl-dra/kubectl-dra/allocator/selector"
	"github.com/kubectl-dra/kubectl-dra/allocator/selector/bench"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// SelectorTest is the wire form of a selector that was tried on devices.
type SelectorTest struct {
	output.Head
	// Subject is the object that the selector is of, and Path where in it; both are left out for an
	// expression that was given.
	Subject *explain.Subject `json:"subject,omitempty"`
	Path    string           `json:"path,omitempty"`
	// Scope says in words which devices were tested.
	Scope      string `json:"scope"`
	Expression string `json:"expression"`
	// Valid says that the scheduler can compile the expression; if not, Error says why.
	Valid     bool            `json:"valid"`
	Error     *SelectorError  `json:"error,omitempty"`
	APIServer SelectorServer  `json:"apiServer"`
	Cost      SelectorCost    `json:"cost"`
	Length    SelectorLength  `json:"length"`
	Matched   int             `json:"matched"`
	Failed    int             `json:"failed"`
	Total     int             `json:"total"`
	Findings  []bench.Finding `json:"findings"`
	Devices   []*TestedDevice `json:"devices"`
}

// SelectorError says why an expression does not compile, and where. Lines and columns count from 1; both
// are 0 when it is about the whole.
type SelectorError struct {
	Message string `json:"message"`
	Line    int    `json:"line"`
	Column  int    `json:"column"`
}

// SelectorServer says whether the API server accepts an expression in a new object.
type SelectorServer struct {
	Accepted bool   `json:"accepted"`
	Message  string `json:"message,omitempty"`
}

// SelectorCost is what an expression costs in units of CEL. Worst is left out when it does not compile.
type SelectorCost struct {
	Worst int64 `json:"worst,omitempty"`
	Limit int64 `json:"limit"`
	// Highest is the most that it cost on a device, Device.
	Highest int64  `json:"highest,omitempty"`
	Device  string `json:"device,omitempty"`
}

// SelectorLength is the length of an expression in bytes.
type SelectorLength struct {
	Bytes int `json:"bytes"`
	Limit int `json:"limit"`
}

// TestedDevice is what an expression says of a device.
type TestedDevice struct {
	Driver string `json:"driver"`
	Pool   string `json:"pool"`
	Device string `json:"device"`
	Node   string `json:"node"`
	// Result is Match, NoMatch or Error.
	Result string       `json:"result" enum:"Match,NoMatch,Error"`
	Error  string       `json:"error"`
	Terms  []TestedTerm `json:"terms"`
}

// TestedTerm is what a term says of a device: Value is true, false or error.
type TestedTerm struct {
	Expression string          `json:"expression"`
	Value      string          `json:"value" enum:"true,false,error"`
	Reads      []selector.Read `json:"reads,omitempty"`
}

// NewSelectorTest returns the wire form of a trial on devices.
func NewSelectorTest(b *bench.Bench, t *bench.Trial, devices []inspect.DeviceStatus) *SelectorTest {
	out := &SelectorTest{
		Head: output.HeadOf("SelectorTest"), Expression: t.Expression, Valid: t.Check.Scheduler == nil,
		Cost:    SelectorCost{Limit: selector.MaxCost},
		Length:  SelectorLength{Bytes: t.Check.Length, Limit: selector.MaxLength},
		Matched: t.Matched, Failed: t.Failed, Total: len(devices),
		Findings: append([]bench.Finding{}, b.Findings(t)...), Devices: []*TestedDevice{},
	}
	out.APIServer.Accepted, out.APIServer.Message = t.Check.Accepted()
	if e := t.Check.Scheduler; e != nil {
		out.Error = &SelectorError{Message: e.Message, Line: e.Place.Line, Column: e.Place.Column}
		return out
	}
	out.Cost.Worst = int64(min(t.Check.Worst, math.MaxInt64)) //nolint:gosec // just bounded
	if len(devices) > 0 {
		out.Cost.Highest, out.Cost.Device = int64(min(t.Cost, math.MaxInt64)), devices[t.Dearest].ID.String() //nolint:gosec // just bounded
	}
	terms := make([][]TestedTerm, len(t.Outcomes)) // shared by the devices with the same outcome
	for i := range t.Outcomes {
		terms[i] = testedTerms(b, t, &t.Outcomes[i])
	}
	for i := range devices {
		id, o := devices[i].ID, t.OutcomeOf(i)
		d := &TestedDevice{Driver: id.Driver, Pool: id.Pool, Device: id.Device, Node: string(devices[i].Node), Result: string(o.Result), Terms: terms[t.Of[i]]}
		if o.Err != nil {
			d.Error = o.Err.Error()
		}
		out.Devices = append(out.Devices, d)
	}
	return out
}

func testedTerms(b *bench.Bench, t *bench.Trial, o *bench.Outcome) []TestedTerm {
	reads := b.Reads(t, o)
	terms := []TestedTerm{}
	for i, value := range o.Terms {
		terms = append(terms, TestedTerm{Expression: t.Terms[i], Value: value.String(), Reads: reads[i]})
	}
	return terms
}
