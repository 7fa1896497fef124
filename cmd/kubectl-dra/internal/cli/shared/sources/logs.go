package sources

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/history"
)

// isLog looks at the beginning of a file. What cannot be opened is left to others to complain of.
func isLog(path string) bool {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return false
	}
	file, err := os.Open(path) //nolint:gosec // reading the path that the user named is the purpose
	if err != nil {
		return false
	}
	defer file.Close() //nolint:errcheck // nothing was written
	start := make([]byte, 16)
	n, _ := file.Read(start)
	return history.Is(start[:n])
}

// SplitLog tells the log among the paths of --from from others. It is "" if there is none.
func SplitLog(from []string) (log string, rest []string, err error) {
	for _, path := range from {
		switch {
		case path == "-" || !isLog(path):
			rest = append(rest, path)
		case log != "":
			return "", nil, console.Usagef("--from can read one log at a time, not %s", console.CommaList([]string{log, path}))
		default:
			log = path
		}
	}
	return log, rest, nil
}

// readLog reads a log at the moment of --at, and manifests on top of it.
func (r *Reader) readLog(ctx context.Context, path string, archives, manifests []string) (*inspect.Snapshot, error) {
	if len(archives) > 0 {
		return nil, console.Usagef("--from can read a log or a snapshot, not both: %s", console.CommaList(append(archives, path)))
	}
	log, err := r.OpenLog(path)
	if err != nil {
		return nil, err
	}
	defer log.Close() //nolint:errcheck // nothing was written
	s, err := r.snapshotOf(ctx, log, r.At)
	if err != nil {
		return nil, err
	}
	more, err := r.ReadMore(ctx, manifests)
	if err != nil {
		return nil, err
	}
	return r.OnTop(s, more), nil
}

// ReadOther reads something else than the flags say: a file, a directory, a snapshot or, as LOG@TIME, a
// moment of a log. What was said of other files does not count.
func (r *Reader) ReadOther(ctx context.Context, name string) (*inspect.Snapshot, error) {
	other := *r
	other.From, other.Demo, other.At, other.warned, other.events = []string{name}, false, "", nil, nil
	if at := strings.LastIndexByte(name, '@'); at > 0 && isLog(name[:at]) {
		other.From, other.At = []string{name[:at]}, name[at+1:]
	}
	s, err := other.Read(ctx, "", inspect.Resources())
	r.stdinRead = other.stdinRead
	return s, err
}

// OnTop returns what was recorded with what is given besides, which may be nil, and the features of
// --features.
func (r *Reader) OnTop(s *inspect.Snapshot, more *inspect.Objects) *inspect.Snapshot {
	features := s.Features()
	if more != nil {
		s = s.With(func(o *inspect.Objects) { Overlay(o, more) })
		features = features.WithUsed(*more)
	}
	if len(r.Gates) == 0 && more == nil {
		return s
	}
	return s.WithFeatures(r.ApplyFeatureFlag(features))
}

// Log is a log that was opened to be read.
type Log struct {
	*history.Log
	path   string
	file   *os.File
	memory *Memory // what reading may take
}

// OpenLog opens a log, whose file is to be closed.
func (r *Reader) OpenLog(path string) (*Log, error) {
	file, err := os.Open(path) //nolint:gosec // reading the path that the user named is the purpose
	if err != nil {
		return nil, fmt.Errorf("reading log: %w", err)
	}
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("reading log: %w", err)
	}
	end := r.reading(context.Background(), path)
	log, err := history.Open(file, info.Size(), path, r.fileOptions(""))
	end()
	if err != nil {
		_ = file.Close() // nothing was written
		return nil, err
	}
	if log.Damaged != nil {
		r.Streams.Note("warning: %s: %v", path, log.Damaged)
	}
	return &Log{log, path, file, r.Memory}, nil
}

// Close closes the file.
func (l *Log) Close() error { return l.file.Close() }

