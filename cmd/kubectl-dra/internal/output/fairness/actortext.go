package fairness

import (
	"fmt"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
)

// WriteActors writes for people where those ask that decide how soon pods get devices.
func WriteActors(p *output.Page, actors []DRAActor) {
	p.Paragraph("", "", "Where those ask the API server on whom devices depend:")
	var crowded, starving []string
	for i := range actors {
		a := &actors[i]
		p.WriteString("\n")
		p.Paragraph("", "  ", a.name()+" "+a.asText())
		rows := make([][]string, len(a.Asks))
		for j, ask := range a.Asks {
			load := ""
			if ask.Queued != nil && *ask.Queued+*ask.Rejected > 0 {
				load = fmt.Sprintf(": %d waiting, %d rejected", *ask.Queued, *ask.Rejected)
				starving = words.AppendNew(starving, a.name())
			}
			rows[j] = []string{ask.Verb + " " + ask.Resource, "→ " + ask.PriorityLevel, "FlowSchema " + ask.FlowSchema + load}
		}
		p.Rows(rows)
		if a.Crowded {
			crowded = append(crowded, a.name())
		}
	}
	p.WriteString("\n")
	if len(crowded) > 0 {
		p.Paragraph("! ", "  ", words.Shorten(crowded, mostNamed)+": at a level where every service account asks. A pod that floods the server holds them up; "+
			"a FlowSchema for them that leads to another level helps (try it with -f).")
	}
	if len(starving) > 0 {
		p.Paragraph("! ", "  ", words.Shorten(starving, mostNamed)+": requests of that FlowSchema wait, or were rejected since the server started.")
	}
	if len(crowded)+len(starving) == 0 {
		p.Paragraph("", "", "None of them is at a level where every service account asks, and none was held up.")
	}
}

// asText says as whom an actor asks.
func (a *DRAActor) asText() string {
	switch a.Evidence {
	case "Possible":
		return "possibly as " + a.User
	case "None":
		return "(its pods were not found; if its service account is in a namespace of its own)"
	}
	return "as " + a.User
}
