package fairness

import (
	"fmt"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
)

// Write writes the explanation for people.
func (e *RequestExplanation) Write(p *output.Page) {
	e.writeHeadline(p)
	p.Field("User", "%s, in %s", e.Request.User, strings.Join(e.Request.Groups, ", "))
	if len(e.Rejected) == 0 {
		p.Field("Before it", "nothing: it is the first FlowSchema")
	} else {
		p.Field("Before it", "%s not match:", words.Plural(len(e.Rejected), "1 FlowSchema does", fmt.Sprintf("%d FlowSchemas do", len(e.Rejected))))
		p.Rows(words.Each(e.Rejected, func(r RejectedSchema) []string { return []string{r.FlowSchema, r.Message} }))
	}
	if e.Exempt {
		p.Field("Level", "%s is exempt: its requests are executed at once, whatever else there is", e.PriorityLevel)
	} else {
		p.Field("Level", "%s", e.Level.seatsText())
		if text := e.Level.loadText(); text != "" {
			p.Field("Now", "%s", text)
		}
	}
	if !e.LongRunning {
		e.writeSeats(p)
		e.writeQueues(p)
	}
	switch v := e.Verified; {
	case v == nil:
	case v.Result == VerifiedSame:
		p.Field("Verified", "the server says the same (it answered %d)", v.Status)
	case v.Result == VerifiedNot:
		p.Field("Verified", "NOT: the server says FlowSchema %s and priority level %s", v.FlowSchema, v.PriorityLevel)
	default:
		p.Field("Verified", "not: the server did not say (it answered %d): %s", v.Status, v.Message)
	}
	for _, partial := range e.Partial {
		p.Field("Partial", "%s", partial)
	}
}

// asks says in words what the request is.
func (r *RequestAsked) asks() string {
	if r.Resource == "" {
		return fmt.Sprintf("%s: %s %s", r.User, r.Verb, r.URL)
	}
	text := fmt.Sprintf("%s: %s %s", r.User, r.Verb, r.Resource)
	if r.APIGroup != "" {
		text += " of " + r.APIGroup
	}
	switch {
	case r.Namespace != "":
		text += " in namespace " + r.Namespace
	case r.Verb == "list" || r.Verb == "watch":
		text += ", not in one namespace only"
	}
	return text
}

func (e *RequestExplanation) writeHeadline(p *output.Page) {
	p.Paragraph("", "  ", e.Request.asks())
	by := "FlowSchema " + e.FlowSchema
	if e.Rule > 0 {
		by += fmt.Sprintf(", rule %d", e.Rule)
	} else {
		by += ", because it matches nothing"
	}
	if e.FlowSchemaAssumed {
		by += "; there is no such object, the server makes it up"
	}
	if e.LongRunning {
		p.Paragraph("→ ", "  ", "is served at once: requests that may take as long as they like are not subject to priority and fairness")
		p.Paragraph("  ", "  ", fmt.Sprintf("a short one would go to priority level %s (%s)", e.PriorityLevel, by))
	} else {
		p.Paragraph("→ ", "  ", fmt.Sprintf("priority level %s (%s)", e.PriorityLevel, by))
	}
	p.WriteString("\n")
}

// seatsText says how many seats a level has, with the names of the API.
func (p *PriorityLevel) seatsText() string {
	text := fmt.Sprintf("%d seats nominally (NominalCL), %d of them to lend (LendableCL), ", p.Nominal, p.Lendable)
	if p.Borrowing == nil {
		text += "borrows without limit (BorrowingCL)"
	} else {
		text += fmt.Sprintf("borrows up to %d (BorrowingCL)", *p.Borrowing)
	}
	if p.Current != nil {
		text += fmt.Sprintf("; %d now (CurrentCL)", *p.Current)
	}
	return text
}

// writeSeats says what becomes of the request if there are no seats.
func (e *RequestExplanation) writeSeats(p *output.Page) {
	if e.Exempt {
		return
	}
	if q := e.Level.Queuing; q != nil {
		p.Field("When full", "waits if CurrentCL seats are in use, for at most a quarter of its time-out (15 s of the usual 60 s, never more than 1 min); "+
			"rejected (429) if then the queue that it comes to has %s already", words.Count(q.QueueLengthLimit, "request"))
	} else {
		p.Field("When full", "rejected at once (429) if the seats in use and its own exceed CurrentCL")
	}
}

func (e *RequestExplanation) writeQueues(p *output.Page) {
	if len(e.Queues) == 0 {
		return
	}
	switch e.DistinguisherMethod {
	case "ByUser":
		p.Field("Flow", "by user: %s", e.Distinguisher)
	case "ByNamespace":
		namespace := e.Distinguisher
		if namespace == "" {
			namespace = "all requests for what is in no namespace"
		}
		p.Field("Flow", "by namespace: %s", namespace)
	default:
		p.Field("Flow", "all requests of the FlowSchema are one")
	}
	names := strings.Join(words.Each(e.Queues, func(queue int) string { return fmt.Sprint(queue) }), ", ")
	total := e.Level.Queuing.Queues
	p.Field("Queues", "%s of %d; the request waits in the one of them with the least work", names, total)
}
