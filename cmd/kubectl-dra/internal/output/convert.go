package output

import (
	"cmp"
	"strconv"
	"time"

	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// each converts a list; the result is never nil, so that it reads [] in JSON.
func each[A, B any](list []A, convert func(A) B) []B {
	out := make([]B, len(list))
	for i, a := range list {
		out[i] = convert(a)
	}
	return out
}

// optional converts a list that is left out when it is empty.
func optional[A, B any](list []A, convert func(A) B) []B {
	if len(list) == 0 {
		return nil
	}
	return each(list, convert)
}

// orEmpty is a list that JSON shows as [] and not as null.
func orEmpty[T any](in []T) []T {
	if in == nil {
		return []T{}
	}
	return in
}

func deviceNames(ids []inspect.DeviceID) []string { return optional(ids, inspect.DeviceID.String) }

// age returns the time since creation as kubectl shows it.
func age(created metav1.Time, now time.Time) string {
	return cmp.Or(words.Age(created.Time, now), "<unknown>")
}

// timestamp returns a time as the API writes it, or "" when it is not known.
func timestamp(t metav1.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// moment is nil for a time that is not known.
func moment(t time.Time) *metav1.Time {
	if t.IsZero() {
		return nil
	}
	return &metav1.Time{Time: t}
}

func orNone(s string) string {
	if s == "" {
		return "<none>"
	}
	return s
}

func countText(n *int) string {
	if n == nil {
		return "-"
	}
	return strconv.Itoa(*n)
}
