package explain

import (
	"context"
	"slices"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/inquiry"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/sources"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output/diffs"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/flip"
	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/text"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// The search looks at so many moments besides those that a search by halves does: at fewer in a cluster of
// more than a few hundred objects, where each takes longer.
const (
	mostSinceLooks  = 400
	leastSinceLooks = 16
	sinceObjects    = 400_000 // objects in all of them
)

// maxSinceTrials is how many verdicts there are at most to find, of all that changed in one moment, what did
// it.
const maxSinceTrials = 300

// sinceKinds are the kinds of which it can be asked since when they do not fit.
var sinceKinds = []inquiry.Kind{inquiry.Claim, inquiry.Pod}

// sinceSearch is a search for the moment at which a claim or pod stopped fitting.
type sinceSearch struct {
	*explainOptions
	log  *sources.Log
	more *inspect.Objects // of files besides the log; may be nil
}

// explainSince says when something stopped fitting, and by which change.
func explainSince(ctx context.Context, o *explainOptions) error {
	if len(o.Asked) != 1 || len(o.Files) > 0 || !isSinceKind(o.Asked[0]) || o.Node != "" {
		return console.Usagef("--since is about one claim or pod of a log: explain claim NAME --from LOG --since")
	}
	path, rest, err := sources.SplitLog(o.Reader.From)
	if err != nil {
		return err
	}
	if path == "" {
		return console.Usagef("--since looks into a log of kubectl dra record: give it with --from")
	}
	search := &sinceSearch{explainOptions: o}
	if search.log, err = o.Reader.OpenLog(path); err != nil {
		return err
	}
	defer search.log.Close() //nolint:errcheck // nothing was written
	if search.more, err = o.Reader.ReadMore(ctx, rest); err != nil {
		return err
	}
	answer, err := search.run(ctx)
	if err != nil {
		return err
	}
	return o.Answer(diffs.NewSince(answer), console.InLines(func(opts text.Options) []styled.Line { return diffs.SinceLines(answer, opts.Width) }), console.VerdictCode(answer.Verdict))
}

func isSinceKind(n inquiry.Named) bool {
	return n.Kind.Owner == nil && n.Unknown == nil && slices.ContainsFunc(sinceKinds, func(k inquiry.Kind) bool { return k.Kind == n.Kind.Kind })
}

// at returns the cluster at a moment, with what is given besides.
func (f *sinceSearch) at(ctx context.Context, moment int) (*inspect.Snapshot, error) {
	s, err := f.log.Snapshot(ctx, moment)
	if err != nil {
		return nil, err
	}
	return f.Reader.OnTop(s, f.more), nil
}

func (f *sinceSearch) run(ctx context.Context) (*diffs.SinceAnswer, error) {
	end, now, err := f.Reader.MomentOf(ctx, f.log, f.Reader.At)
	if err != nil {
		return nil, err
	}
	s, err := f.at(ctx, end)
	if err != nil {
		return nil, err
	}
	object, ok := f.Object(s, f.Asked[0])
	if !ok {
		return nil, inquiry.NotFound(s, f.Asked[0].Kind, f.Namespace, f.Asked[0].Name)
	}
	answer := &diffs.SinceAnswer{Subject: explain.Subject{Kind: f.Asked[0].Kind.Kind, Namespace: object.GetNamespace(), Name: object.GetName()}, Now: now, Moments: end + 1}
	answer.From, _ = f.log.Span()
	judge := flip.NewJudge(s, answer.Subject)
	if answer.Verdict, err = judge.Verdict(ctx, s); err != nil || flip.Fits(answer.Verdict) {
		return answer, err
	}
	verdicts := map[int]explain.Verdict{end: answer.Verdict}
	fits := func(ctx context.Context, moment int) (bool, error) {
		if v, known := verdicts[moment]; known {
			return flip.Fits(v), nil
		}
		s, err := f.at(ctx, moment)
		if err != nil {
			return false, err
		}
		verdicts[moment], err = judge.Verdict(ctx, s)
		return flip.Fits(verdicts[moment]), err
	}
	last, err := flip.Last(ctx, end+1, fits)
	if err == nil {
		last, answer.LookedAtAll, err = flip.Later(ctx, end+1, last, sinceLooks(s), fits)
	}
	if answer.Looked = len(verdicts); err != nil || last < 0 {
		return answer, err
	}
	answer.Found, answer.Before, answer.After = true, verdicts[last], verdicts[last+1]
	return answer, f.culprits(ctx, judge, last, answer)
}

// sinceLooks is how many moments of a cluster are looked at.
func sinceLooks(s *inspect.Snapshot) int {
	objects := 1
	for _, k := range inspect.Kinds() {
		objects += len(k.Objects(s.Objects()))
	}
	return max(leastSinceLooks, min(mostSinceLooks, sinceObjects/objects))
}

// culprits adds when it was, and what did it.
func (f *sinceSearch) culprits(ctx context.Context, judge *flip.Judge, last int, answer *diffs.SinceAnswer) error {
	before, err := f.at(ctx, last)
	if err != nil {
		return err
	}
	after, err := f.at(ctx, last+1)
	if err != nil {
		return err
	}
	answer.LastFit, answer.At = before.Time(), after.Time()
	answer.Supposed = !judge.Exists(before)
	for _, gap := range f.log.Gaps() {
		if gap.To.Equal(answer.At) {
			answer.Gap = gap.From
		}
	}
	step, err := flip.NewStep(before, after)
	if err != nil {
		return err
	}
	answer.By, err = judge.Culprits(ctx, step, answer.Before, answer.After, nil, maxSinceTrials)
	return err
}
