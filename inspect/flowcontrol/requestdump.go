package flowcontrol

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"
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
	// Waiting says that it is not executed yet.
	Waiting bool
	// Flow is the distinguisher of its flow.
	Flow    string
	Arrived time.Time
	// Seats are those it takes, FinalSeats those it takes afterwards.
	Seats, FinalSeats int
	// User, Verb and Path are empty where the server does not tell details.
	User, Verb, Path string
}

const noTime = "0001-01-01T00:00:00Z"

// ParseRequestDump reads a dump of requests. A row that has another number of columns than the headers is passed over: names
// may have commas, and nothing quotes them.
func ParseRequestDump(in io.Reader) (*RequestDump, error) {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, longestLine)
	if !lines.Scan() {
		return nil, fmt.Errorf("reading the dump of requests: %w", orEmpty(lines.Err()))
	}
	headers := columns(lines.Text())
	if headers[0] != dumpName {
		return nil, fmt.Errorf("reading the dump of requests: it begins with %.40q, not with %s", headers[0], dumpName)
	}
	at := map[string]int{}
	for i, header := range headers {
		at[header] = i
	}
	dump := &RequestDump{}
	for lines.Scan() {
		cells := columns(lines.Text())
		cell := func(header string) string {
			if i, found := at[header]; found && cells[i] != dumpNone {
				return cells[i]
			}
			return ""
		}
		if len(cells) != len(headers) || cells[0] == "" || cell("FlowSchemaName") == "" {
			continue
		}
		r, err := dumpedRequest(cell)
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

func dumpedRequest(cell func(header string) string) (DumpedRequest, error) {
	r := DumpedRequest{
		Level: cell(dumpName), Schema: cell("FlowSchemaName"), Flow: cell("FlowDistingsher"), // as the server spells it
		User: cell("UserName"), Verb: cell("Verb"), Path: cell("APIPath"), Queue: -1,
	}
	r.Waiting = cell("RequestIndexInQueue") != "-1"
	if started := cell("StartTime"); started != "" && started != noTime {
		r.Waiting = false
	}
	var errs []error
	for header, to := range map[string]*int{"QueueIndex": &r.Queue, "InitialSeats": &r.Seats, "FinalSeats": &r.FinalSeats} {
		if text := cell(header); text != "" {
			n, err := strconv.Atoi(text)
			if err != nil {
				errs = append(errs, fmt.Errorf("column %s: %.40q is no number", header, text))
			}
			*to = n
		}
	}
	if arrived, err := time.Parse(time.RFC3339Nano, cell("ArriveTime")); err == nil {
		r.Arrived = arrived
	}
	return r, errors.Join(errs...)
}

// Flow is one flow of a level, as a dump shows it.
type Flow struct {
	Schema, Distinguisher string
	// Waiting and Executing count its requests.
	Waiting, Executing int
	// Hand are its queues, and Shared those of them that the flow asked about has too, sorted.
	Hand, Shared []int
}

// Sitting is what sits in one queue of a hand.
type Sitting struct {
	Queue int
	// Waiting and Executing count requests, WaitingSeats the seats of those that wait.
	Waiting, Executing, WaitingSeats int
	// Flows are those whose requests they are, with most of them first.
	Flows []Flow
}