// Snapshot reads a moment of the log.
func (l *Log) Snapshot(ctx context.Context, moment int) (*inspect.Snapshot, error) {
	defer l.memory.watch()()
	return l.Log.Snapshot(ctx, moment)
}

// snapshotOf returns the cluster at the time of --at, or at the end of a log, and says as of when that is.
func (r *Reader) snapshotOf(ctx context.Context, l *Log, when string) (*inspect.Snapshot, error) {
	moment, t, err := r.MomentOf(ctx, l, when)
	if err != nil {
		return nil, err
	}
	s, err := l.Snapshot(ctx, moment)
	if err != nil {
		return nil, err
	}
	for _, gap := range l.Gaps() {
		if t.After(gap.From) && t.Before(gap.To) {
			r.Streams.Note("warning: nothing was recorded from %s to %s: what is shown is the beginning of that", momentText(gap.From), momentText(gap.To))
			t = gap.From
		}
	}
	return s.AsOf(t), nil
}

// MomentOf returns the moment of a log at the time of --at, and that time, and says as of when an answer will
// be.
func (r *Reader) MomentOf(ctx context.Context, l *Log, when string) (moment int, t time.Time, err error) {
	from, to := l.Span()
	if t, err = parseMoment(when, from, to); err != nil {
		return 0, t, console.Usagef("--at is %q: %w; %s covers %s", when, err, l.path, spanText(from, to))
	}
	moment, ok, err := l.Find(ctx, t)
	if err != nil {
		return 0, t, err
	}
	if !ok || t.After(to) {
		return 0, t, console.Usagef("--at %s is %s, and %s covers %s", when, momentText(t), l.path, spanText(from, to))
	}
	r.Streams.Note("as of %s%s", momentText(t), beforeEnd(t, to, l.path))
	return moment, t, nil
}

// beforeEnd says how long before the end of a log a moment is.
func beforeEnd(t, to time.Time, path string) string {
	if t.Equal(to) {
		return ", the end of " + path
	}
	return fmt.Sprintf(", %s before the end of %s", to.Sub(t).Round(time.Second), path)
}

func momentText(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func spanText(from, to time.Time) string { return momentText(from) + " to " + momentText(to) }

// clockForms are the times of day that a moment can be given as, and dayForms those with their day, where the
// computer is.
var (
	clockForms = []string{"15:04", "15:04:05"}
	dayForms   = []string{"2006-01-02 15:04", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02T15:04:05"}
)

// parseMoment reads a time within a span: RFC 3339, a length before its end ("-10m"), or a time of day, which
// is the last one in it. Nothing is its end.
func parseMoment(text string, from, to time.Time) (time.Time, error) {
	if text == "" {
		return to, nil
	}
	if strings.HasPrefix(text, "-") {
		d, err := time.ParseDuration(text)
		if err != nil {
			return time.Time{}, fmt.Errorf("no length of time; -10m is ten minutes before the end")
		}
		return to.Add(d), nil
	}
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		if rest := to.Sub(t); rest > -time.Second && rest < 0 { // times are told to the second
			t = to
		}
		if early := from.Sub(t); early > 0 && early < time.Second {
			t = from
		}
		return t, nil
	}
	for _, form := range dayForms {
		if t, err := time.ParseInLocation(form, text, time.Local); err == nil {
			return t, nil
		}
	}
	for _, form := range clockForms {
		clock, err := time.Parse(form, text)
		if err != nil {
			continue
		}
		end := to.Local()
		t := time.Date(end.Year(), end.Month(), end.Day(), clock.Hour(), clock.Minute(), clock.Second(), 0, time.Local)
		if t.After(to) {
			t = time.Date(end.Year(), end.Month(), end.Day()-1, clock.Hour(), clock.Minute(), clock.Second(), 0, time.Local)
		}
		return t, nil
	}
	return time.Time{}, fmt.Errorf("no time; it can be like 2026-11-23T09:00:00Z, 09:00 or -10m")
}
