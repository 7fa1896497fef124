package flowcontrol

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Dump is what /debug/api_priority_and_fairness/dump_priority_levels says about each level. Unlike the
// metrics, all its figures are of the same instant, and it has only levels that exist.
type Dump struct {
	Levels map[string]DumpedLevel
}

// DumpedLevel is a row of the dump. What the server has no figure for is nil. The last five figures are
// counted since the level came to be.
type DumpedLevel struct {
	ActiveQueues *int // queues in which requests wait
	Idle         *bool
	// Quiescing says that the object is gone, and the level only lives on until its last requests have ended.
	Quiescing          *bool
	WaitingRequests    *int
	ExecutingRequests  *int
	DispatchedRequests *int
	RejectedRequests   *int // for every reason, those of the next two too
	TimedOutRequests   *int
	CancelledRequests  *int
}

const (
	dumpName = "PriorityLevelName"
	dumpNone = "<none>"
)

// ParseDump reads a dump of priority levels, in which commas separate columns and spaces align them. The
// columns are found by their headers: they have become more over the years.
func ParseDump(in io.Reader) (*Dump, error) {
	lines := bufio.NewScanner(in)
	if !lines.Scan() {
		return nil, fmt.Errorf("reading the dump of priority levels: %w", orEmpty(lines.Err()))
	}
	headers := columns(lines.Text())
	if headers[0] != dumpName {
		return nil, fmt.Errorf("reading the dump of priority levels: it begins with %.40q, not with %s", headers[0], dumpName)
	}
	dump := &Dump{Levels: map[string]DumpedLevel{}}
	for lines.Scan() {
		cells := columns(lines.Text())
		if cells[0] == "" {
			continue
		}
		var level DumpedLevel
		for i := 1; i < min(len(headers), len(cells)); i++ {
			if err := level.set(headers[i], cells[i]); err != nil {
				return nil, fmt.Errorf("reading the dump of priority levels: level %.253q: column %.40q: %w", cells[0], headers[i], err)
			}
		}
		dump.Levels[cells[0]] = level
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("reading the dump of priority levels: %w", err)
	}
	return dump, nil
}

func orEmpty(err error) error {
	if err == nil {
		return errors.New("it is empty")
	}
	return err
}

func columns(line string) []string {
	cells := strings.Split(line, ",")
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	return cells
}

func (l *DumpedLevel) set(header, cell string) error {
	numbers := map[string]**int{
		"ActiveQueues": &l.ActiveQueues, "WaitingRequests": &l.WaitingRequests, "ExecutingRequests": &l.ExecutingRequests,
		"DispatchedRequests": &l.DispatchedRequests, "RejectedRequests": &l.RejectedRequests,
		"TimedoutRequests": &l.TimedOutRequests, "CancelledRequests": &l.CancelledRequests,
	}
	flags := map[string]**bool{"IsIdle": &l.Idle, "IsQuiescing": &l.Quiescing}
	if cell == dumpNone || cell == "" {
		return nil
	}
	if number := numbers[header]; number != nil {
		n, err := strconv.Atoi(cell)
		if err != nil {
			return fmt.Errorf("%.40q is no number", cell)
		}
		*number = &n
	}
	if flag := flags[header]; flag != nil {
		on, err := strconv.ParseBool(cell)
		if err != nil {
			return fmt.Errorf("%.40q is neither true nor false", cell)
		}
		*flag = &on
	}
	return nil
}
