package manifest

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	kjson "sigs.k8s.io/json"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest/validate"
	"github.com/kubectl-dra/kubectl-dra/inspect/quantity"
)

// workload is what prepare finds out about one pod template.
type workload struct {
	*inspect.Workload
	template   *podTemplate
	complaints []error
	invalid    []validate.Problem
	err        *Error // why the template cannot be decoded
}

// notWorkloads are kinds that hold copies of what other objects ask for.
var notWorkloads = []string{"ControllerRevision", "CustomResourceDefinition"}

// oneByDefault are kinds that have one pod of a template where they do not say how many.
var oneByDefault = map[string]bool{
	"Deployment": true, "ReplicaSet": true, "StatefulSet": true, "ReplicationController": true, "Job": true, "CronJob": true,
	"JobSet": true, "LeaderWorkerSet": true, "VirtualMachine": true, "VirtualMachineInstance": true,
	"VirtualMachineInstanceReplicaSet": true, "VirtualMachinePool": true,
}

// workloadsIn finds the pod templates of an object of a kind that is not read otherwise. It only reads the collector.
func (c *collector) workloadsIn(p *pending) []workload {
	raw := p.text.data[p.at.from:p.at.to]
	if !c.opts.Workloads || slices.Contains(notWorkloads, p.head.kind) || c.tooLargeToSearch(raw) ||
		!bytes.Contains(raw, []byte(`"containers"`)) && !bytes.Contains(raw, []byte(`"resourceClaims"`)) {
		return nil
	}
	tree, meta := map[string]any{}, metav1.PartialObjectMetadata{}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if decoder.Decode(&tree) != nil || kjson.UnmarshalCaseSensitivePreserveInts(raw, &meta) != nil {
		return nil // syntax errors are found elsewhere; an object without proper metadata is none
	}
	templates := findPodTemplates(tree)
	var out []workload
	for i := range templates {
		out = append(out, c.workloadOf(p, tree, &templates[i], &meta, len(templates) > 1))
	}
	return out
}

// tooLargeToSearch applies the limits on objects that are decoded to those that are only looked into.
func (c *collector) tooLargeToSearch(raw []byte) bool {
	return len(raw) > c.limits.object || len(raw) > c.limits.values && bytes.Count(raw, []byte(",")) > c.limits.values
}

// workloadOf decodes a template as a pod.
func (c *collector) workloadOf(p *pending, tree map[string]any, t *podTemplate, meta *metav1.PartialObjectMetadata, several bool) workload {
	name := meta.Name
	if name == "" {
		name = strings.TrimSuffix(meta.GenerateName, "-")
	}
	w := workload{template: t, Workload: &inspect.Workload{
		Type: metav1.TypeMeta{APIVersion: p.head.apiVersion, Kind: p.head.kind}, Name: name,
		Path: t.path(), SpecPointer: t.pointer(), Replicas: t.replicas, Unseen: t.unseen, Controller: metav1.GetControllerOf(meta),
	}}
	switch {
	case p.head.kind == "DaemonSet":
		w.Replicas, w.EachNode = nil, true
	case t.replicas == nil && oneByDefault[p.head.kind]:
		w.Replicas = ptr.To[int64](1)
	}
	k, _ := kindOf("v1", "Pod")
	raw, err := json.Marshal(podOf(t))
	if err != nil {
		w.err = &Error{Path: t.path(), Detail: err.Error(), Err: err}
		return w
	}
	object, complaints, err := decodeGuarded(raw, k.decode)
	if err != nil {
		w.err = templateError(raw, k, t, err)
		return w
	}
	w.Pod, w.complaints = object.(*corev1.Pod), complaints //nolint:forcetypeassert // that is what the kind decodes to
	if several && t.label != "" {
		name += "-" + t.label
	}
	w.Pod.Name, w.Namespace = name, meta.Namespace
	c.complete(w.Pod, head{apiVersion: "v1", kind: "Pod"}, k)
	if w.EachNode {
		w.Spec.Tolerations = append(w.Spec.Tolerations, daemonTolerations...)
	}
	w.invalid = validate.Object(w.Pod)
	w.holdBack(tree, meta)
	return w
}

// daemonTolerations are what the DaemonSet controller gives its pods.
var daemonTolerations = func() []corev1.Toleration {
	var out []corev1.Toleration
	for _, key := range []string{corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable} {
		out = append(out, corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute})
	}
	for _, key := range []string{corev1.TaintNodeDiskPressure, corev1.TaintNodeMemoryPressure, corev1.TaintNodePIDPressure, corev1.TaintNodeUnschedulable} {
		out = append(out, corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule})
	}
	return out
}()

