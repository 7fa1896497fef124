package lifecycle

import (
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kubectl-dra/kubectl-dra/explain/words"
)

// ago says how long ago a moment was, between texts that go before and after it. It is "" if that is not
// known.
func (b *builder) ago(at time.Time, around ...string) string {
	age := words.Age(at, b.s.Time())
	if age == "" {
		return ""
	}
	return around[0] + age + strings.Join(around[1:], "")
}

// over says how long something went on. It is "" if that was but a moment.
func over(first, last time.Time) string {
	if age := words.Age(first, last); age != "" && last.Sub(first) >= time.Second {
		return " over " + age
	}
	return ""
}

// left says how long it is until a moment. It is "" if that is not known or the moment has passed.
func (b *builder) left(until time.Time) string {
	now := b.s.Time()
	if until.IsZero() || now.IsZero() || !until.After(now) {
		return ""
	}
	return duration.HumanDuration(until.Sub(now).Round(time.Second))
}
