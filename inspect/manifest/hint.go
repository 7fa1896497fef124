package manifest

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

var (
	unknownField   = regexp.MustCompile(`^unknown field "(.*)"$`)
	duplicateField = regexp.MustCompile(`^duplicate field "(.*)"$`)
	deviceField    = regexp.MustCompile(`^(spec\.devices\[\d+\]\.)([a-z])`)
)

const unknownMessage = "unknown field; it is ignored"

// isNewer reports whether fields of an object that a server has made, and that are not known, are newer than
// this program: a server drops what it does not know itself. Fields that there were once have a hint, and
// count only of a server that is known to be newer.
func isNewer(complaints []error, h head, newer bool) bool {
	return slices.ContainsFunc(complaints, func(complaint error) bool {
		m := unknownField.FindStringSubmatch(complaint.Error())
		return m != nil && (newer || unknownFieldHint(m[1], h) == "")
	})
}

// explainComplaint turns a complaint of the strict decoder into a field path and a message. For the
// mistakes that people make with these kinds, the message says how it is right.
func explainComplaint(complaint string, h head) (path, message string) {
	if m := duplicateField.FindStringSubmatch(complaint); m != nil {
		return m[1], "the field is given twice; the last value counts"
	}
	m := unknownField.FindStringSubmatch(complaint)
	if m == nil {
		return "", complaint
	}
	path, message = m[1], unknownMessage
	if hint := unknownFieldHint(path, h); hint != "" {
		message += " (" + hint + ")"
	}
	return path, message
}

// A fieldHint explains an unknown field by the end of its path and the object that it stands in.
type fieldHint struct {
	kinds    string // the kinds it is about, separated by spaces
	newShape bool   // only at v1beta2 and v1
	oldShape bool   // only at v1beta1 and v1alpha3
	suffix   *regexp.Regexp
	text     string
}

// fieldHints is the table of hints, compiled when the first unknown field is met.
var fieldHints = sync.OnceValue(func() []fieldHint {
	const claims = "ResourceClaim ResourceClaimTemplate"
	at := regexp.MustCompile
	return []fieldHint{
		{kinds: claims + " DeviceClass", suffix: at(`selectors\[\d+\]\.expression$`),
			text: "expression belongs one level deeper, under cel: indent it further, so this selector now has no expression"},
		{kinds: claims, newShape: true, suffix: at(`requests\[\d+\]\.(deviceClassName|selectors|allocationMode|count|adminAccess|tolerations|capacity)$`),
			text: "since v1beta2 it belongs under exactly; only v1beta1 has it here"},
		{kinds: claims, oldShape: true, suffix: at(`requests\[\d+\]\.exactly$`),
			text: "exactly exists since v1beta2; write its fields directly in the request, or use resource.k8s.io/v1"},
		{kinds: claims, suffix: at(`requests\[\d+\]\.device$`),
			text: "write deviceClassName under exactly, in resource.k8s.io/v1"},
		{kinds: claims, suffix: at(`^spec\.(spec\.)?(requests|constraints|config)$`),
			text: "it belongs under spec.devices; a template has it under spec.spec.devices"},
		{kinds: claims, suffix: at(`requests\[\d+\]\.exactly\.(name|constraints|config)$`),
			text: "it belongs one level further out"},
		{kinds: claims, suffix: at(`devices\.(deviceClassName|selectors|allocationMode|count|adminAccess|tolerations|capacity)$`),
			text: "it belongs into a request, further in"},
		{kinds: "ResourceSlice", newShape: true, suffix: at(`devices\[\d+\]\.basic$`),
			text: "since v1beta2 the fields under basic belong to the device itself, so this device now has no attributes and no capacity"},
		{kinds: "ResourceSlice", oldShape: true, suffix: at(`devices\[\d+\]\.(attributes|capacity|taints|consumesCounters)$`),
			text: "v1beta1 has it under basic; use resource.k8s.io/v1 to have it here"},
		{kinds: "DeviceTaintRule", suffix: at(`deviceSelector\.(deviceClassName|selectors)$`),
			text: "removed in Kubernetes 1.35: the rule now hits every device that the other criteria select"},
		{kinds: "Pod", suffix: at(`resourceClaims\[\d+\]\.source$`),
			text: "since Kubernetes 1.31 resourceClaimName and resourceClaimTemplateName belong to the entry itself"},
		{kinds: "Pod", suffix: at(`(?i)^spec\.resourceclaims?$`), text: "field names are case-sensitive: resourceClaims"},
		{kinds: "ResourceClaim", suffix: at(`^(spec\.controller|spec\.resourceClassName|spec\.allocationMode|spec\.parametersRef|status\.deallocationRequested|status\.allocation\.controller)$`),
			text: "removed with classic DRA"},
		{kinds: "DeviceClass", suffix: at(`^spec\.suitableNodes$`), text: "removed with classic DRA"},
	}
})

func unknownFieldHint(path string, h head) string {
	old := strings.HasSuffix(h.apiVersion, "/v1beta1") || strings.HasSuffix(h.apiVersion, "/v1alpha3")
	for _, hint := range fieldHints() {
		if hint.newShape && old || hint.oldShape && !old {
			continue
		}
		if strings.Contains(" "+hint.kinds+" ", " "+h.kind+" ") && hint.suffix.MatchString(path) {
			return hint.text
		}
	}
	return ""
}

// userPath turns a field path of the newest version into the one that the user wrote.
func (k kind) userPath(newest string) string {
	if !k.flat {
		return newest
	}
	newest = strings.Replace(newest, ".exactly", "", 1)
	if m := deviceField.FindStringSubmatchIndex(newest); m != nil && !strings.HasSuffix(newest, "].name") {
		return newest[:m[3]] + "basic." + newest[m[3]:]
	}
	return newest
}
