package inspect

import (
	"slices"
	"strconv"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/utils/ptr"
)

// modelNames are the attributes that say what kind of device it is, without domain and in lower case, the
// best first.
var modelNames = []string{"model", "productname", "product", "profile", "type", "devicetype", "kind"}

// ModelOf returns what kind of device it is, as far as one of the usual attributes tells, or "". It is what
// the driver says, not sanitised.
func ModelOf(d *resourcev1.Device) string {
	at, text := len(modelNames), ""
	for name, a := range d.Attributes {
		short := strings.ToLower(string(name))
		i := slices.Index(modelNames, short[strings.LastIndexByte(short, '/')+1:])
		if i < 0 || i > at {
			continue
		}
		if own := modelText(&a); i < at || own < text {
			at, text = i, own
		}
	}
	return text
}

// modelText is the value of an attribute as people write it.
func modelText(a *resourcev1.DeviceAttribute) string {
	switch {
	case a.IntValue != nil:
		return strconv.FormatInt(*a.IntValue, 10)
	case a.BoolValue != nil:
		return strconv.FormatBool(*a.BoolValue)
	case a.VersionValue != nil:
		return *a.VersionValue
	case len(a.StringValues) > 0:
		return strings.Join(a.StringValues, " ")
	}
	return ptr.Deref(a.StringValue, "")
}
