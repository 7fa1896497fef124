package flowcontrol

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
)

// Message says in words why a FlowSchema does not match. It has text of the cluster in it, which is not safe to print.
func (m Miss) Message() string {
	wanted := shorten(m.Wanted)
	got := ""
	if len(m.Got) > 0 {
		got = m.Got[0]
	}
	switch m.Reason {
	case MissDangling:
		return fmt.Sprintf("its priority level %s does not exist, so the server passes over it", wanted)
	case MissNoRules:
		return "it has no rules"
	case MissSubject:
		return "it is for " + wanted
	case MissNoResources:
		return "it is for URLs only, not for resources"
	case MissNoURLs:
		return "it is for resources only, not for other URLs"
	case MissVerb:
		return fmt.Sprintf("it is for the verbs %s, not %s", wanted, got)
	case MissResource:
		text := fmt.Sprintf("it is for %s, not %s", wanted, got)
		if resource, _, sub := strings.Cut(got, "/"); sub && has(m.Wanted, resource) {
			text += ": a rule covers a subresource only if it names it"
		}
		return text
	case MissAPIGroup:
		return fmt.Sprintf("it is for API group %s, not %s", wanted, groupName(got))
	case MissNamespace:
		return fmt.Sprintf("it is for namespace %s, not %s", wanted, got)
	case MissClusterScope:
		return "it is for requests within a namespace only"
	case MissNonResourceURL:
		return fmt.Sprintf("it is for the paths %s", wanted)
	}
	return string(m.Reason)
}

// mostNamed is how many names are told.
const mostNamed = 3

func shorten(names []string) string {
	shown, more := make([]string, 0, mostNamed+1), ""
	for i, name := range names {
		if i == mostNamed && len(names) > mostNamed+1 {
			more = fmt.Sprintf(" and %d more", len(names)-mostNamed)
			break
		}
		shown = append(shown, groupName(name))
	}
	return strings.Join(shown, ", ") + more
}

// groupName is the name of an API group for people: the first one of Kubernetes has none.
func groupName(group string) string {
	if group == "" {
		return `"" (core)`
	}
	return group
}

// Chance prints a probability with three digits.
func Chance(odds *big.Rat) string {
	value, _ := odds.Float64()
	return strconv.FormatFloat(value, 'g', 3, 64)
}

// Message says in words what a width follows from. It has no text of the cluster in it.
func (w Width) Message() string {
	stored := fmt.Sprintf("%d objects", w.Stored.Objects)
	if b := w.Stored.Bytes; b != nil && *b > 0 {
		stored += fmt.Sprintf(" of %s in all", kilobytes(*b))
	}
	switch w.Reason {
	case WidthSingle:
		return "it is about one object at most"
	case WidthName:
		return "it lists one object, by its name"
	case WidthNoInitial:
		return "a watch from a known version sends no initial events"
	case WidthNotStored:
		return "this server does not store the resource, or has not counted it yet"
	case WidthUnknown:
		return "at least; how many objects there are, and how many watch them, is only in the server's metrics"
	case WidthCache:
		return "there are " + stored + "; the server's cache answers"
	case WidthStorage:
		return "there are " + stored + "; etcd has to answer"
	case WidthStorageAll:
		return "there are " + stored + "; etcd has to answer, and the server looks at more than it selects"
	case WidthFewWatches:
		return "fewer than ten watch the resource, which counts as none"
	case WidthManyWatches:
		return fmt.Sprintf("up to %d watches are told of a change: at most %d seats for %s more when it has ended", w.Stored.Watches, w.FinalSeats, w.Afterwards)
	}
	return string(w.Reason)
}

func kilobytes(bytes int) string {
	switch {
	case bytes >= 10_000_000:
		return fmt.Sprintf("%d MB", bytes/1_000_000)
	case bytes >= 10_000:
		return fmt.Sprintf("%d kB", bytes/1000)
	}
	return fmt.Sprintf("%d bytes", bytes)
}
