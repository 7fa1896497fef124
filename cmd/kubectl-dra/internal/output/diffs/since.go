package diffs

import (
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/flip"
	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/text"
)

// SinceAnswer says since when a claim or pod does not fit.
type SinceAnswer struct {
	Subject explain.Subject
	// Verdict is the one at the time Now, which is the end of what was looked at. The log begins at From.
	Verdict   explain.Verdict
	From, Now time.Time
	// Moments is how many there are, and Looked at how many of these it was decided.
	Moments, Looked int
	// LookedAtAll says that it was decided for all moments after LastFit, or for all if there is none.
	LookedAtAll bool
	// Found says that there is a moment, LastFit, at which it fits, while it does not at the next, At. Before
	// and After are the verdicts.
	Found         bool
	LastFit, At   time.Time
	Before, After explain.Verdict
	// Supposed says that the subject was not there yet at LastFit: it would have fitted.
	Supposed bool
	// Gap is when recording was broken off before At. It is zero if it was not.
	Gap time.Time
	By  flip.Culprits
}

// Since is the wire form of a SinceAnswer.
type Since struct {
	output.Head
	Subject explain.Subject `json:"subject"`
	Verdict string          `json:"verdict" enum:"explain.Verdict"`
	AsOf    time.Time       `json:"asOf"`
	Message string          `json:"message"`
	// LastFit is the moment before it stopped fitting.
	LastFit *Held `json:"lastFit,omitempty"`
	// Stopped is the moment of the change that did it.
	Stopped *Held `json:"stopped,omitempty"`
	// RecordedUntil is when recording was broken off before that moment.
	RecordedUntil *time.Time      `json:"recordedUntil,omitempty"`
	By            []ChangedObject `json:"by,omitempty"`
	UndoneBy      *bool           `json:"undoneBy,omitempty"`
	// Moments is how many there are, and Looked at how many of these it was decided.
	Moments int `json:"moments"`
	Looked  int `json:"looked"`
}

// Held is the verdict at a moment.
type Held struct {
	Time    time.Time `json:"time"`
	Verdict string    `json:"verdict" enum:"explain.Verdict"`
	// Supposed says that the subject was not there yet.
	Supposed bool `json:"supposed,omitempty"`
}

// NewSince returns the wire form of an answer.
func NewSince(a *SinceAnswer) *Since {
	out := &Since{
		Head: output.HeadOf("Since"), Subject: a.Subject, Verdict: string(a.Verdict), AsOf: a.Now, Message: sinceMessage(a),
		Moments: a.Moments, Looked: a.Looked,
	}
	if !a.Found {
		return out
	}
	out.LastFit = &Held{Time: a.LastFit, Verdict: string(a.Before), Supposed: a.Supposed}
	out.Stopped = &Held{Time: a.At, Verdict: string(a.After)}
	out.By, out.UndoneBy = changedObjects(a.By.Changes), undoneBy(a.By)
	if !a.Gap.IsZero() {
		out.RecordedUntil = &a.Gap
	}
	return out
}

// sinceMessage is the answer in a sentence.
func sinceMessage(a *SinceAnswer) string {
	name := a.Subject.FullName()
	switch {
	case flip.Fits(a.Verdict):
		return fmt.Sprintf("%s is %s at %s; moments before were not looked at", name, a.Verdict, output.Stamp(a.Now))
	case !a.Found:
		return fmt.Sprintf("%s does not fit, and did not at any of the %d moments checked, of %d since %s", name, a.Looked, a.Moments, output.Stamp(a.From))
	case !a.LookedAtAll:
		return fmt.Sprintf("%s fitted before %s, and at none of the later moments that were looked at", name, output.Stamp(a.At))
	case a.Supposed:
		return fmt.Sprintf("%s would have fitted until %s, before it was made", name, output.Stamp(a.At))
	}
	return fmt.Sprintf("%s fitted until %s", name, output.Stamp(a.At))
}

// SinceLines lays out an answer. It is safe to print.
func SinceLines(a *SinceAnswer, width int) []styled.Line {
	p := &diffPage{opts: text.Options{Width: width}}
	role, mark := styled.Bad, "✗ "
	if flip.Fits(a.Verdict) {
		role, mark = styled.Good, "✓ "
	}
	p.add("", styled.Line{{Text: mark, Role: role}, {Text: sinceMessage(a), Role: styled.Strong}})
	if !a.Found {
		return p.lines
	}
	p.blank()
	p.add("  ", styled.Line{{Text: output.Stamp(a.LastFit) + "  "}, {Text: string(a.Before), Role: verdictRole(a.Before)}, {Text: supposedText(a.Supposed), Role: styled.Dim}})
	p.add("  ", styled.Line{{Text: output.Stamp(a.At) + "  "}, {Text: string(a.After), Role: verdictRole(a.After)}})
	for _, l := range CulpritLines(&a.By, false) {
		p.add("      ", l)
	}
	if !a.Gap.IsZero() {
		p.add("      ", styled.Text(styled.Warn, "! nothing was recorded from "+output.Stamp(a.Gap)+" until then: it was at some time in between"))
	}
	p.blank()
	p.sentence(styled.Dim, strings.Join(sinceRemarks(a), " "))
	return p.lines
}

func supposedText(supposed bool) string {
	if supposed {
		return ", had it been there"
	}
	return ""
}

// sinceRemarks say what was tried, and what the answer does not say.
func sinceRemarks(a *SinceAnswer) []string {
	var out []string
	if a.By.Undoing && len(a.By.Changes) > 0 {
		out = append(out, "Without that change it fits, with it it does not: both were tried.")
	}
	switch {
	case a.LookedAtAll:
		out = append(out, "All moments after that were looked at, and it fits at none.")
	default:
		out = append(out, fmt.Sprintf("%d of %d moments were looked at. Between those that came later, at which it did not fit, it may have fitted for a while.", a.Looked, a.Moments))
	}
	return out
}
