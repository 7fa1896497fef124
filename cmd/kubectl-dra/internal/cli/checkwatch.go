package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output/checks"
	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/text"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/live"
	"github.com/kubectl-dra/kubectl-dra/internal/checkup"
	"github.com/kubectl-dra/kubectl-dra/internal/demo"
	"github.com/kubectl-dra/kubectl-dra/tui"
)

// publishing are the resources that a driver's publications are told from, and those whose selectors read them.
var publishing = []inspect.Resource{inspect.Slices, inspect.Classes, inspect.Claims, inspect.Templates}

// noticeRoles are the roles of severities.
var noticeRoles = map[checkup.Severity]styled.Role{checkup.Error: styled.Bad, checkup.Warning: styled.Warn, checkup.Note: styled.Dim}

// watchDriver prints what a driver does to what it publishes, until ctx is done.
func (o *checkOptions) watchDriver(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	source, err := o.updates(ctx)
	if err != nil {
		return err
	}
	stopWaiting := tellWaiting(ctx, o.streams, source)
	defer stopWaiting()
	watch, first := checkup.NewWatch(o.driver), true
	outage := outageWatch{streams: o.streams, resources: publishing}
	for s := range source.Updates() {
		if slices.ContainsFunc(publishing, func(r inspect.Resource) bool { return s.Health(r).State == inspect.Syncing }) {
			continue
		}
		stopWaiting()
		outage.look(s)
		if first {
			o.noteStrange(s)
			first = false
		}
		if err := o.printNotices(watch.Next(s)); err != nil {
			return err
		}
	}
	if failed, ok := source.(interface{ Err() error }); ok && failed.Err() != nil {
		return failed.Err()
	}
	return context.Cause(ctx)
}

func (o *checkOptions) updates(ctx context.Context) (tui.Source, error) {
	if o.reader.demo {
		snapshot, err := o.reader.read(ctx, "", publishing)
		if err != nil {
			return nil, err
		}
		return demo.Live(ctx, demoSeed, snapshot.Features(), demo.Pace)
	}
	config, err := o.reader.connection.restConfig()
	if err != nil {
		return nil, err
	}
	return live.Watch(ctx, config, live.Options{Resources: publishing, Override: o.reader.applyFeatureFlag})
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
		o.streams.note("driver %s publishes nothing yet%s", o.driver, whatExists(o.driver, "", drivers, nil))
	}
}

func (o *checkOptions) printNotices(notices []checkup.Notice) error {
	for _, n := range notices {
		if !n.Severity.AtLeast(o.checkup.Severity) {
			continue
		}
		if o.format.Name != "" {
			if err := output.PrintJSONLine(o.streams.Out, checks.NewNotice(n)); err != nil {
				return err
			}
			continue
		}
		line := styled.Line{
			{Text: n.At.Local().Format("15:04:05 "), Role: styled.Dim}, {Text: fmt.Sprintf("%-8s", n.Severity), Role: noticeRoles[n.Severity]},
			{Text: inspect.Sanitize(n.Subject), Role: styled.Name}, {Text: ": " + inspect.Sanitize(n.Detail)},
		}
		if err := text.Write(o.streams.Out, []styled.Line{line}, o.streams.useColor()); err != nil {
			return err
		}
	}
	return nil
}
