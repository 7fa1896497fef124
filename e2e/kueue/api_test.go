package kueue

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueuev1beta2 "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// api is the API server as Kueue sees it: the objects of a state, and the statuses that Kueue writes.
type api struct {
	client.Client

	objects *inspect.Objects

	mu      sync.Mutex
	written []*kueuev1beta2.Workload
}

func (a *api) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	find := func(found client.Object) error {
		reflect.ValueOf(into).Elem().Set(reflect.ValueOf(found).Elem())
		return nil
	}
	switch into.(type) {
	case *corev1.Namespace:
		for _, o := range a.objects.Namespaces {
			if o.Name == key.Name {
				return find(o)
			}
		}
	case *resourcev1.DeviceClass:
		for _, o := range a.objects.Classes {
			if o.Name == key.Name {
				return find(o)
			}
		}
	case *resourcev1.ResourceClaimTemplate:
		for _, o := range a.objects.Templates {
			if o.Name == key.Name && o.Namespace == key.Namespace {
				return find(o)
			}
		}
	case *kueuev1beta2.Workload:
		for _, o := range a.objects.KueueWorkloads {
			if o.Name == key.Name && o.Namespace == key.Namespace {
				return find(o.DeepCopy())
			}
		}
	default:
		panic(fmt.Sprintf("Kueue reads a %T", into))
	}
	return apierrors.NewNotFound(schema.GroupResource{}, key.Name)
}

func (a *api) List(_ context.Context, into client.ObjectList, opts ...client.ListOption) error {
	var o client.ListOptions
	o.ApplyOptions(opts)
	field := func(name string) (string, bool) {
		if o.FieldSelector == nil {
			return "", false
		}
		return o.FieldSelector.RequiresExactMatch(name)
	}
	switch list := into.(type) {
	case *corev1.LimitRangeList:
	case *kueuev1beta2.LocalQueueList:
		for _, q := range a.objects.LocalQueues {
			if name, ok := field("spec.clusterQueue"); !ok || name == string(q.Spec.ClusterQueue) {
				list.Items = append(list.Items, *q)
			}
		}
	case *kueuev1beta2.WorkloadList:
		for _, w := range a.objects.KueueWorkloads { // those without quota are added one by one
			if name, ok := field("status.admission.clusterQueue"); ok && w.Status.Admission != nil && name == string(w.Status.Admission.ClusterQueue) {
				list.Items = append(list.Items, *w.DeepCopy())
			}
		}
	case *resourcev1.DeviceClassList:
		name, _ := field("spec.extendedResourceName")
		for _, c := range a.objects.Classes {
			if c.Spec.ExtendedResourceName != nil && *c.Spec.ExtendedResourceName == name {
				list.Items = append(list.Items, *c)
			}
		}
	case *resourcev1.ResourceSliceList:
		for _, s := range a.objects.Slices {
			if driver, ok := field("spec.driver"); !ok || driver == s.Spec.Driver {
				list.Items = append(list.Items, *s)
			}
		}
	default:
		panic(fmt.Sprintf("Kueue lists a %T", into))
	}
	return nil
}

func (a *api) Status() client.SubResourceWriter { return &statusWriter{api: a} }

type statusWriter struct {
	client.SubResourceWriter

	api *api
}

func (s *statusWriter) Patch(_ context.Context, obj client.Object, _ client.Patch, _ ...client.SubResourcePatchOption) error {
	s.api.mu.Lock()
	defer s.api.mu.Unlock()
	s.api.written = append(s.api.written, obj.(*kueuev1beta2.Workload).DeepCopy())
	return nil
}

// silent drops events.
type silent struct{}

func (silent) Eventf(runtime.Object, runtime.Object, string, string, string, string, ...any) {}

// line is a message in one line, without tabs.
func line(message string) string { return strings.Join(strings.Fields(message), " ") }
