package output

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/markdown"
	"github.com/kubectl-dra/kubectl-dra/explain/text"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
)

// MarkdownFormat is the format for tickets and chats.
const MarkdownFormat = "markdown"

// AnswerFormats are ObjectFormats and Markdown, for answers that have a form in it.
var AnswerFormats = append(slices.Clone(ObjectFormats), MarkdownFormat)

// How much of an answer is shown.
const (
	maxMarkdownRows  = 40 // of a table or list
	maxMarkdownNames = 6  // in a row
	headingLevel     = 3  // that of an answer, below the headings of the document into which it is pasted
)

// Markdown returns an answer in Markdown. Of values that have no form in it, there is an error.
func Markdown(value any) (string, error) {
	p := &markdownPage{level: headingLevel}
	if !p.answer(value) {
		return "", fmt.Errorf("there is no Markdown of %T", value)
	}
	return p.String(), nil
}

func printMarkdown(w io.Writer, value any) error {
	page, err := Markdown(value)
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, page)
	return err
}

// markdownPage is an answer that is being written.
type markdownPage struct {
	markdown.Document

	level int
}

// answer writes an answer; it reports whether there is Markdown for values of the type.
func (p *markdownPage) answer(value any) bool {
	switch v := value.(type) {
	case *Explanation:
		p.explanation(v)
	case *ExplanationList:
		p.explanations(v.Items)
	case *Triage:
		p.triage(v)
	case *Plan:
		p.plan(v)
	case *Disruption:
		p.disruption(v)
	case *MovesPlan:
		p.moves(v)
	case *DefragmentPlan:
		p.defragment(v)
	case *ShapePlan:
		p.shapes(v)
	case *Fit:
		p.fit(v)
	case *FitList:
		for _, f := range v.Items {
			p.fit(f)
		}
	case *Check:
		p.check(v)
	case *RulePreview:
		p.rulePreview(v)
	case *RulePreviewList:
		for _, r := range v.Items {
			p.rulePreview(r)
		}
	case *Diff:
		p.diff(v)
	case *Since:
		p.since(v)
	default:
		return p.otherAnswer(value)
	}
	return true
}

// otherAnswer writes the answers about requests to the API server, and tests of selectors.
func (p *markdownPage) otherAnswer(value any) bool {
	switch v := value.(type) {
	case *RequestExplanation:
		p.Heading(p.level, markdown.Join(markdown.Text("API request →"), markdown.Code(v.PriorityLevel)))
		printer := &requestPrinter{RequestExplanation: v, pageWriter: pageWriter{document: &p.Document}}
		printer.print()
	case *PriorityLevelExplanation:
		p.priorityLevel(v)
	case *PriorityLevelExplanations:
		for _, e := range v.Items {
			p.priorityLevel(e)
		}
	case *DRAActorList:
		p.actors(v)
	case *PriorityLevelPlan:
		p.levelPlan(v)
	case *SelectorTest:
		p.selectorTest(v)
	case *SelectorTestList:
		for _, t := range v.Items {
			p.selectorTest(t)
		}
	default:
		return false
	}
	return true
}

// heading writes the heading of the answer.
func (p *markdownPage) heading(text string) { p.Heading(p.level, markdown.Text(text)) }

// title writes the title of a part of the answer.
func (p *markdownPage) title(title string, more ...markdown.Inline) {
	p.Paragraph(markdown.Join(append([]markdown.Inline{markdown.Strong(markdown.Text(title))}, more...)...))
}

// list writes a list below a title, if there is something in it.
func (p *markdownPage) list(title string, items []markdown.Inline) {
	if len(items) == 0 {
		return
	}
	if title != "" {
		p.title(title)
	}
	rest := len(items) - maxMarkdownRows
	if rest > 0 {
		items = append(slices.Clone(items[:maxMarkdownRows]), markdown.Text(fmt.Sprintf("and %d more", rest)))
	}
	p.Bullets(items...)
}

// table writes a table below a title, if it has rows.
func (p *markdownPage) table(title string, columns []string, rows [][]markdown.Inline) {
	if len(rows) == 0 {
		return
	}
	if title != "" {
		p.title(title)
	}
	rest := len(rows) - maxMarkdownRows
	p.Table(columns, rows[:min(len(rows), maxMarkdownRows)])
	if rest > 0 {
		p.Paragraph(markdown.Text(fmt.Sprintf("and %d more", rest)))
	}
}

// entries are what is said of something, each in a text.
func entries(list []text.Entry) []markdown.Inline {
	return each(list, func(e text.Entry) markdown.Inline { return markdown.Join(markdown.Code(e.Name), markdown.Text(e.Text)) })
}

// names are some names as code, the first of them.
func names(list []string, most int) markdown.Inline {
	var out []markdown.Inline
	for i, name := range list {
		if i == most && len(list) > most+1 {
			out = append(out, markdown.Text(fmt.Sprintf("and %d more", len(list)-most)))
			break
		}
		out = append(out, markdown.Code(name))
	}
	return markdown.Join(out...)
}

