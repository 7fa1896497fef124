package explanations

import (
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/markdown"
	"github.com/kubectl-dra/kubectl-dra/explain/text"
)

// Markdown implements Document. Of explanations that say the same, only the first is written, with the names
// of all.
func (l *ExplanationList) Markdown(p *markdown.Document) {
	var answers []*explain.Explanation
	for _, item := range l.Items {
		answers = append(answers, item.answer)
	}
	text.MarkdownAll(p, answers)
}

// Markdown implements Document.
func (e *Explanation) Markdown(p *markdown.Document) { text.Markdown(p, e.answer) }

// Markdown implements Document.
func (t *Triage) Markdown(p *markdown.Document) { text.MarkdownTriage(p, t.answer) }

// Markdown implements Document.
func (plan *Plan) Markdown(p *markdown.Document) { text.MarkdownPlan(p, plan.answer) }

// Markdown implements Document.
func (d *Disruption) Markdown(p *markdown.Document) { text.MarkdownDisruption(p, d.answer) }

// Markdown implements Document.
func (m *MovesPlan) Markdown(p *markdown.Document) { text.MarkdownMoves(p, m.answer) }

// Markdown implements Document.
func (d *DefragmentPlan) Markdown(p *markdown.Document) { text.MarkdownDefragmentation(p, d.answer) }

// Markdown implements Document.
func (s *ShapePlan) Markdown(p *markdown.Document) { text.MarkdownShapes(p, s.answer) }
