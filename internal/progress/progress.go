// Package progress carries how far long work is from where it is done to where it is shown. No answer depends
// on it.
package progress

import (
	"context"
	"sync/atomic"
)

// Report hears what work is at: doing, such as "placing pods", and how many steps of it are done of how many.
// If that is not counted, of is 0. It may be called very often, and by several goroutines at once, of which
// one that has done more may come first.
type Report func(doing string, done, of int)

type key struct{}

// With has report told what is done with the context.
func With(ctx context.Context, report Report) context.Context {
	return context.WithValue(ctx, key{}, report)
}

// Say tells what the work is at from now on, where steps cannot be counted or take very different times.
func Say(ctx context.Context, doing string) {
	if report, _ := ctx.Value(key{}).(Report); report != nil {
		report(doing, 0, 0)
	}
}

// Begin tells of work of some steps that take about the same time. step is to be called after each, by any
// goroutine. What is done with the context within tells of nothing itself.
func Begin(ctx context.Context, doing string, of int) (within context.Context, step func()) {
	report, _ := ctx.Value(key{}).(Report)
	if report == nil || of == 0 {
		return ctx, func() {}
	}
	report(doing, 0, of)
	var done atomic.Int64
	return With(ctx, nil), func() { report(doing, int(done.Add(1)), of) }
}