func texts(list []string) []markdown.Inline { return each(list, markdown.Text) }

func count(n int) markdown.Inline { return markdown.Text(fmt.Sprint(n)) }

// basis says at the end what the answer is based on: what could not be read, and which scheduler it is about.
func (p *markdownPage) basis(b Basis, partial []string) {
	p.list("Partial view:", texts(partial))
	if b.Version == "" {
		return
	}
	sentence := markdown.Text(fmt.Sprintf("Decided as kube-scheduler %s does (%s allocator; %s)", b.Version, strings.ToLower(b.Variant), b.Features))
	if when := cmp.Or(timeOf(b.AsOf), b.read); !when.IsZero() {
		sentence = markdown.Join(sentence, markdown.Text("from what was there at"), markdown.Code(when.UTC().Format("2006-01-02 15:04:05 UTC")))
	}
	p.list("Basis:", append([]markdown.Inline{sentence}, texts(b.Remarks)...))
}

func timeOf(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}

// fullName names a subject with its namespace.
func (s Subject) fullName() string {
	if s.Namespace == "" {
		return s.Name
	}
	return s.Namespace + "/" + s.Name
}

func fullNames(list []Subject) []string { return each(list, Subject.fullName) }

func (p *markdownPage) fit(f *Fit) {
	p.heading(fitHeadline(f.answer, f.Subject.fullName()))
	p.table("", []string{"Node", "Copies", "What keeps one more off"}, each(f.answer.Nodes, func(n explainNodeFit) []markdown.Inline {
		return []markdown.Inline{markdown.Code(string(n.Node)), markdown.Text(copiesText(n)), markdown.Text(limitText(n))}
	}))
	var remarks []string
	for _, remark := range fitRemarks(f.answer) {
		if !strings.HasPrefix(remark, "! ") && !strings.HasPrefix(remark, "Note: ") { // which are part of the basis
			remarks = append(remarks, remark)
		}
	}
	p.Bullets(texts(remarks)...)
	p.basis(f.Basis, f.Partial)
}

func (p *markdownPage) check(c *Check) {
	headline := "✓ nothing is wrong that is looked for"
	switch {
	case len(c.Findings) > 0:
		headline = "✗ " + words.Count(len(c.Findings), "finding")
	case len(c.Skipped) > 0, c.Asked == 0:
		headline = "? nothing was found, but not all could be looked for"
	}
	p.heading(headline)
	for i := range c.Findings[:min(len(c.Findings), maxMarkdownRows)] {
		f := &c.Findings[i]
		text := markdown.Join(markdown.Strong(markdown.Text(f.Severity)), markdown.Code(f.Code), markdown.Text(f.Message))
		p.Numbered(i+1, text, func() {
			var items []markdown.Inline
			if len(f.Objects) > 1 || f.Path != "" {
				items = append(items, markdown.Join(names(f.Objects, maxMarkdownNames), markdown.Code(f.Path)))
			}
			items = append(items, texts(f.Evidence[:min(len(f.Evidence), maxMarkdownNames)])...)
			if f.Remedy != "" {
				items = append(items, markdown.Join(markdown.Strong(markdown.Text("Remedy:")), markdown.Text(f.Remedy)))
			}
			p.Bullets(items...)
		})
	}
	if rest := len(c.Findings) - maxMarkdownRows; rest > 0 {
		p.Paragraph(markdown.Text(fmt.Sprintf("and %d more", rest)))
	}
	p.list("Not looked for:", each(c.Skipped, func(s SkippedCheck) markdown.Inline {
		return markdown.Join(markdown.Code(s.Code), markdown.Text(s.Message))
	}))
	p.Paragraph(markdown.Text(fmt.Sprintf("%s made.", words.Count(c.Asked, "check"))))
	p.basis(c.Basis, nil)
}

func (p *markdownPage) rulePreview(r *RulePreview) {
	p.Heading(p.level, markdown.Join(markdown.Text("DeviceTaintRule"), markdown.Code(r.Rule), markdown.Text("selects "+words.Count(len(r.Devices), "device"))))
	p.Paragraph(markdown.Join(markdown.Text("Taint"), markdown.Code(r.Taint)))
	if r.Ignored {
		p.Paragraph(markdown.Text("The cluster does not look at such rules."))
	}
	title := "Pods that are evicted:"
	if !r.Executes {
		title = "Pods that would be evicted if the effect were NoExecute:"
	}
	p.table(title, []string{"Pod", "When", "Devices"}, each(r.Evicted, func(e Eviction) []markdown.Inline {
		when := markdown.Inline{}
		if e.At != nil {
			when = markdown.Code(stamp(e.At.Time))
		}
		return []markdown.Inline{markdown.Code(e.Pod), when, names(e.Devices, maxMarkdownNames)}
	}))
	p.list("Pods that stay:", codes(r.Staying))
	p.list("Claims with such devices:", codes(r.Claims))
}

func codes(list []string) []markdown.Inline { return each(list, markdown.Code) }
