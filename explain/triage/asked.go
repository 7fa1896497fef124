package triage

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/headline"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
)

// maxAsked is how many different things that are asked for are told of a cause.
const maxAsked = 3

// sayWanted says what the subjects of a cause want that no node has. Where that is not known of all nodes, it
// says so of those that come closest.
func (c *collection) sayWanted(key string) {
	cause, lacks, texts := c.causes[key], c.lacks[key], c.asks[key]
	if cause.Wants = c.node == "" && !slices.Contains(lacks, nil); cause.Wants {
		cause.Message = headline.Together(len(cause.Subjects), lacks)
		return
	}
	shown := slices.Clone(texts[:min(len(texts), maxAsked)])
	if more := len(texts) - len(shown); more > 0 {
		shown = append(shown, fmt.Sprintf("%d other things", more))
	}
	cause.Message = "even the nodes that come closest cannot give what these want: "
	if c.node != "" {
		cause.Message = fmt.Sprintf("node %s cannot give what these want: ", c.node)
	}
	cause.Message += strings.Join(shown, "; or ")
}

// askedBy says what is asked for, as far as it is part of a conflict.
func askedBy(c *explain.Conflict) string {
	return words.And(words.Each(c.Requirements, func(r explain.Requirement) string { return r.Message }))
}
