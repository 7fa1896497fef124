package validate

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// A Problem is something in one object that the API server would refuse, or that it accepts although it
// cannot have been meant.
type Problem struct {
	// Path is the field at fault, as "spec.devices.requests[0].name".
	Path string
	// Message says what is wrong with it. It quotes the object, so it is unsafe to print.
	Message string
	// Accepted: the API server takes the object nevertheless, although the field cannot have been meant so.
	Accepted bool
}

const (
	maxDetailLength  = 400 // bytes of what a library says is wrong
	maxSnippetLength = 60  // bytes of the object's own text within a message
)

// validator gathers the problems of one object.
type validator struct{ problems []Problem }

// Object returns what is wrong with an object at its newest version that has its defaults, in the order of its
// fields. Of a kind that has no rules here only the metadata is looked at.
func Object(object metav1.Object) []Problem {
	var v validator
	switch object := object.(type) {
	case *resourcev1.ResourceClaim:
		v.metadata(object)
		v.claimSpec(&object.Spec, field.NewPath("spec"))
		v.claimStatus(object, field.NewPath("status"))
	case *resourcev1.ResourceClaimTemplate:
		v.metadata(object)
		v.templateMetadata(&object.Spec.ObjectMeta, field.NewPath("spec", "metadata"))
		v.claimSpec(&object.Spec.Spec, field.NewPath("spec", "spec"))
	case *resourcev1.DeviceClass:
		v.metadata(object)
		v.class(&object.Spec, field.NewPath("spec"))
	case *resourcev1.ResourceSlice:
		v.metadata(object)
		v.slice(&object.Spec, field.NewPath("spec"))
	case *resourcev1.DeviceTaintRule:
		v.metadata(object)
		v.taintRule(&object.Spec, field.NewPath("spec"))
	case *corev1.Pod:
		v.metadata(object)
		v.pod(&object.Spec, field.NewPath("spec"))
	default:
		v.metadata(object)
	}
	return v.problems
}

// refuse records what the API server refuses.
func (v *validator) refuse(e *field.Error) {
	v.problems = append(v.problems, Problem{Path: e.Field, Message: e.ErrorBody()})
}

// note records what the API server accepts although it cannot have been meant.
func (v *validator) note(path *field.Path, format string, args ...any) {
	v.problems = append(v.problems, Problem{Path: path.String(), Message: "accepted, but " + fmt.Sprintf(format, args...), Accepted: true})
}

// size refuses a list that is too long; the caller then leaves its items alone, as the API server does.
func (v *validator) size(length, limit int, path *field.Path) bool {
	if length > limit {
		v.refuse(field.TooMany(path, length, limit))
	}
	return length <= limit
}

// unique refuses a key that was seen before.
func unique[K comparable](v *validator, seen map[K]bool, key K, path *field.Path) {
	if seen[key] {
		v.refuse(field.Duplicate(path, key))
	}
	seen[key] = true
}

// oneOf refuses anything but exactly one field.
func (v *validator) oneOf(set []string, path *field.Path, choice string) {
	switch len(set) {
	case 0:
		v.refuse(field.Required(path, "exactly one of "+choice+" must be set"))
	case 1:
	default:
		v.refuse(field.Forbidden(path, fmt.Sprintf("exactly one of %s may be set, not %d: %v", choice, len(set), set)))
	}
}
