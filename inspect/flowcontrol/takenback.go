package flowcontrol

import (
	"slices"
	"strconv"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/apis/flowcontrol/bootstrap"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// AutoUpdate is the annotation of levels and FlowSchemas that says whether the API server keeps their spec as
// it ships them.
const AutoUpdate = flowcontrolv1.AutoUpdateAnnotationKey

// TakenBack is a change that the API server takes back, within a minute (pkg/registry/flowcontrol/ensurer).
type TakenBack struct {
	// Kind and Name are those of the object.
	Kind, Name string
	// Certain says that the object has the annotation by which the server does it. Otherwise it is not known,
	// because the objects were written by hand.
	Certain bool
}

// TakesBack returns which changes of levels and FlowSchemas the API server takes back: those of the objects
// that it creates itself and, unless it is told otherwise, keeps as they are. What is mandatory cannot be
// changed anyway: see RefusedLevel and RefusedSchema.
func TakesBack(before, after *inspect.Objects) []TakenBack {
	levelSpec := func(l *flowcontrolv1.PriorityLevelConfiguration) any { return l.Spec }
	schemaSpec := func(f *flowcontrolv1.FlowSchema) any { return f.Spec }
	return append(
		takesBack("PriorityLevelConfiguration", bootstrap.SuggestedPriorityLevelConfigurations, before.PriorityLevels, after.PriorityLevels, levelSpec),
		takesBack("FlowSchema", bootstrap.SuggestedFlowSchemas, before.FlowSchemas, after.FlowSchemas, schemaSpec)...)
}

func takesBack[T metav1.Object](kind string, suggested, before, after []T, spec func(T) any) []TakenBack {
	var out []TakenBack
	for _, is := range after {
		sameName := func(o T) bool { return o.GetName() == is.GetName() }
		if !slices.ContainsFunc(suggested, sameName) {
			continue
		}
		value, given := is.GetAnnotations()[AutoUpdate]
		changedBefore := false
		if at := slices.IndexFunc(before, sameName); at >= 0 {
			was := before[at]
			if equality.Semantic.DeepEqual(spec(was), spec(is)) {
				continue
			}
			if !given { // applying a manifest keeps annotations that it does not have
				value = was.GetAnnotations()[AutoUpdate]
			}
			changedBefore = was.GetGeneration() > 1
		}
		switch kept, err := strconv.ParseBool(value); {
		case err == nil && !kept:
		case err != nil && changedBefore: // by somebody, and the server has let that be
		default:
			out = append(out, TakenBack{Kind: kind, Name: is.GetName(), Certain: err == nil})
		}
	}
	return out
}
