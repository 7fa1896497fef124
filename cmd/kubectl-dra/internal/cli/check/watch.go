package check

import (
	"context"
	"fmt"
	"slices"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/sources"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output/checks"
	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/text"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/checkup"
)

// publishing are the resources that a driver's publications are told from, and those whose selectors read
// them.
var publishing = []inspect.Resource{inspect.Slices, inspect.Classes, inspect.Claims, inspect.Templates}

// noticeRoles are the roles of severities.
var noticeRoles = map[checkup.Severity]styled.Role{checkup.Error: styled.Bad, checkup.Warning: styled.Warn, checkup.Note: styled.Dim}

// watchDriver prints what a driver does to what it publishes, until ctx is done.
func (o *checkOptions) watchDriver(ctx context.Context) error {
	watch, first := checkup.NewWatch(o.driver), true
	return o.Reader.Follow(ctx, "", &sources.OutageWatch{Streams: o.Streams, Resources: publishing}, nil, func(_ context.Context, s *inspect.Snapshot) error {
		if first {
			o.noteStrange(s)
			first = false
		}
		return o.printNotices(watch.Next(s))
	})
}

// noteStrange says when the driver publishes nothing yet, and which do.
func (o *checkOptions) noteStrange(s *inspect.Snapshot) {
	var drivers []string
	for _, slice := range s.Slices() {
		if !slices.Contains(drivers, slice.Spec.Driver) {
			drivers = append(drivers, slice.Spec.Driver)
		}
	}
	slices.Sort(drivers)
	if !slices.Contains(drivers, o.driver) {
		o.Note("driver %s publishes nothing yet%s", o.driver, console.WhatExists(o.driver, "", drivers, nil))
	}
}

func (o *checkOptions) printNotices(notices []checkup.Notice) error {
	for _, n := range notices {
		if !n.Severity.AtLeast(o.checkup.Severity) {
			continue
		}
		if o.Format.Name != "" {
			if err := output.PrintJSONLine(o.Out, checks.NewNotice(n)); err != nil {
				return err
			}
			continue
		}
		line := styled.Line{
			{Text: n.At.Local().Format("15:04:05 "), Role: styled.Dim}, {Text: fmt.Sprintf("%-8s", n.Severity), Role: noticeRoles[n.Severity]},
			{Text: inspect.Sanitize(n.Subject), Role: styled.Name}, {Text: ": " + inspect.Sanitize(n.Detail)},
		}
		if err := text.Write(o.Out, []styled.Line{line}, o.UseColor()); err != nil {
			return err
		}
	}
	return nil
}
