package selector

import (
	"strconv"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
)

// FormatAttribute prints the value of an attribute in CEL's notation, or "" when it has none.
func FormatAttribute(a *resourcev1.DeviceAttribute) string {
	switch {
	case a.IntValues != nil:
		return formatList(a.IntValues, func(v int64) string { return strconv.FormatInt(v, 10) })
	case a.BoolValues != nil:
		return formatList(a.BoolValues, strconv.FormatBool)
	case a.StringValues != nil:
		return formatList(a.StringValues, strconv.Quote)
	case a.VersionValues != nil:
		return formatList(a.VersionValues, formatVersion)
	case a.IntValue != nil:
		return strconv.FormatInt(*a.IntValue, 10)
	case a.BoolValue != nil:
		return strconv.FormatBool(*a.BoolValue)
	case a.StringValue != nil:
		return strconv.Quote(*a.StringValue)
	case a.VersionValue != nil:
		return formatVersion(*a.VersionValue)
	}
	return ""
}

func formatVersion(v string) string { return "semver(" + strconv.Quote(v) + ")" }

func formatList[T any](values []T, format func(T) string) string {
	var parts []string
	for _, v := range values {
		parts = append(parts, format(v))
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// PlainAttribute prints the value of an attribute for reading: strings and versions without quotes, and the
// values of a list one after the other. It is "" for an attribute without a value.
func PlainAttribute(a *resourcev1.DeviceAttribute) string {
	switch {
	case a.StringValue != nil:
		return *a.StringValue
	case a.VersionValue != nil:
		return *a.VersionValue
	case a.StringValues != nil:
		return strings.Join(a.StringValues, " ")
	case a.VersionValues != nil:
		return strings.Join(a.VersionValues, " ")
	case a.IntValues != nil || a.BoolValues != nil:
		return strings.ReplaceAll(strings.Trim(FormatAttribute(a), "[]"), ", ", " ")
	}
	return FormatAttribute(a)
}
