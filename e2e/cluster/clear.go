package cluster

import (
	"context"
	"fmt"
	"testing"
	"time"

	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
)

// cleared are the resources that Clear empties, users before what they use.
var cleared = []schema.GroupKind{
	{Kind: "Pod"}, {Group: "scheduling.k8s.io", Kind: "PodGroup"}, {Group: "resource.k8s.io", Kind: "ResourceClaim"}, {Group: "resource.k8s.io", Kind: "ResourceClaimTemplate"},
	{Group: "resource.k8s.io", Kind: "ResourceSlice"}, {Group: "resource.k8s.io", Kind: "DeviceClass"},
	{Group: "resource.k8s.io", Kind: "DeviceTaintRule"}, {Kind: "PersistentVolumeClaim"}, {Kind: "PersistentVolume"},
	{Group: "storage.k8s.io", Kind: "CSIStorageCapacity"}, {Group: "storage.k8s.io", Kind: "StorageClass"},
	{Group: "storage.k8s.io", Kind: "CSIDriver"}, {Group: "storage.k8s.io", Kind: "CSINode"}, {Kind: "Node"},
}

// Clear deletes all nodes, pods and objects of devices and storage, with their finalizers, so that the next
// test can use the same control plane. Namespaces stay.
func (c *Cluster) Clear(t testing.TB) {
	t.Helper()
	for _, kind := range cleared {
		if err := c.clear(t.Context(), kind); err != nil {
			t.Fatalf("deleting every %s: %v", kind.Kind, err)
		}
	}
}

func (c *Cluster) clear(ctx context.Context, kind schema.GroupKind) error {
	mapping, err := c.mapper.RESTMapping(kind)
	if err != nil {
		return nil // this release does not serve it
	}
	resource := c.dynamic.Resource(mapping.Resource)
	list, err := resource.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for i := range list.Items {
		if err := remove(ctx, resource.Namespace(list.Items[i].GetNamespace()), list.Items[i].GetName()); err != nil {
			return err
		}
	}
	return nil
}

// RemoveClaim deletes a claim at once, whatever protects it, and waits until it is gone.
func (c *Cluster) RemoveClaim(t testing.TB, namespace, name string) {
	t.Helper()
	// Also at the end of a test, when its context is over.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), patience)
	defer cancel()
	mapping, err := c.mapper.RESTMapping(schema.GroupKind{Group: "resource.k8s.io", Kind: "ResourceClaim"})
	if err == nil {
		err = remove(ctx, c.dynamic.Resource(mapping.Resource).Namespace(namespace), name)
	}
	if err != nil {
		t.Errorf("deleting claim %s/%s: %v", namespace, name, err)
	}
}

// remove takes the finalizers off an object and deletes it, until it is gone: the scheduler may put a
// finalizer on a claim in between, for a pod that was deleted while it was bound, and a controller may
// have deleted the object.
func remove(ctx context.Context, resource dynamic.ResourceInterface, name string) error {
	now := metav1.DeleteOptions{GracePeriodSeconds: new(int64)}
	for {
		_, err := resource.Patch(ctx, name, types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
		if err == nil {
			err = resource.Delete(ctx, name, now)
		}
		if err == nil {
			_, err = resource.Get(ctx, name, metav1.GetOptions{})
		}
		switch {
		case apierrors.IsNotFound(err):
			return nil
		case err != nil && !apierrors.IsConflict(err):
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s does not go away: %w", name, ctx.Err())
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// Served returns the API version at which the server prefers to serve a kind, or an error.
func (c *Cluster) Served(group, kind string) (string, error) {
	mapping, err := c.mapper.RESTMapping(schema.GroupKind{Group: group, Kind: kind})
	if err != nil {
		return "", fmt.Errorf("finding %s: %w", kind, err)
	}
	return mapping.GroupVersionKind.GroupVersion().String(), nil
}

// Claim returns a claim as it is now.
func (c *Cluster) Claim(t testing.TB, namespace, name string) *resourcev1.ResourceClaim {
	t.Helper()
	claim, err := c.client.ResourceV1().ResourceClaims(namespace).Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return claim
}
