package validate

import (
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/validate/content"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// checkMetadata checks the name, which is a DNS subdomain for every kind read here, the namespace and the
// labels.
func checkMetadata(v *validator, object metav1.Object) {
	path := v.at("metadata")
	if name := object.GetName(); name != "" { // else it is left out
		v.messages(name, path.Child("name"), filledIn(name, validation.IsDNS1123Subdomain(name)))
	}
	if namespace := object.GetNamespace(); namespace != "" {
		v.messages(namespace, path.Child("namespace"), filledIn(namespace, validation.IsDNS1123Label(namespace)))
	}
	labels := object.GetLabels()
	for key := range keys(v, labels) {
		at := path.Child("labels").Key(inspect.SanitizeShort(key, maxSnippetLength))
		v.messages(key, at, filledIn(key, content.IsLabelKey(key)))
		v.messages(labels[key], at, filledIn(labels[key], validation.IsValidLabelValue(labels[key])))
	}
}

// filledIn puts what is wrong with a value into few words where it is a variable for which nothing was filled
// in, as envsubst and the like do.
func filledIn(value string, messages []string) []string {
	if len(messages) > 0 && (strings.Contains(value, "${") || strings.Contains(value, "$(")) {
		return []string{"nothing was filled in for the variable"}
	}
	return messages
}

func (v *validator) messages(value string, path place, messages []string) {
	for _, message := range messages {
		v.refuse(field.Invalid(path.path, inspect.SanitizeShort(value, maxSnippetLength), message))
	}
}

// label checks a name that must be a DNS label: requests, devices, counter sets, counters, groups.
func (v *validator) label(value string, path place) {
	if v.required(value, path, "") {
		v.messages(value, path, validation.IsDNS1123Label(value))
	}
}

// driver checks a driver name, or the domain of a qualified name: a DNS subdomain of at most 63 bytes,
// in either case.
func (v *validator) driver(value string, path place) {
	if v.required(value, path, "") {
		v.length(value, resourcev1.DriverNameMaxLength, path)
		v.messages(value, path, validation.IsDNS1123Subdomain(strings.ToLower(value)))
	}
}

// poolName checks DNS subdomains separated by slashes, at most 253 bytes in all.
func (v *validator) poolName(value string, path place) {
	if !v.required(value, path, "") {
		return
	}
	v.length(value, resourcev1.PoolNameMaxLength, path)
	for part := range strings.SplitSeq(value, "/") {
		v.messages(part, path, validation.IsDNS1123Subdomain(part))
	}
}

// qualifiedName checks the name of an attribute or capacity: a C identifier of at most 32 bytes, after
// at most one domain and slash.
func (v *validator) qualifiedName(value string, path place) {
	domain, id, qualified := strings.Cut(value, "/")
	switch {
	case !qualified:
		id = value
	case domain == "":
		v.refuse(field.Invalid(path.path, value, "the domain before the slash is empty"))
	case strings.Contains(id, "/"):
		v.from38(func() {
			v.refuse(field.Invalid(path.path, inspect.SanitizeShort(value, maxSnippetLength), "there is more than one slash"))
		})
		return
	default:
		v.driver(domain, path)
	}
	if id == "" {
		v.refuse(field.Invalid(path.path, value, "the name is empty"))
		return
	}
	v.length(id, resourcev1.DeviceMaxIDLength, path)
	v.messages(id, path, content.IsCIdentifier(id))
}

// fullyQualifiedName checks a qualified name that must have a domain.
func (v *validator) fullyQualifiedName(value string, path place) {
	if !strings.Contains(value, "/") {
		v.refuse(field.Invalid(path.path, inspect.SanitizeShort(value, maxSnippetLength), "the domain is missing: write <domain>/<name>, such as gpu.example.com/numa"))
		return
	}
	v.qualifiedName(value, path)
}

// labelKey checks a name with the syntax of a label key: taint keys and condition types.
func (v *validator) labelKey(value string, path place) {
	v.messages(value, path, content.IsLabelKey(value))
}

// checkTemplateMetadata allows only what a template copies into the claims made from it.
func checkTemplateMetadata(v *validator, meta *metav1.ObjectMeta, path place) {
	for _, f := range []struct{ name, value string }{
		{"name", meta.Name}, {"generateName", meta.GenerateName}, {"namespace", meta.Namespace},
	} {
		if f.value != "" {
			v.refuse(field.Forbidden(path.Child(f.name).path, "a template may give labels and annotations only"))
		}
	}
}
