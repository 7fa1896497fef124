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
type validator struct {
	problems []Problem
	spelled  bool // paths are
}

// Object returns what is wrong with an object at its newest version that has its defaults, in the order of its
// fields. Of a kind that has no rules here only the metadata is looked at.
func Object(object metav1.Object) []Problem {
	var probe validator
	if probe.object(object); len(probe.problems) == 0 {
		return nil
	}
	v := validator{spelled: true}
	v.object(object)
	return v.problems
}

func (v *validator) object(object metav1.Object) {
	switch object := object.(type) {
	case *resourcev1.ResourceClaim:
		v.metadata(object)
		v.claimSpec(&object.Spec, v.at("spec"))
		v.claimStatus(object, v.at("status"))
	case *resourcev1.ResourceClaimTemplate:
		v.metadata(object)
		v.templateMetadata(&object.Spec.ObjectMeta, v.at("spec", "metadata"))
		v.claimSpec(&object.Spec.Spec, v.at("spec", "spec"))
	case *resourcev1.DeviceClass:
		v.metadata(object)
		v.class(&object.Spec, v.at("spec"))
	case *resourcev1.ResourceSlice:
		v.metadata(object)
		v.slice(&object.Spec, v.at("spec"))
	case *resourcev1.DeviceTaintRule:
		v.metadata(object)
		v.taintRule(&object.Spec, v.at("spec"))
	case *corev1.Pod:
		v.metadata(object)
		v.pod(&object.Spec, v.at("spec"))
	default:
		v.metadata(object)
	}
}

// refuse records what the API server refuses.
func (v *validator) refuse(e *field.Error) {
	v.problems = append(v.problems, Problem{Path: e.Field, Message: e.ErrorBody()})
}

// note records what the API server accepts although it cannot have been meant.
func (v *validator) note(path place, format string, args ...any) {
	v.problems = append(v.problems, Problem{Path: path.path.String(), Message: "accepted, but " + fmt.Sprintf(format, args...), Accepted: true})
}

// size refuses a list that is too long; the caller then leaves its items alone, as the API server does.
func (v *validator) size(length, limit int, path place) bool {
	if length > limit {
		v.refuse(field.TooMany(path.path, length, limit))
	}
	return length <= limit
}

// unique refuses a key that was seen before.
func unique[K comparable](v *validator, seen map[K]bool, key K, path place) {
	if seen[key] {
		v.refuse(field.Duplicate(path.path, key))
	}
	seen[key] = true
}

// oneOf refuses anything but exactly one field.
func (v *validator) oneOf(set []string, path place, choice string) {
	switch len(set) {
	case 0:
		v.refuse(field.Required(path.path, "exactly one of "+choice+" must be set"))
	case 1:
	default:
		v.refuse(field.Forbidden(path.path, fmt.Sprintf("exactly one of %s may be set, not %d: %v", choice, len(set), set)))
	}
}
