package fairness

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/markdown"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
)

// PrintRequest prints an explanation for people, in lines of so many columns. verbose shows every flow.
func PrintRequest(w io.Writer, e *RequestExplanation, width int, verbose bool) error {
	p := &requestPrinter{RequestExplanation: e, Page: output.NewPage(width), verbose: verbose}
	p.print()
	_, err := io.WriteString(w, p.String())
	return err
}

func (p *requestPrinter) print() {
	p.headline()
	p.before()
	p.limits()
	if !p.LongRunning {
		p.seats()
		p.queues()
	}
	p.verified()
	for _, partial := range p.Partial {
		p.Field("Partial", "%s", partial)
	}
}

type requestPrinter struct {
	*RequestExplanation
	*output.Page

	verbose bool
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

func (p *requestPrinter) headline() {
	p.Paragraph("", "  ", p.Request.asks())
	by := "FlowSchema " + p.FlowSchema
	switch {
	case p.Rule > 0:
		by += fmt.Sprintf(", rule %d", p.Rule)
	default:
		by += ", because it matches nothing"
	}
	if p.FlowSchemaAssumed {
		by += "; there is no such object, the server makes it up"
	}
	if p.LongRunning {
		p.Paragraph("→ ", "  ", "is served at once: requests that may take as long as they like are not subject to priority and fairness")
		p.Paragraph("  ", "  ", fmt.Sprintf("a short one would go to priority level %s (%s)", p.PriorityLevel, by))
	} else {
		p.Paragraph("→ ", "  ", fmt.Sprintf("priority level %s (%s)", p.PriorityLevel, by))
	}
	p.WriteString("\n")
	p.Field("User", "%s, in %s", p.Request.User, strings.Join(p.Request.Groups, ", "))
}

// before lists the schemas that come before.
func (p *requestPrinter) before() {
	if len(p.Rejected) == 0 {
		p.Field("Before it", "nothing: it is the first FlowSchema")
		return
	}
	p.Field("Before it", "%s not match:", words.Plural(len(p.Rejected), "1 FlowSchema does", fmt.Sprintf("%d FlowSchemas do", len(p.Rejected))))
	rows := make([][]string, len(p.Rejected))
	for i, r := range p.Rejected {
		rows[i] = []string{r.FlowSchema, r.Message}
	}
	p.Rows(rows)
}

// limits says how many seats the level has.
func (p *requestPrinter) limits() {
	l := p.Level
	switch {
	case l == nil:
		return
	case p.Exempt:
		p.Field("Level", "%s is exempt: its requests are executed at once, whatever else there is", l.Name)
		return
	}
	p.Field("Level", "%s", l.seatsText())
	if text := l.loadText(); text != "" {
		p.Field("Now", "%s", text)
	}
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

func (p *requestPrinter) seats() {
	if p.Width == nil {
		return
	}
	text := words.Count(p.Width.Seats, "seat") + ": " + p.Width.Message
	if p.Width.Seats == p.Width.Most && p.Width.Most > 1 {
		text += fmt.Sprintf("; the level gives no request of this kind more than %d", p.Width.Most)
	}
	p.Field("Width", "%s", text)
	switch l := p.Level; {
	case l == nil:
	case l.Queuing == nil:
		p.Field("When full", "rejected at once (429) if the seats in use and its own exceed CurrentCL")
	default:
		p.Field("When full", "waits if CurrentCL seats are in use, for at most a quarter of its time-out (15 s of the usual 60 s, never more than 1 min); "+
			"rejected (429) if then the queue that it comes to has %s already", words.Count(l.Queuing.QueueLengthLimit, "request"))
	}
}

func (p *requestPrinter) queues() {
	if len(p.Queues) == 0 {
		return
	}
	switch p.DistinguisherMethod {
	case "ByUser":
		p.Field("Flow", "by user: %s", p.Distinguisher)
	case "ByNamespace":
		namespace := p.Distinguisher
		if namespace == "" {
			namespace = "all requests for what is in no namespace"
		}
		p.Field("Flow", "by namespace: %s", namespace)
	default:
		p.Field("Flow", "all requests of the FlowSchema are one")
	}
	names := make([]string, len(p.Queues))
	for i, queue := range p.Queues {
		names[i] = strconv.Itoa(queue)
	}
	total := 0
	if p.Level != nil && p.Level.Queuing != nil {
		total = p.Level.Queuing.Queues
	}
	p.Field("Queues", "%s of %d; the request waits in the one of them with the least work", strings.Join(names, ", "), total)
	p.sitting()
	if len(p.Odds) > 0 && len(p.Queues) < total {
		texts := make([]string, len(p.Odds))
		for i, o := range p.Odds {
			texts[i] = fmt.Sprintf("%.3g with %d", o.Probability, o.Elephants)
		}
		p.Field("Odds", "that other flows, each filling its queues, have all of these: %s", strings.Join(texts, ", "))
	}
}

// mostFlows is how many flows are shown without -v.
const mostFlows = 5

// sitting says who is in the queues, and with whom they are shared.
func (p *requestPrinter) sitting() {
	rows := [][]string{}
	for _, s := range p.Sitting {
		if s.Waiting+s.Executing == 0 {
			continue
		}
		var who []string
		for _, f := range s.Flows {
			who = append(who, fmt.Sprintf("%s (%d)", p.flowName(f), f.Waiting+f.Executing))
		}
		rows = append(rows, []string{fmt.Sprintf("queue %d", s.Queue), fmt.Sprintf("%d waiting, %d executing", s.Waiting, s.Executing), words.Shorten(who, mostFlows)})
	}
	switch {
	case p.Sitting == nil:
		return
	case len(rows) == 0:
		p.Field("In them", "nothing at the moment")
	default:
		p.Field("In them", "now:")
		p.Rows(rows)
	}
	rows = nil
	for _, f := range p.Overlaps {
		if len(f.SharedQueues) == 0 {
			continue
		}
		rows = append(rows, []string{p.flowName(f), fmt.Sprintf("%d of %d queues, %d waiting, %d executing", len(f.SharedQueues), len(p.Queues), f.Waiting, f.Executing)})
	}
	if len(rows) == 0 {
		return
	}
	shown := rows
	if len(rows) > mostFlows && !p.verbose {
		shown = rows[:mostFlows]
	}
	p.Field("Shared", "with %s that %s requests now:", words.Count(len(rows), "flow"), words.Plural(len(rows), "has", "have"))
	p.Rows(shown)
	if more := len(rows) - len(shown); more > 0 {
		p.Paragraph("  ", "  ", fmt.Sprintf("and %d more (-v shows all)", more))
	}
}

// flowName names a flow; its schema goes without saying where it is that of the request.
func (p *requestPrinter) flowName(f FlowOverlap) string {
	switch {
	case f.Distinguisher == "":
		return f.FlowSchema
	case f.FlowSchema == p.FlowSchema:
		return f.Distinguisher
	}
	return f.Distinguisher + " of " + f.FlowSchema
}

func (p *requestPrinter) verified() {
	v := p.Verified
	if v == nil {
		return
	}
	switch v.Result {
	case VerifiedSame:
		p.Field("Verified", "the server says the same (it answered %d)", v.Status)
	case VerifiedNot:
		p.Field("Verified", "NOT: the server says FlowSchema %s and priority level %s", v.FlowSchema, v.PriorityLevel)
	default:
		p.Field("Verified", "not: the server did not say (it answered %d): %s", v.Status, v.Message)
	}
}

// Markdown implements Document.
func (r *RequestExplanation) Markdown(p *markdown.Document) {
	p.Headline(markdown.Text("API request →"), markdown.Code(r.PriorityLevel))
	printer := &requestPrinter{RequestExplanation: r, Page: output.MarkdownPage(p)}
	printer.print()
}
