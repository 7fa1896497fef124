package explain

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/inquiry"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/sources"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output/explanations"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/admission"
	"github.com/kubectl-dra/kubectl-dra/explain/text"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/live"
)

// queueTypes are the types of queues. Those that are called queue may be of both sorts.
var (
	clusterQueueTypes = []string{"clusterqueue", "clusterqueues", "cq"}
	localQueueTypes   = []string{"localqueue", "localqueues", "lq"}
	queueTypes        = slices.Concat([]string{"queue", "queues"}, clusterQueueTypes, localQueueTypes)
)

// asksForQueues reports whether arguments ask about queues of Kueue.
func asksForQueues(args []string) bool {
	if len(args) == 0 {
		return false
	}
	word, _, _ := strings.Cut(args[0], "/")
	return slices.Contains(queueTypes, inquiry.PlainType(word))
}

// explainQueues says what queues have, who holds it and who waits.
func explainQueues(ctx context.Context, o *explainOptions, args []string) error {
	word, names, err := inquiry.SplitTypeAndNames(args)
	switch {
	case err != nil:
		return err
	case len(names) == 0 || slices.Contains(names, ""):
		return console.Usagef("%s needs a name; kubectl dra get queues -A lists them", word)
	case len(o.Files) > 0 || o.Node != "" || o.fix != "" || o.since || o.narrow.Given():
		return console.Usagef("explain %s takes no other flags than those of output and of what is read", word)
	}
	if o.Namespace, err = o.Reader.Namespace(); err != nil {
		return err
	}
	needs := append(live.KueueResources(), inspect.Pods, inspect.Templates, inspect.Classes, inspect.Slices, inspect.Namespaces)
	s, err := o.Reader.Read(ctx, o.Namespace, needs)
	if err != nil {
		return err
	}
	o.NoteHealth(s, live.KueueResources())
	var answers []*explain.QueueState
	queues := admission.NewQueues(s)
	for _, name := range names {
		found := queuesCalled(queues, s, inquiry.PlainType(word), o.Namespace, name)
		if len(found) == 0 {
			return noQueue(s, word, o.Namespace, name)
		}
		answers = append(answers, found...)
	}
	render := func(w io.Writer, opts text.Options, q *explain.QueueState) error {
		return text.Write(w, text.QueueLines(q, opts), opts.Color)
	}
	return sources.AnswerEach(&o.Options.Options, explanations.Queues(answers), answers, render, console.ExitAnswered)
}

// queuesCalled are the queues of a name: in the namespace, and in the cluster.
func queuesCalled(q *admission.Queues, s *inspect.Snapshot, word, namespace, name string) []*explain.QueueState {
	var out []*explain.QueueState
	for _, queue := range s.Around().LocalQueues {
		if !slices.Contains(clusterQueueTypes, word) && queue.Namespace == namespace && queue.Name == name {
			out = append(out, q.LocalQueue(queue))
		}
	}
	for _, queue := range s.Around().ClusterQueues {
		if !slices.Contains(localQueueTypes, word) && queue.Name == name {
			out = append(out, q.ClusterQueue(queue))
		}
	}
	return out
}

// noQueue says which queues there are.
func noQueue(s *inspect.Snapshot, word, namespace, name string) error {
	text := fmt.Sprintf("%s %q not found", inspect.Sanitize(word), inspect.Sanitize(name))
	for _, resource := range []inspect.Resource{inspect.ClusterQueues, inspect.LocalQueues} {
		if h := s.Health(resource); h.State != inspect.Synced && h.State != inspect.NotRead {
			return fmt.Errorf("%s: %s", text, console.HealthText(resource, h))
		}
	}
	var here []string
	for _, queue := range s.Around().LocalQueues {
		if queue.Namespace == namespace {
			here = append(here, queue.Name)
		}
	}
	for _, queue := range s.Around().ClusterQueues {
		here = append(here, queue.Name)
	}
	return errors.New(text + console.WhatExists(name, namespace, here, nil))
}
