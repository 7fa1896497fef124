package words

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/util/duration"
)

// Count prints a number of things, as "1 device" or "3 devices".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Plural chooses between the forms for one and for many.
func Plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// Span prints a range of numbers.
func Span(low, high int) string {
	if low == high {
		return strconv.Itoa(low)
	}
	return fmt.Sprintf("%d to %d", low, high)
}

// Shorten joins the first names and counts the rest.
func Shorten(names []string, limit int) string {
	if len(names) <= limit {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:limit], ", "), len(names)-limit)
}

// FirstLine is the first line of a text, for messages of the CEL compiler that go on with a drawing.
func FirstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// OneLine puts a text on one line.
func OneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// LastName is the last part of a field path.
func LastName(path string) string { return path[strings.LastIndexByte(path, '.')+1:] }

// Age prints how old something was at a moment, as kubectl does. It is "" when either is unknown.
func Age(created, now time.Time) string {
	if created.IsZero() || now.IsZero() {
		return ""
	}
	return duration.HumanDuration(now.Sub(created))
}

// FormatTaint prints a taint as key=value:Effect.
func FormatTaint(t *resourcev1.DeviceTaint) string {
	text := t.Key
	if t.Value != "" {
		text += "=" + t.Value
	}
	return text + ":" + string(t.Effect)
}

func Btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Key joins what tells something apart from others of its kind.
func Key(parts ...any) string { return strings.TrimSuffix(fmt.Sprintln(parts...), "\n") }
