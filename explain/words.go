package explain

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/util/duration"
)

// count prints a number of things, as "1 device" or "3 devices".
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// plural chooses between the forms for one and for many.
func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// span prints a range of numbers.
func span(low, high int) string {
	if low == high {
		return strconv.Itoa(low)
	}
	return fmt.Sprintf("%d to %d", low, high)
}

// shorten joins the first names and counts the rest.
func shorten(names []string, limit int) string {
	if len(names) <= limit {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:limit], ", "), len(names)-limit)
}

// firstLine is the first line of a text, for messages of the CEL compiler that go on with a drawing.
func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// oneLine puts a text on one line.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// lastName is the last part of a field path.
func lastName(path string) string { return path[strings.LastIndexByte(path, '.')+1:] }

// age prints how old something was at a moment, as kubectl does. It is "" when either is unknown.
func age(created, now time.Time) string {
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
