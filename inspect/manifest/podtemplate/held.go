package podtemplate

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// kueueLabels begin the names of labels and annotations that Kueue heeds.
const kueueLabels = "kueue.x-k8s.io/"

// queueLabel names the queue of Kueue that admits an object.
const queueLabel = kueueLabels + "queue-name"

// suspending are the fields by which an object says that nothing of it runs. That of a CronJob may also be in
// the Jobs that it makes.
var suspending = []string{"/spec/suspend", "/spec/runPolicy/suspend", "/spec/jobTemplate/spec/suspend"}

// HoldBack finds out why the controller of an object makes no pods of a template. The tree is the object,
// whose pods of the template w stands for.
func HoldBack(w *inspect.Workload, tree map[string]any, meta *metav1.PartialObjectMetadata) {
	queue := meta.Labels[queueLabel]
	w.Kueue = heeded(meta.Labels, meta.Annotations)
	if status := finished(tree); status != "" && w.Type.Kind == "Job" {
		hold(w, "it has finished ("+status+")", "create the Job anew: one that has finished makes no more pods", "", nil)
		return
	}
	for _, pointer := range suspending {
		if suspended, _ := at(tree, pointer).(bool); !suspended {
			continue
		}
		why := "it is suspended (" + dotted(pointer) + ")"
		if queue != "" {
			hold(w, why+", and is for the queue "+queue, "wait until Kueue admits it to the queue "+queue, "", nil)
		} else {
			hold(w, why, fmt.Sprintf("set %s to false", dotted(pointer)), pointer, false)
		}
		w.Held.Suspended = true
		return
	}
	if paused, _ := at(tree, "/spec/paused").(bool); paused && w.Type.Kind == "Deployment" {
		hold(w, "it is paused (spec.paused)", "set spec.paused to false", "/spec/paused", false)
		return
	}
	if w.Type.Kind == "Job" && isZero(at(tree, "/spec/completions")) {
		w.Replicas = ptr.To[int64](0)
		hold(w, "it asks for none (spec.completions)", "create the Job anew with more spec.completions", "", nil)
		return
	}
	if w.Replicas != nil && *w.Replicas == 0 {
		for _, pointer := range []string{"/spec/replicas", "/spec/parallelism", "/spec/jobTemplate/spec/parallelism"} {
			if isZero(at(tree, pointer)) {
				hold(w, "it asks for none ("+dotted(pointer)+")", fmt.Sprintf("set %s to 1 or more", dotted(pointer)), pointer, 1)
				return
			}
		}
		hold(w, "it asks for none", "ask for more than none", "", nil)
		return
	}
	if queue != "" && meta.UID == "" && w.Type.Kind != "Workload" {
		w.Queue = queue
	}
}

// heeded are the labels and annotations that are Kueue's, or nil.
func heeded(all ...map[string]string) map[string]string {
	var out map[string]string
	for _, of := range all {
		for name, value := range of {
			if strings.HasPrefix(name, kueueLabels) {
				if out == nil {
					out = map[string]string{}
				}
				out[name] = value
			}
		}
	}
	return out
}

func hold(w *inspect.Workload, why, until, pointer string, value any) {
	w.Hold(&inspect.Held{
		Why:   fmt.Sprintf("%s %s makes no pods: %s", w.Type.Kind, w.Name, why),
		Until: until, Pointer: pointer, Value: value,
	})
}

// finished is the condition by which a Job has finished, or "".
func finished(tree map[string]any) string {
	conditions, _ := at(tree, "/status/conditions").([]any)
	for _, item := range conditions {
		condition, _ := item.(map[string]any)
		kind, _ := condition["type"].(string)
		if status, _ := condition["status"].(string); status == "True" && slices.Contains([]string{"Complete", "Failed"}, kind) {
			return kind
		}
	}
	return ""
}

func isZero(value any) bool {
	n := number(value)
	return n != nil && *n == 0
}

// at is what stands at a JSON pointer that leads through maps, or nil.
func at(tree map[string]any, pointer string) any {
	var value any = tree
	for key := range strings.SplitSeq(pointer[1:], "/") {
		object, _ := value.(map[string]any)
		value = object[key]
	}
	return value
}

func dotted(pointer string) string { return strings.ReplaceAll(pointer[1:], "/", ".") }
