package live

import (
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/live/wire"
	"github.com/kubectl-dra/kubectl-dra/inspect/schedulerconfig"
)

// Choosing is what kube-scheduler chooses by among nodes that fit, and what is in no Snapshot, since it
// decides about no pod whether one fits.
type Choosing struct {
	// Nodes are all nodes, with names and images and nothing else. It is nil if they could not be read.
	Nodes []*corev1.Node
	// Pods are the pods of the namespaces that are on no node, with names and images and nothing else, sorted
	// by namespace and name.
	Pods []*corev1.Pod
	// Selecting are the services and controllers of the namespaces. It is nil if not all could be read.
	Selecting *inspect.Selecting
	// Unread says what could not be read and why, in the order in which it was asked for.
	Unread []string
}

// Choosing reads what nodes are chosen by for pods of some namespaces. What may not be read is left out. The
// error is that of ctx, or a *ServerError.
func (f *Finder) Choosing(ctx context.Context, namespaces []string) (*Choosing, error) {
	out := &Choosing{}
	nodes := []*corev1.Node{}
	read, err := f.besides(ctx, &out.Unread, imagesOfNodes, "", "", func(o wire.Object) { nodes = append(nodes, o.(*corev1.Node)) }) //nolint:forcetypeassert // of that kind
	if err != nil {
		return nil, err
	}
	if read {
		out.Nodes = nodes
	}
	namespaces = slices.Compact(slices.Sorted(slices.Values(namespaces)))
	for _, namespace := range namespaces {
		add := func(o wire.Object) { out.Pods = append(out.Pods, o.(*corev1.Pod)) } //nolint:forcetypeassert // of that kind
		if _, err := f.besides(ctx, &out.Unread, imagesOfPods, namespace, "spec.nodeName=", add); err != nil {
			return nil, err
		}
	}
	if len(namespaces) > 0 {
		out.Selecting, err = f.selecting(ctx, &out.Unread, namespaces...)
	}
	return out, err
}

// selecting reads what selects the pods that are spread, in some namespaces; "" is all of them. It is nil if
// not all could be read.
func (r *reader) selecting(ctx context.Context, unread *[]string, namespaces ...string) (*inspect.Selecting, error) {
	out, all := &inspect.Selecting{}, true
	add := func(o wire.Object) {
		switch o := o.(type) {
		case *corev1.Service:
			out.Services = append(out.Services, o)
		case *corev1.ReplicationController:
			out.ReplicationControllers = append(out.ReplicationControllers, o)
		case *appsv1.ReplicaSet:
			out.ReplicaSets = append(out.ReplicaSets, o)
		case *appsv1.StatefulSet:
			out.StatefulSets = append(out.StatefulSets, o)
		}
	}
	for _, namespace := range namespaces {
		if namespace != "" {
			out.Namespaces = append(out.Namespaces, namespace)
		}
		for _, k := range selecting {
			read, err := r.besides(ctx, unread, k, namespace, "", add)
			if err != nil {
				return nil, err
			}
			all = all && read
		}
	}
	if !all {
		return nil, nil
	}
	return out, nil
}

// spreading reads what selects the pods that are spread, where kube-scheduler refuses nodes because of that:
// of all namespaces, or else of that which is looked at.
func (r *reader) spreading(ctx context.Context, s *schedulerconfig.Config) (out *inspect.Selecting, err error) {
	if !inspect.SpreadsFirmly(s) || !slices.Contains(r.opts.Resources, inspect.Pods) {
		return nil, nil
	}
	var unread []string
	if out, err = r.selecting(ctx, &unread, ""); out == nil && err == nil && r.opts.Namespace != "" {
		out, err = r.selecting(ctx, &unread, r.opts.Namespace)
	}
	return out, err
}

// besides reads all objects of a kind that is in no snapshot, and reports whether it could. Why it could not
// is added to unread.
func (r *reader) besides(ctx context.Context, unread *[]string, k wire.Kind, namespace, fields string, each func(wire.Object)) (bool, error) {
	result, err := r.listPages(ctx, k, k.Versions[0], namespace,
		metav1.ListOptions{Limit: r.opts.PageSize, FieldSelector: fields})
	switch where := k.Qualified(); {
	case err == nil:
		for _, o := range result.objects {
			each(o)
		}
		return true, nil
	case ctx.Err() != nil:
		return false, fmt.Errorf("reading %s: %w", r.server, context.Cause(ctx))
	case r.fatal(err) != nil:
		return false, r.fatal(err)
	default:
		if namespace != "" {
			where += " in namespace " + namespace
		}
		why := "cannot list " + where
		if !apierrors.IsForbidden(err) {
			why = "listing " + where + ": " + wire.Clean(cause(err))
		}
		*unread = append(*unread, why)
		return false, nil
	}
}

// imagesOfNodes is how nodes are read for their images, and imagesOfPods how pods are.
var (
	imagesOfNodes = wire.Beside(corev1.GroupName, inspect.Nodes, "Node", false, onlyImages)
	imagesOfPods  = wire.Beside(corev1.GroupName, inspect.Pods, "Pod", true, onlyImages)
)

// onlyImages drops all of nodes and pods but names and images.
func onlyImages(o wire.Object) {
	switch o := o.(type) {
	case *corev1.Node:
		*o = corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: o.Name}, Status: corev1.NodeStatus{Images: o.Status.Images}}
	case *corev1.Pod:
		imagesOf := func(in []corev1.Container) []corev1.Container {
			var out []corev1.Container
			for i := range in {
				out = append(out, corev1.Container{Name: in[i].Name, Image: in[i].Image})
			}
			return out
		}
		out := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: o.Namespace, Name: o.Name, UID: o.UID}}
		out.Spec.InitContainers, out.Spec.Containers = imagesOf(o.Spec.InitContainers), imagesOf(o.Spec.Containers)
		for i := range o.Spec.Volumes {
			if v := &o.Spec.Volumes[i]; v.Image != nil {
				source := corev1.VolumeSource{Image: &corev1.ImageVolumeSource{Reference: v.Image.Reference}}
				out.Spec.Volumes = append(out.Spec.Volumes, corev1.Volume{Name: v.Name, VolumeSource: source})
			}
		}
		*o = out
	}
}

// selecting are the kinds whose objects select pods that are spread.
var selecting = []wire.Kind{
	wire.Beside(corev1.GroupName, "services", "Service", true, onlySelectors),
	wire.Beside(corev1.GroupName, "replicationcontrollers", "ReplicationController", true, onlySelectors),
	wire.Beside(appsv1.GroupName, "replicasets", "ReplicaSet", true, onlySelectors),
	wire.Beside(appsv1.GroupName, "statefulsets", "StatefulSet", true, onlySelectors),
}

// onlySelectors drops what services and controllers say of anything but what they select.
func onlySelectors(o wire.Object) {
	wire.Bare(o)
	switch o := o.(type) {
	case *corev1.Service:
		o.Status = corev1.ServiceStatus{}
	case *corev1.ReplicationController:
		o.Spec.Template = nil
	case *appsv1.ReplicaSet:
		o.Spec.Template = corev1.PodTemplateSpec{}
	case *appsv1.StatefulSet:
		o.Spec.Template, o.Spec.VolumeClaimTemplates = corev1.PodTemplateSpec{}, nil
	}
}
