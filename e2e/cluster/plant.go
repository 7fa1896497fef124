package cluster

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
)

// Refusal is an object that the API server does not accept, and what it says.
type Refusal struct {
	Object string // as Kind namespace/name
	Reason string
}

// lateKinds are created after all others: what refers to the UIDs of the others, and quotas that would keep
// them out.
var lateKinds = map[string]int{"Namespace": -2, "Node": -1, "Pod": 1, "ResourceClaim": 2, "Event": 3, "ResourceQuota": 4}

// Plant creates objects as they would be in a cluster that has run for a while: with the status, the owners
// and the deletion that they have, and as old as they say. UIDs that objects give each other become those of
// the server. Namespaces are created as needed. What the server refuses is left out and returned.
func (c *Cluster) Plant(t testing.TB, objects []*unstructured.Unstructured) []Refusal {
	t.Helper()
	objects = slices.Clone(objects)
	slices.SortStableFunc(objects, func(a, b *unstructured.Unstructured) int {
		return cmp.Compare(lateKinds[a.GetKind()], lateKinds[b.GetKind()])
	})
	uids := map[string]string{}
	var refusals []Refusal
	for _, o := range objects {
		if err := c.plant(t.Context(), o.DeepCopy(), uids); err != nil {
			refusals = append(refusals, Refusal{strings.TrimSpace(o.GetKind() + " " + strings.TrimPrefix(o.GetNamespace()+"/"+o.GetName(), "/")), err.Error()})
		}
	}
	return refusals
}

func (c *Cluster) plant(ctx context.Context, o *unstructured.Unstructured, uids map[string]string) error {
	resource, client, err := c.resource(ctx, o)
	if err != nil {
		return err
	}
	own, created, deleted, status := string(o.GetUID()), o.GetCreationTimestamp(), o.GetDeletionTimestamp(), o.Object["status"]
	replaceUIDs(o.Object, uids)
	for _, field := range []string{"resourceVersion", "uid", "creationTimestamp", "deletionTimestamp", "generation", "managedFields"} {
		unstructured.RemoveNestedField(o.Object, "metadata", field)
	}
	taints, _, _ := unstructured.NestedSlice(o.Object, "spec", "taints")
	now, err := client.Create(ctx, o, metav1.CreateOptions{})
	if group := o.GroupVersionKind().Group; apierrors.IsAlreadyExists(err) && (group == "flowcontrol.apiserver.k8s.io" || o.GetKind() == "Namespace") {
		return nil // every server has it by itself, or it has stayed
	}
	if err != nil {
		return err
	}
	uids[own] = string(now.GetUID())
	if o.GetKind() == "Node" { // admission has tainted it as not ready
		if err := unstructured.SetNestedSlice(now.Object, taints, "spec", "taints"); err != nil {
			return err
		}
		if now, err = client.Update(ctx, now, metav1.UpdateOptions{}); err != nil {
			return err
		}
	}
	if status != nil {
		now.Object["status"] = status
		if _, err := client.UpdateStatus(ctx, now, metav1.UpdateOptions{}); err != nil {
			return fmt.Errorf("its status: %w", err)
		}
	}
	if deleted != nil {
		if err := client.Delete(ctx, o.GetName(), metav1.DeleteOptions{}); err != nil {
			return err
		}
	}
	if created.IsZero() && deleted == nil {
		return nil
	}
	return c.backdate(ctx, client, resource, o.GetName(), created, deleted)
}

// resource returns the resource of an object and a client for it, and makes its namespace.
func (c *Cluster) resource(ctx context.Context, o *unstructured.Unstructured) (string, dynamic.ResourceInterface, error) {
	kind := o.GroupVersionKind()
	mapping, err := c.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return "", nil, err
	}
	client := c.dynamic.Resource(mapping.Resource)
	if mapping.Scope.Name() != meta.RESTScopeNameNamespace {
		return mapping.Resource.Resource, client, nil
	}
	if o.GetNamespace() == "" {
		o.SetNamespace(metav1.NamespaceDefault)
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: o.GetNamespace()}}
	if _, err := c.client.CoreV1().Namespaces().Get(ctx, namespace.Name, metav1.GetOptions{}); err != nil {
		if _, err := c.client.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{}); err != nil {
			return "", nil, err
		}
	}
	return mapping.Resource.Resource, client.Namespace(o.GetNamespace()), nil
}

// replaceUIDs replaces the UIDs in owner references, reservations and other references.
func replaceUIDs(value any, uids map[string]string) {
	switch v := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if text, ok := v[key].(string); ok && key == "uid" {
				v[key] = cmp.Or(uids[text], text)
			}
			replaceUIDs(v[key], uids)
		}
	case []any:
		for _, item := range v {
			replaceUIDs(item, uids)
		}
	}
}

// backdate makes an object as old as it would be after hours for which no test can wait. The API server sets
// these times by itself, so they are written to etcd, which it watches.
func (c *Cluster) backdate(ctx context.Context, client dynamic.ResourceInterface, resource, name string, created metav1.Time, deleted *metav1.Time) error {
	o, err := client.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	o.SetResourceVersion("")
	if !created.IsZero() {
		o.SetCreationTimestamp(created)
	}
	if deleted != nil {
		o.SetDeletionTimestamp(deleted)
	}
	value, err := o.MarshalJSON()
	if err != nil {
		return err
	}
	key := storedAs(resource)
	if o.GetNamespace() != "" {
		key += o.GetNamespace() + "/"
	}
	version, err := c.putKey(ctx, key+name, value)
	if err != nil {
		return err
	}
	return untilSeen(ctx, func() error {
		_, err := client.Get(ctx, name, metav1.GetOptions{ResourceVersion: version})
		return err
	})
}
