package flowcontrol

import (
	"fmt"
	"strings"
)

// Message says in words why a FlowSchema does not match. It has text of the cluster in it, which is not safe
// to print.
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
