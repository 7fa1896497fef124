package record

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/sources"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/history"
	"github.com/kubectl-dra/kubectl-dra/inspect/quantity"
	"github.com/kubectl-dra/kubectl-dra/internal/demo"
)

const (
	// recordPause is how often what happened is written to the log: it is what is lost when the power fails.
	recordPause = 10 * time.Second
	// recordPatience is how long something that could be read before may fail to be until that is recorded:
	// until then it may turn out that the server is gone, and nothing is known of the cluster from the first
	// failure on.
	recordPatience = 30 * time.Second
	// demoRecorded is how long a life of the demo cluster is recorded unless --for says otherwise.
	demoRecorded = time.Hour
)

// recordOptions are a request to record.
type recordOptions struct {
	*console.Streams
	reader  *sources.Reader
	grace   *console.GracePeriod
	path    string
	maxSize string
	bounds  history.Bounds
	length  time.Duration // 0 until it is interrupted
}

// NewRecord returns the command record.
func NewRecord(streams *console.Streams, reader *sources.Reader, grace *console.GracePeriod) *cobra.Command {
	o := &recordOptions{Streams: streams, reader: reader, grace: grace}
	cmd := &cobra.Command{
		Use:   "record -o LOG",
		Short: "Follow the cluster and write its changes into a log, which --from and --at read",
		Long: `Follow the cluster and write what changes into a log, until it is interrupted.

Every command takes the log with --from, and answers as of its end, or with
--at as of any moment in it. kubectl dra top --from LOG steps through it,
kubectl dra diff says what changed between two moments, and kubectl dra explain
--since when something stopped fitting, and by which change.

If the log exists, it is continued. The time in between is a gap, and an answer for
a moment in it says so. The log has what kubectl dra snapshot saves, so it has no
Secrets. When it reaches --max-size, its oldest part is dropped. It is written
every ten seconds; a part that is incomplete after a crash is ignored.`,
		Example: `  # Record until Ctrl-C, or as a service
  kubectl dra record -o cluster.log

  # Keep two days, and not more than 200 MB
  kubectl dra record -o cluster.log --max-age 48h --max-size 200M

  # What was it like ten minutes before the end, and at nine?
  kubectl dra explain claim train-0 -n ml --from cluster.log --at -10m
  kubectl dra get claims -A --from cluster.log --at 09:00`,
		Args: console.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.complete(); err != nil {
				return err
			}
			return o.run(cmd.Context())
		},
	}
	f := cmd.Flags()
	f.StringVarP(&o.path, "output", "o", "", "the log: a new file, or an earlier log to continue")
	f.StringVar(&o.maxSize, "max-size", "500Mi", "how large the log may become; 0 means no limit")
	f.DurationVar(&o.bounds.Age, "max-age", 0, "how far back the log must go; what is older may be dropped (default all)")
	f.DurationVar(&o.length, "for", 0, "stop after this time (default when interrupted)")
	console.CompleteFiles(cmd, "output")
	console.CompleteFlag(cmd, "max-size", "a few sizes", console.CompleteWords("0", "100Mi", "500Mi", "2Gi"))
	for _, flag := range []string{"max-age", "for"} {
		console.CompleteFlag(cmd, flag, "a few lengths of time", console.CompleteWords("10m", "1h", "24h", "168h"))
	}
	return cmd
}

// complete checks what was asked.
func (o *recordOptions) complete() error {
	switch {
	case o.path == "":
		return console.Usagef("name the log to write: -o LOG")
	case o.path == "-":
		return console.Usagef("a log is a file: -o LOG")
	case len(o.reader.From) > 0:
		return console.Usagef("record follows a cluster, or the living one of --demo; --from shows what was recorded")
	case o.bounds.Age < 0:
		return console.Usagef("--max-age is %s; it can be 0 and more", o.bounds.Age)
	case o.length < 0:
		return console.Usagef("--for is %s; it can be 0 and more", o.length)
	}
	size, err := quantity.Parse(o.maxSize)
	if err != nil {
		return console.Usagef("--max-size is %q: %w", o.maxSize, err)
	}
	if o.bounds.Size = size.Value(); o.bounds.Size < 0 {
		return console.Usagef("--max-size is %q; it can be 0 and more", o.maxSize)
	}
	return nil
}

func (o *recordOptions) run(ctx context.Context) error {
	log, err := openLogFile(o.path)
	if err != nil {
		return fmt.Errorf("recording to %s: %w", o.path, err)
	}
	o.grace.Extend()
	record := &recording{
		recordOptions: o, log: log, recorder: history.NewRecorder(o.bounds, log.end), outage: sources.OutageWatch{Streams: o.Streams, Resources: inspect.Resources()},
	}
	if o.reader.Demo {
		err = record.demo(ctx)
	} else {
		err = record.cluster(ctx)
	}
	if failed := log.close(); err == nil {
		err = failed
	}
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("recording to %s: %w", o.path, err)
	}
	if record.began {
		o.Note("recorded %s in %s, which has %s", words.Count(record.moments, "change"), o.path, sources.BytesText(log.size))
	}
	return err
}

// recording is a log that is being written.
type recording struct {
	*recordOptions
	log      *logFile
	recorder *history.Recorder
	began    bool
	moments  int
	outage   sources.OutageWatch
	// held is the newest snapshot if it is not recorded, because some of what could be read before cannot be,
	// which was first so, or so again, at the time waiting. gone: nothing at all could be read meanwhile.
	held    *inspect.Snapshot
	waiting time.Time
	gone    bool
}