// seenFields are those that a spec without containers shares with the spec of a pod.
var seenFields = []string{
	"affinity", "nodeSelector", "priorityClassName", "resourceClaims", "schedulerName", "tolerations", "topologySpreadConstraints",
}

// podOf is the pod of a template, as it would be written down.
func podOf(t *podTemplate) map[string]any {
	spec := t.spec
	if t.unseen {
		spec = map[string]any{}
		for _, field := range seenFields {
			if value, ok := t.spec[field]; ok {
				spec[field] = value
			}
		}
	} else if t.template == nil { // other fields of the object may stand beside those of the pod
		spec = podFields(t.spec)
	}
	pod := map[string]any{"apiVersion": "v1", "kind": "Pod", "spec": spec}
	from, _ := t.template["metadata"].(map[string]any)
	meta := map[string]any{}
	for _, field := range []string{"labels", "annotations"} {
		if value, ok := from[field]; ok {
			meta[field] = value
		}
	}
	pod["metadata"] = meta
	return pod
}

// podFields are the fields of a map that the spec of a pod has too.
func podFields(spec map[string]any) map[string]any {
	out := map[string]any{}
	raw, err := json.Marshal(spec)
	if err != nil {
		return spec
	}
	if guarded := quantity.Replace(raw); guarded != nil {
		raw = guarded
	}
	complaints, err := kjson.UnmarshalStrict(raw, &corev1.PodSpec{})
	if err != nil {
		return spec
	}
	unknown := map[string]bool{}
	for _, complaint := range complaints {
		if m := unknownField.FindStringSubmatch(complaint.Error()); m != nil {
			unknown[m[1]] = true
		}
	}
	for field, value := range spec {
		if !unknown[field] {
			out[field] = value
		}
	}
	return out
}

// templateError says which field of a template cannot be decoded.
func templateError(raw []byte, k kind, t *podTemplate, err error) *Error {
	if guarded := quantity.Replace(raw); guarded != nil {
		raw = guarded
	}
	e := &Error{Code: WrongType, Path: t.path(), Detail: err.Error(), Err: err}
	if m, ok := findMistake(raw, k.decode); ok {
		e.Path, e.Detail, e.Advice = t.userPath(m.path), m.detail, m.advice
	}
	return e
}

// userPath turns a path within the pod into one within the object.
func (t *podTemplate) userPath(path string) string {
	if inner, ok := strings.CutPrefix(path, "spec"); ok && t.template == nil {
		return t.path() + inner
	}
	if path == "" {
		return t.path()
	}
	return t.path() + "." + path
}

// keepWorkloads adds the pod templates of an object, and reports whether there is one.
func (c *collector) keepWorkloads(p *pending) bool {
	where := place(p.text.source, p.text.line(p.at.from))
	for _, w := range p.workloads {
		name := p.head.kind + " " + w.Name
		if w.Pod != nil {
			name = p.head.kind + " " + w.Namespace + "/" + w.Name
		}
		switch e := w.err; {
		case e != nil:
			message := "left out, since its pod template cannot be decoded: " + e.Detail
			if e.Advice != "" {
				message += "; " + e.Advice
			}
			c.warn(Warning{Source: where, Object: name, Path: e.Path, Message: message})
			continue
		case w.Name == "":
			c.warn(Warning{Source: where, Object: p.head.kind, Path: "metadata.name", Message: "left out: an object needs a name"})
			continue
		}
		c.workloads = append(c.workloads, w.Workload)
		c.report(w.warnings(where, name))
	}
	return len(p.workloads) > 0
}

// warnings are what the API server would refuse in the pods of a template.
func (w *workload) warnings(where, name string) []Warning {
	var all []Warning
	for _, complaint := range w.complaints {
		path, message := explainComplaint(complaint.Error(), head{apiVersion: "v1", kind: "Pod"})
		all = append(all, Warning{Source: where, Object: name, Path: w.template.userPath(path), Message: message})
	}
	for _, problem := range w.invalid {
		message := inspect.SanitizeShort(problem.Message, maxDetailLength)
		all = append(all, Warning{Source: where, Object: name, Path: w.template.userPath(problem.Path), Message: message})
	}
	return all
}
