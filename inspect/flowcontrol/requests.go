package flowcontrol

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// RequestDump is what /debug/api_priority_and_fairness/dump_requests says: the requests of all levels that wait or are executed.
type RequestDump struct {
	// Requests are in the order of the dump: level by level in no order, within a level queue by queue.
	Requests []DumpedRequest
}

// DumpedRequest is a row of the dump. Servers before 1.28 give only those that wait, and some columns may be missing.
type DumpedRequest struct {
	Level, Schema string
	// Queue is the queue that it waits in or was taken from, from 0 on. It is -1 for what is executed without a queue.
	Queue int
	// Waiting reports whether it is not executed yet.
	Waiting bool
	// Flow is the distinguisher of its flow.
	Flow string
	// Seats are those it takes.
	Seats int
}

const (
	dumpName = "PriorityLevelName"
	dumpNone = "<none>"
	noTime   = "0001-01-01T00:00:00Z"
)

// ParseRequestDump reads a dump of requests, in which commas separate columns and spaces align them. The columns are found by
// their headers: they have become more over the years. A row that has another number of columns than the headers is passed over:
// names may have commas, and nothing quotes them.
func ParseRequestDump(in io.Reader) (*RequestDump, error) {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, longestLine)
	if !lines.Scan() {
		return nil, fmt.Errorf("reading the dump of requests: %w", cmp.Or(lines.Err(), errors.New("it is empty")))
	}
	headers := columns(lines.Text())
	if headers[0] != dumpName {
		return nil, fmt.Errorf("reading the dump of requests: it begins with %.40q, not with %s", headers[0], dumpName)
	}
	dump := &RequestDump{}
	for lines.Scan() {
		cells := columns(lines.Text())
		if len(cells) != len(headers) {
			continue
		}
		row := map[string]string{}
		for i, cell := range cells {
			if cell != dumpNone {
				row[headers[i]] = cell
			}
		}
		if row[dumpName] == "" || row["FlowSchemaName"] == "" {
			continue
		}
		r, err := dumpedRequest(row)
		if err != nil {
			return nil, fmt.Errorf("reading the dump of requests: level %.253q: %w", cells[0], err)
		}
		dump.Requests = append(dump.Requests, r)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("reading the dump of requests: %w", err)
	}
	return dump, nil
}

func columns(line string) []string {
	cells := strings.Split(line, ",")
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	return cells
}

func dumpedRequest(row map[string]string) (DumpedRequest, error) {
	started := row["StartTime"]
	r := DumpedRequest{
		Level: row[dumpName], Schema: row["FlowSchemaName"], Flow: row["FlowDistingsher"], // as the server spells it
		Queue: -1, Waiting: row["RequestIndexInQueue"] != "-1" && (started == "" || started == noTime),
	}
	var errs []error
	for header, to := range map[string]*int{"QueueIndex": &r.Queue, "InitialSeats": &r.Seats} {
		if text := row[header]; text != "" {
			n, err := strconv.Atoi(text)
			if err != nil {
				errs = append(errs, fmt.Errorf("column %s: %.40q is no number", header, text))
			}
			*to = n
		}
	}
	return r, errors.Join(errs...)
}

// Flow is one flow of a level, as a dump shows it.
type Flow struct {
	Schema, Distinguisher string
	// Waiting and Executing count its requests, WaitingSeats the seats of those that wait.
	Waiting, Executing, WaitingSeats int
	// Shared are the queues that the flow asked about has too, sorted.
	Shared []int
}

// FlowsOf returns the other flows of a level that the dump has requests of, with those first that share most queues with
// the flow that was classified, and then those with most requests.
func (d *RequestDump) FlowsOf(c *Classification, q Queuing) []Flow {
	flows := d.flows(func(r *DumpedRequest) bool {
		return r.Level == c.Level && (r.Schema != c.Schema || r.Flow != c.Distinguisher)
	})
	for i := range flows {
		flows[i].Shared = Shared(Hand(flows[i].Schema, flows[i].Distinguisher, q), c.Hand)
	}
	slices.SortStableFunc(flows, func(a, b Flow) int { return cmp.Compare(len(b.Shared), len(a.Shared)) })
	return flows
}

// InQueue returns the flows that have requests in a queue of a level, with those first that have most requests.
func (d *RequestDump) InQueue(level string, queue int) []Flow {
	return d.flows(func(r *DumpedRequest) bool { return r.Level == level && r.Queue == queue })
}

// flows returns the flows of some requests, with those first that have most requests.
func (d *RequestDump) flows(take func(*DumpedRequest) bool) []Flow {
	type key struct{ schema, flow string }
	at := map[key]int{}
	var out []Flow
	for i := range d.Requests {
		r := &d.Requests[i]
		if !take(r) {
			continue
		}
		k := key{r.Schema, r.Flow}
		if _, found := at[k]; !found {
			at[k] = len(out)
			out = append(out, Flow{Schema: r.Schema, Distinguisher: r.Flow})
		}
		if f := &out[at[k]]; r.Waiting {
			f.Waiting++
			f.WaitingSeats += r.Seats
		} else {
			f.Executing++
		}
	}
	slices.SortStableFunc(out, func(a, b Flow) int {
		return cmp.Or(cmp.Compare(b.Waiting, a.Waiting), cmp.Compare(b.Executing, a.Executing),
			cmp.Compare(a.Schema, b.Schema), cmp.Compare(a.Distinguisher, b.Distinguisher))
	})
	return out
}