// take records a snapshot, once the first is whole.
func (r *recording) take(s *inspect.Snapshot) error {
	if !r.began && slices.ContainsFunc(inspect.Resources(), func(k inspect.Resource) bool { return s.Health(k).State == inspect.Syncing }) {
		return nil
	}
	r.outage.Look(s)
	switch {
	case len(r.outage.Lost) == 0:
		r.waiting = time.Time{}
	case r.outage.Total():
		r.held, r.waiting, r.gone = s, time.Time{}, true
		return nil
	case r.waiting.IsZero():
		r.waiting = s.Time()
	}
	if len(r.outage.Lost) > 0 && s.Time().Sub(r.waiting) < recordPatience {
		r.held = s
		return nil
	}
	if err := r.record(s); err != nil {
		return err
	}
	if !r.began {
		r.began = true
		r.NoteHealth(s, inspect.Resources())
		r.Note("recording to %s", r.path)
		return r.write(s.Time())
	}
	return nil
}

// record records a snapshot. If nothing could be read before it, what happened meanwhile is not known.
func (r *recording) record(s *inspect.Snapshot) error {
	if r.held = nil; r.gone {
		if err := r.flush(r.outage.Since); err != nil {
			return err
		}
		r.recorder.Break()
		r.gone = false
	}
	return r.recorder.Take(s)
}

// write writes what happened until a time, as far as it is known.
func (r *recording) write(until time.Time) error {
	switch {
	case r.held == nil:
	case r.outage.Total() || until.Sub(r.waiting) < recordPatience:
		until = r.outage.Since
	default:
		if err := r.record(r.held); err != nil {
			return err
		}
	}
	return r.flush(until)
}

func (r *recording) flush(until time.Time) error {
	blocks, err := r.recorder.Flush(until)
	if err != nil {
		return err
	}
	for i := range blocks {
		r.moments += int(blocks[i].Moments)
	}
	return r.log.add(blocks, func(all []history.Block) int { return r.recorder.Surplus(all, until) })
}

// cluster follows the cluster until ctx is done or the time is over.
func (r *recording) cluster(ctx context.Context) error {
	following, cancel := context.WithCancel(ctx)
	defer cancel()
	namespace, err := r.reader.Namespace() // where the user may at least look, when not everywhere
	if err != nil {
		return err
	}
	source, err := r.reader.Updates(following, namespace, inspect.Resources())
	if err != nil {
		return err
	}
	arrived := sources.TellWaiting(ctx, r.Streams, source)
	defer arrived()
	ticker := time.NewTicker(recordPause)
	defer ticker.Stop()
	var over <-chan time.Time
	for {
		select {
		case s, open := <-source.Updates():
			if !open {
				return cmp.Or(sources.FailureOf(source), context.Cause(ctx))
			}
			if err := r.take(s); err != nil {
				return err
			}
			if r.began && over == nil {
				arrived()
				over = after(r.length)
			}
		case <-ticker.C:
			if err := r.write(r.reader.Clock()); err != nil {
				return err
			}
		case <-over:
			return r.write(r.reader.Clock())
		case <-ctx.Done():
			return cmp.Or(r.write(r.reader.Clock()), context.Cause(ctx))
		}
	}
}

// after tells when a time is over: never if it is 0.
func after(length time.Duration) <-chan time.Time {
	if length == 0 {
		return make(chan time.Time)
	}
	return time.After(length)
}

// demo records a life of the demo cluster, whose time does not have to be waited for.
func (r *recording) demo(ctx context.Context) error {
	snapshot, err := r.reader.ReadDemo()
	if err != nil {
		return err
	}
	life, err := demo.NewLife(sources.DemoSeed, snapshot.Features())
	if err != nil {
		return err
	}
	length := r.length
	if length == 0 {
		length = demoRecorded
	}
	written, end := demo.Now(), demo.Now().Add(length)
	for s := life.Snapshot(); !s.Time().After(end); s = life.Step() {
		if ctx.Err() != nil {
			end = s.Time()
			break
		}
		if err := r.take(s); err != nil {
			return err
		}
		if s.Time().Sub(written) >= recordPause {
			written = s.Time()
			if err := r.write(written); err != nil {
				return err
			}
		}
	}
	return cmp.Or(r.write(end), context.Cause(ctx))
}

// logFile is the file of a log that is being written.
type logFile struct {
	path   string
	file   *os.File
	blocks []history.Block // without their data
	size   int64           // bytes
	made   bool            // it did not exist before
	end    time.Time       // of what was recorded before; zero if nothing was
}

// openLogFile opens a log to go on with it, or makes one. What was not written to its end is taken away.
func openLogFile(path string) (*logFile, error) {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		return nil, errors.New("a log is a file, and this is none")
	}
	made := errors.Is(err, fs.ErrNotExist)
	if _, _, err := replaceTarget(path); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600) //nolint:gosec // writing to the path that the user named is the purpose
	if err != nil {
		return nil, err
	}
	l := &logFile{path: path, file: file, made: made}
	if err := l.resume(); err != nil {
		_ = file.Close() // nothing was written
		return nil, err
	}
	return l, nil
}
