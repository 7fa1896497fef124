package fit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/inquiry"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/sources"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output/explanations"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/admission"
	"github.com/kubectl-dra/kubectl-dra/explain/fit"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/explain/text"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/live"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

var fitKinds = []inquiry.Kind{inquiry.Claim, inquiry.Template}

// New returns the command fit.
func New(streams *console.Streams, reader *sources.Reader, completer *inquiry.Completer) *cobra.Command {
	o := inquiry.New(streams, reader, fitKinds)
	queue := ""
	cmd := &cobra.Command{
		Use:   "fit (claim|template NAME... | -f FILE)",
		Short: "Count how many more copies of a claim fit, and what runs out first",
		Long: `Count how many more copies of a claim, or of a claim made from a template, fit into
the cluster as it is: in total and on each node, and what runs out first.

A node's number is how many copies go onto it at most when they are placed
together, as for one pod. Copies that are placed one by one can leave devices
that no other copy can use, so fewer may fit in practice. An allocated claim
keeps its devices: its copies are counted in addition to it.

With --queue, it is also counted for how many of them a LocalQueue of Kueue in
their namespace has quota, and how many get both, quota and devices.

Exit codes: 0 at least one fits, 3 none fits, 1 the scheduler itself gives up
with an error (or the question could not be answered).`,
		Example: `  # How many more of these can start?
  kubectl dra fit template eval-gpu -n ml

  # The same for a claim that is not in the cluster, on one node
  kubectl dra fit -f claim.yaml --node gpu-a-01

  # And is there quota for them?
  kubectl dra fit template eval-gpu -n ml --queue research

  # For a script
  kubectl dra fit claim train-1 -n ml -o jsonpath='{.total}'`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.Complete(args); err != nil {
				return inquiry.WhichKind(cmd.Context(), reader, fitKinds, "fit", err)
			}
			if queue != "" {
				o.Reads = append(o.Resources(), append(live.KueueResources(), inspect.Templates, inspect.Namespaces)...)
			}
			return fitAll(cmd.Context(), o, queue)
		},
	}
	console.CompleteArguments(cmd, "`claim`, `template`, then names; `TYPE/NAME`", completer.Typed(fitKinds))
	cmd.Flags().StringVar(&queue, "queue", "", "count also for how many this LocalQueue of Kueue has quota")
	console.CompleteFlag(cmd, "queue", "LocalQueues", func(cmd *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
		return console.WithPrefix(completer.NamesIn(cmd.Context(), inspect.LocalQueues, reader.Connection.NamespaceFlag()), nil, prefix)
	})
	o.AddTo(cmd, completer, "ask about the claims and templates in this file, directory or - (stdin)")
	return cmd
}

func fitAll(ctx context.Context, o *inquiry.Options, queue string) error {
	snapshot, subjects, err := o.Read(ctx)
	if err != nil {
		return err
	}
	if len(snapshot.Nodes()) == 0 {
		return errors.New("there are no nodes to ask about")
	}
	working, done := o.Thinking(ctx)
	defer done()
	cluster := scheduler.NewCluster(snapshot, scheduler.Options{})
	var answers []*explain.Fit
	for _, subject := range subjects {
		claim := inquiry.ClaimOf(subject)
		fit, err := fit.Claim(working, cluster, claim, question.Options{Node: o.NodeName()})
		if abort := (*allocator.AbortError)(nil); errors.As(err, &abort) {
			return fmt.Errorf("%s/%s %s: %w", subject.GetNamespace(), subject.GetName(), abort.Consequence(), abort)
		}
		if err != nil {
			return fmt.Errorf("counting copies of %s/%s: %w", subject.GetNamespace(), subject.GetName(), err)
		}
		fit.Subject.Kind = inquiry.KindName(subject)
		if queue != "" {
			if err := queueIn(snapshot, claim.Namespace, queue); err != nil {
				return err
			}
			admission.Fit(snapshot, claim, queue, fit)
		}
		answers = append(answers, fit)
	}
	done()
	return printFits(o, snapshot, answers)
}

// queueIn says that a namespace has no LocalQueue of a name, as far as is known.
func queueIn(s *inspect.Snapshot, namespace, name string) error {
	var here []string
	for _, q := range s.Around().LocalQueues {
		if q.Namespace == namespace {
			here = append(here, q.Name)
		}
	}
	if slices.Contains(here, name) || s.Health(inspect.LocalQueues).PartialIn(namespace) {
		return nil
	}
	return fmt.Errorf("localqueue %q not found%s", name, console.WhatExists(name, namespace, here, nil))
}

// printFits prints the answers and turns the worst of them into the exit code.
func printFits(o *inquiry.Options, s *inspect.Snapshot, answers []*explain.Fit) error {
	code := o.LeastCode()
	for _, fit := range answers {
		code = console.WorstExitCode(code, fitCode(s, fit))
	}
	return sources.AnswerEach(&o.Options, explanations.Fits(answers), answers, func(w io.Writer, _ text.Options, fit *explain.Fit) error {
		return explanations.PrintFit(w, fit, text.Options{Width: o.TableWidth(), Verbose: o.Verbosity > 0})
	}, code)
}

// fitCode is the exit code of an answer. That nothing fits is no answer when the count was given up, or
// when devices or classes may exist that could not be read.
func fitCode(s *inspect.Snapshot, fit *explain.Fit) int {
	if q := fit.Queue; q != nil && fit.Total > 0 {
		switch {
		case len(q.Partial) > 0:
			return console.ExitFailed
		case q.Together == 0:
			return console.ExitNo
		}
	}
	switch {
	case fit.Total > 0 && !fit.Undecided:
		return console.ExitAnswered
	case fit.Total > 0, fit.AtLeast:
		return console.ExitFailed
	}
	for _, resource := range []inspect.Resource{inspect.Slices, inspect.Classes} {
		switch s.Health(resource).State {
		case inspect.Forbidden, inspect.Broken, inspect.Narrowed, inspect.Incomplete:
			return console.ExitFailed
		}
	}
	return console.ExitNo
}
