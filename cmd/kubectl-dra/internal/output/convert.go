package output

import (
	"cmp"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Optional converts a list that is left out when it is empty.
func Optional[A, B any](list []A, convert func(A) B) []B {
	if len(list) == 0 {
		return nil
	}
	return words.Each(list, convert)
}

// Maybe converts what may not be there.
func Maybe[A, B any](a *A, convert func(A) B) *B {
	if a == nil {
		return nil
	}
	b := convert(*a)
	return &b
}

// OrEmpty is a list that JSON shows as [] and not as null.
func OrEmpty[T any](in []T) []T {
	if in == nil {
		return []T{}
	}
	return in
}

// DeviceNames are driver/pool/device of each.
func DeviceNames(ids []inspect.DeviceID) []string { return Optional(ids, inspect.DeviceID.String) }

// age returns the time since creation as kubectl shows it.
func age(created metav1.Time, now time.Time) string {
	return cmp.Or(words.Age(created.Time, now), "<unknown>")
}

// Timestamp returns a time as the API writes it, or "" when it is not known.
func Timestamp(t metav1.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// Stamp is a time as the API writes it.
func Stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// OptionalTime is nil for a time that is not known.
func OptionalTime(t time.Time) *metav1.Time {
	if t.IsZero() {
		return nil
	}
	return &metav1.Time{Time: t}
}

// OptionalUTC is nil for a time that is not known.
func OptionalUTC(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

// OrNone is what a table shows for a text that may be empty.
func OrNone(s string) string { return cmp.Or(s, "<none>") }

// CountText is what a table shows for a number that may not be known.
func CountText(n *int) string {
	if n == nil {
		return "-"
	}
	return strconv.Itoa(*n)
}
