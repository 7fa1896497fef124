package words

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/util/duration"
)

// Count is a number of things, as "1 device" or "3 devices". The plural of the noun must end in s.
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Counts is how much there is of what can be stuck, as "2 pods, 1 claim and 1 workload".
func Counts(pods, claims, workloads int) string {
	var parts []string
	for _, of := range []struct {
		n    int
		noun string
	}{{pods, "pod"}, {claims, "claim"}, {workloads, "workload"}} {
		if of.n > 0 {
			parts = append(parts, Count(of.n, of.noun))
		}
	}
	if len(parts) == 0 {
		return Count(0, "pod")
	}
	return And(parts)
}

// Plural is one if n is 1, and many otherwise.
func Plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// Span is a range of numbers, as "2 to 4", or one number if both are the same.
func Span(low, high int) string {
	if low == high {
		return strconv.Itoa(low)
	}
	return fmt.Sprintf("%d to %d", low, high)
}

// And is a list of names as "a, b and c".
func And(names []string) string {
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// Or is a list of names as "a, b or c".
func Or(names []string) string {
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// Each returns what f makes of each element of a list, as names of things.
func Each[T, U any](list []T, f func(T) U) []U {
	out := make([]U, len(list))
	for i, e := range list {
		out[i] = f(e)
	}
	return out
}

// Keep is what is to be kept of a list, which stays as it is.
func Keep[T any](list []T, keep func(T) bool) []T {
	var out []T
	for _, e := range list {
		if keep(e) {
			out = append(out, e)
		}
	}
	return out
}

// AppendNew appends what a list does not have yet.
func AppendNew[T comparable](list []T, more ...T) []T {
	for _, e := range more {
		if !slices.Contains(list, e) {
			list = append(list, e)
		}
	}
	return list
}

// Group is what of a list has the same key.
type Group[K comparable, T any] struct {
	Key K
	Of  []T
}

// Groups puts together what of a list has the same key, in the order of the first of each.
func Groups[K comparable, T any](list []T, key func(T) K) []Group[K, T] {
	var out []Group[K, T]
	at := map[K]int{}
	for _, e := range list {
		k := key(e)
		i, known := at[k]
		if !known {
			i = len(out)
			at[k], out = i, append(out, Group[K, T]{Key: k})
		}
		out[i].Of = append(out[i].Of, e)
	}
	return out
}

// Strings are texts of a type of their own as plain ones.
func Strings[T ~string](list []T) []string {
	return Each(list, func(text T) string { return string(text) })
}

// Shorten joins at most limit names with commas and counts the rest, as "a, b and 3 more".
func Shorten(names []string, limit int) string {
	if len(names) <= limit {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:limit], ", "), len(names)-limit)
}

// FirstLine is the first line of a text. Messages of the CEL compiler continue with a drawing of the
// expression, which does not belong into a sentence.
func FirstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// OneLine replaces every run of white space in a text by one blank, so that it takes one line.
func OneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// LastName is the part of a field path after the last dot.
func LastName(path string) string { return path[strings.LastIndexByte(path, '.')+1:] }

// Age says how old something was at a moment, as kubectl prints it. It is "" if either time is zero.
func Age(created, now time.Time) string {
	if created.IsZero() || now.IsZero() {
		return ""
	}
	return duration.HumanDuration(max(0, now.Sub(created))) // clocks differ
}

// FormatTaint is a taint as key=value:Effect, or key:Effect if it has no value.
func FormatTaint(t *resourcev1.DeviceTaint) string {
	text := t.Key
	if t.Value != "" {
		text += "=" + t.Value
	}
	return text + ":" + string(t.Effect)
}

// Btoi is 1 for true and 0 for false. Rankings compare lists of numbers.
func Btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Key joins what distinguishes something from others of its kind. Keys are compared and never shown.
func Key(parts ...any) string { return strings.TrimSuffix(fmt.Sprintln(parts...), "\n") }

// Minutes says how long something takes that most often takes whole minutes, such as "10 minutes".
func Minutes(d time.Duration) string {
	if d%time.Minute == 0 {
		return Count(int(d.Minutes()), "minute")
	}
	return d.String()
}
