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
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest/podtemplate"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest/validate"
	"github.com/kubectl-dra/kubectl-dra/inspect/quantity"
)

// workload is what prepare finds out about one pod template.
type workload struct {
	*inspect.Workload
	findings

	template *podtemplate.Template
	err      *Error // why the template cannot be decoded
}

// notWorkloads are kinds that hold copies of what other objects ask for.
var notWorkloads = []string{"ControllerRevision", "CustomResourceDefinition"}

// oneByDefault are kinds that have one pod of a template where they do not say how many.
var oneByDefault = map[string]bool{
	"Deployment": true, "ReplicaSet": true, "StatefulSet": true, "ReplicationController": true, "Job": true, "CronJob": true,
	"JobSet": true, "LeaderWorkerSet": true, "VirtualMachine": true, "VirtualMachineInstance": true,
	"VirtualMachineInstanceReplicaSet": true, "VirtualMachinePool": true,
}

// workloadsIn finds the pod templates of an object of a kind that is not read otherwise. It only reads the
// collector.
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
	templates := podtemplate.Find(tree)
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
func (c *collector) workloadOf(p *pending, tree map[string]any, t *podtemplate.Template, meta *metav1.PartialObjectMetadata, several bool) workload {
	name := meta.Name
	if name == "" {
		name = strings.TrimSuffix(meta.GenerateName, "-")
	}
	w := workload{template: t, Workload: &inspect.Workload{
		Type: metav1.TypeMeta{APIVersion: p.head.apiVersion, Kind: p.head.kind}, Name: name,
		Path: t.Path, SpecPointer: t.Pointer, Replicas: t.Replicas, Unseen: t.Unseen, Controller: metav1.GetControllerOf(meta),
	}}
	switch {
	case p.head.kind == "DaemonSet":
		w.Replicas, w.EachNode = nil, true
	case t.Replicas == nil && oneByDefault[p.head.kind]:
		w.Replicas = ptr.To[int64](1)
	}
	k, _ := kindOf("v1", "Pod")
	raw, err := json.Marshal(t.Pod())
	if err != nil {
		w.err = &Error{Path: t.Path, Detail: err.Error(), Err: err}
		return w
	}
	object, complaints, err := decodeGuarded(raw, k.decode)
	if err != nil {
		w.err = templateError(raw, k, t, err)
		return w
	}
	w.Pod, w.complaints = object.(*corev1.Pod), complaints //nolint:forcetypeassert // that is what the kind decodes to
	if several && t.Label != "" {
		name += "-" + t.Label
	}
	w.Pod.Name, w.Namespace = name, meta.Namespace
	c.complete(w.Pod, head{apiVersion: "v1", kind: "Pod"}, k)
	if w.EachNode {
		w.Spec.Tolerations = append(w.Spec.Tolerations, daemonTolerations...)
	}
	w.invalid = validate.Object(w.Pod)
	podtemplate.HoldBack(w.Workload, tree, meta)
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

// templateError says which field of a template cannot be decoded.
func templateError(raw []byte, k kind, t *podtemplate.Template, err error) *Error {
	if guarded := quantity.Replace(raw); guarded != nil {
		raw = guarded
	}
	e := &Error{Code: WrongType, Path: t.Path, Detail: err.Error(), Err: err}
	if m, ok := findMistake(raw, k.decode); ok {
		e.Path, e.Detail, e.Advice = t.UserPath(m.path), m.detail, m.advice
	}
	return e
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
			message := e.advising("left out, since its pod template cannot be decoded: " + e.Detail)
			c.warn(Warning{Source: where, Object: name, Path: e.Path, Message: message})
			continue
		case w.Name == "":
			c.warn(Warning{Source: where, Object: p.head.kind, Path: "metadata.name", Message: "left out: an object needs a name"})
			continue
		}
		c.workloads = append(c.workloads, w.Workload)
		c.report(warningsOf(where, name, w.findings, head{apiVersion: "v1", kind: "Pod"}, w.template.UserPath, w.template.UserPath))
	}
	return len(p.workloads) > 0
}
