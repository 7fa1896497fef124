package flowcontrol

import (
	"slices"
	"strconv"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// AutoUpdate is the annotation of levels and FlowSchemas that says whether the API server keeps their spec as it ships them.
const AutoUpdate = flowcontrolv1.AutoUpdateAnnotationKey

// suggestedLevels and suggestedSchemas are the objects that the API server creates and, unless it is told otherwise, keeps as they are
// (k8s.io/apiserver/pkg/apis/flowcontrol/bootstrap). What is mandatory cannot be changed anyway: see RefusedLevel and RefusedSchema.
var (
	suggestedLevels  = []string{"system", "node-high", "leader-election", "workload-high", "workload-low", "global-default"}
	suggestedSchemas = []string{
		"system-nodes", "system-node-high", "probes", "system-leader-election",
		"kube-controller-manager", "kube-scheduler", "kube-system-service-accounts", "service-accounts", "global-default",
	}
)

// TakenBack is a change that the API server takes back, within a minute (pkg/registry/flowcontrol/ensurer).
type TakenBack struct {
	// Kind and Name are those of the object.
	Kind, Name string
	// Certain says that the object has the annotation by which the server does it. Otherwise it is not known, because the
	// objects were written by hand.
	Certain bool
}

// TakesBack returns which changes of levels and FlowSchemas the API server takes back, in the order of their names.
func TakesBack(before, after *inspect.Objects) []TakenBack {
	var out []TakenBack
	add := func(kind string, suggested []string, was, is metav1.Object) {
		if !slices.Contains(suggested, is.GetName()) {
			return
		}
		value, given := is.GetAnnotations()[AutoUpdate]
		if !given && was != nil { // applying a manifest keeps annotations that it does not have
			value = was.GetAnnotations()[AutoUpdate]
		}
		switch kept, err := strconv.ParseBool(value); {
		case err == nil && !kept:
		case err != nil && was != nil && was.GetGeneration() > 1: // somebody has changed it before, and the server has let that be
		default:
			out = append(out, TakenBack{Kind: kind, Name: is.GetName(), Certain: err == nil})
		}
	}
	for _, is := range after.PriorityLevels {
		at := slices.IndexFunc(before.PriorityLevels, func(l *flowcontrolv1.PriorityLevelConfiguration) bool { return l.Name == is.Name })
		switch {
		case at < 0:
			add("PriorityLevelConfiguration", suggestedLevels, nil, is)
		case !equality.Semantic.DeepEqual(before.PriorityLevels[at].Spec, is.Spec):
			add("PriorityLevelConfiguration", suggestedLevels, before.PriorityLevels[at], is)
		}
	}
	for _, is := range after.FlowSchemas {
		at := slices.IndexFunc(before.FlowSchemas, func(f *flowcontrolv1.FlowSchema) bool { return f.Name == is.Name })
		switch {
		case at < 0:
			add("FlowSchema", suggestedSchemas, nil, is)
		case !equality.Semantic.DeepEqual(before.FlowSchemas[at].Spec, is.Spec):
			add("FlowSchema", suggestedSchemas, before.FlowSchemas[at], is)
		}
	}
	return out
}
