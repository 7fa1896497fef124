package validate

import (
	"fmt"
	"slices"

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
	// Since is the minor release from which on the API server refuses the object, or 0 if all do.
	Since int
}

const (
	maxDetailLength  = 400 // bytes of what a library says is wrong
	maxSnippetLength = 60  // bytes of the object's own text within a message
)

// validator gathers the problems of one object.
type validator struct {
	problems []Problem
	spelled  bool // paths are
	since    int  // what is refused now is so from this minor release on
}

// Object returns what is wrong with an object at its newest version that has its defaults, in the order of
// its fields. Of a kind that has no rules here only the metadata is looked at.
func Object(object metav1.Object) []Problem {
	var probe validator
	if probe.object(object); len(probe.problems) == 0 {
		return nil
	}
	v := validator{spelled: true}
	v.object(object)
	return v.problems
}

// object checks an object: functions check what is of a type of the API, methods of validator a single field.
func (v *validator) object(object metav1.Object) {
	checkMetadata(v, object)
	switch object := object.(type) {
	case *resourcev1.ResourceClaim:
		checkClaimSpec(v, &object.Spec, v.at("spec"))
		checkClaimStatus(v, object, v.at("status"))
	case *resourcev1.ResourceClaimTemplate:
		checkTemplateMetadata(v, &object.Spec.ObjectMeta, v.at("spec", "metadata"))
		checkClaimSpec(v, &object.Spec.Spec, v.at("spec", "spec"))
	case *resourcev1.DeviceClass:
		checkClass(v, &object.Spec, v.at("spec"))
	case *resourcev1.ResourceSlice:
		checkSlice(v, &object.Spec, v.at("spec"))
	case *resourcev1.DeviceTaintRule:
		checkTaintRule(v, &object.Spec, v.at("spec"))
	case *corev1.Pod:
		checkPod(v, &object.Spec, v.at("spec"))
	}
}

// refuse records what the API server refuses.
func (v *validator) refuse(e *field.Error) {
	p := Problem{Path: e.Field, Message: e.ErrorBody(), Since: v.since}
	if p.Since > 0 {
		p.Message += fmt.Sprintf(" (from Kubernetes 1.%d on)", p.Since)
	}
	v.problems = append(v.problems, p)
}

// from38 checks what the API server of 1.38 and newer ones refuse, and older ones do not.
func (v *validator) from38(check func()) {
	before := v.since
	v.since = 38
	check()
	v.since = before
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

// each calls check for the items of a list. Those of a list that is too long are left alone, as the API
// server does.
func each[T any](v *validator, list []T, limit int, path place, check func(item *T, at place)) {
	if !v.size(len(list), limit, path) {
		return
	}
	for i := range list {
		check(&list[i], path.Index(i))
	}
}

// unique refuses a key that was seen before.
func unique[K comparable](v *validator, seen map[K]bool, key K, path place) {
	if seen[key] {
		v.refuse(field.Duplicate(path.path, key))
	}
	seen[key] = true
}

// supported refuses a value that is none of those that there are.
func supported[T ~string](v *validator, value T, path place, known ...T) bool {
	if !slices.Contains(known, value) {
		v.refuse(field.NotSupported(path.path, value, known))
		return false
	}
	return true
}

// required refuses an empty value.
func (v *validator) required(value string, path place, detail string) bool {
	if value == "" {
		v.refuse(field.Required(path.path, detail))
	}
	return value != ""
}

// length refuses a text that is too long.
func (v *validator) length(value string, limit int, path place) bool {
	if len(value) > limit {
		v.refuse(field.TooLong(path.path, "", limit))
	}
	return len(value) <= limit
}

// choice is a field of which exactly one may be set.
type choice struct {
	name string
	set  bool
}

// oneOf refuses anything but exactly one field.
func (v *validator) oneOf(path place, names string, choices ...choice) {
	switch set := namesOf(choices); len(set) {
	case 0:
		v.refuse(field.Required(path.path, "exactly one of "+names+" must be set"))
	case 1:
	default:
		v.refuse(field.Forbidden(path.path, fmt.Sprintf("exactly one of %s may be set, not %d: %v", names, len(set), set)))
	}
}

// namesOf are the names of the fields that are set.
func namesOf(choices []choice) (set []string) {
	for _, c := range choices {
		if c.set {
			set = append(set, c.name)
		}
	}
	return set
}
