package screen

import (
	"fmt"
	"strconv"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/theme"
)

// StateRole is the look of the state of a device.
func StateRole(s inspect.DeviceState) theme.Role {
	switch s {
	case inspect.DeviceFree:
		return theme.Good
	case inspect.DeviceAllocated:
		return theme.Used
	case inspect.DevicePartial:
		return theme.Shared
	case inspect.DeviceTainted:
		return theme.Warn
	}
	return theme.Bad
}

// AttributeText prints the value of an attribute. It is not sanitised.
func AttributeText(a resourcev1.DeviceAttribute) string {
	switch {
	case a.StringValue != nil:
		return *a.StringValue
	case a.IntValue != nil:
		return strconv.FormatInt(*a.IntValue, 10)
	case a.BoolValue != nil:
		return strconv.FormatBool(*a.BoolValue)
	case a.VersionValue != nil:
		return *a.VersionValue
	}
	return strings.Trim(fmt.Sprint(append(append(append(listText(a.StringValues), listText(a.IntValues)...), listText(a.BoolValues)...), listText(a.VersionValues)...)), "[]")
}

func listText[T any](values []T) []string {
	var texts []string
	for _, v := range values {
		texts = append(texts, fmt.Sprint(v))
	}
	return texts
}
