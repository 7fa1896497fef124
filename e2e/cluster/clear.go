package cluster

import (
	"context"
	"fmt"
	"testing"

	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// cleared are the kinds that Clear takes out.
var cleared = []schema.GroupKind{
	{Kind: "Pod"}, {Kind: "Event"}, {Group: "scheduling.k8s.io", Kind: "PodGroup"}, {Group: "resource.k8s.io", Kind: "ResourceClaim"},
	{Group: "resource.k8s.io", Kind: "ResourceClaimTemplate"}, {Group: "resource.k8s.io", Kind: "ResourceSlice"},
	{Group: "resource.k8s.io", Kind: "DeviceClass"}, {Group: "resource.k8s.io", Kind: "DeviceTaintRule"},
	{Kind: "PersistentVolumeClaim"}, {Kind: "PersistentVolume"}, {Group: "storage.k8s.io", Kind: "CSIStorageCapacity"},
	{Group: "storage.k8s.io", Kind: "StorageClass"}, {Group: "storage.k8s.io", Kind: "CSIDriver"}, {Group: "storage.k8s.io", Kind: "CSINode"},
	{Kind: "Node"},
}

// Clear deletes all nodes, pods, events and objects of devices and storage, whatever protects them, so that
// the next test can use the same control plane. Namespaces stay.
//
// They are deleted from etcd, which the API server watches: in a single transaction, in place of three
// requests for each object.
func (c *Cluster) Clear(t testing.TB) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var ranges []keyRange
	var resources []schema.GroupVersionResource
	for _, kind := range cleared {
		if mapping, err := c.mapper.RESTMapping(kind); err == nil { // else this release does not serve it
			resources = append(resources, mapping.Resource)
			ranges = append(ranges, keysBelow(storedAs(mapping.Resource.Resource)))
		}
	}
	version, err := c.deleteKeys(ctx, ranges...)
	for _, resource := range resources {
		if err == nil {
			err = untilSeen(ctx, func() error {
				_, err := c.dynamic.Resource(resource).List(ctx, metav1.ListOptions{
					ResourceVersion: version, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan})
				return err
			})
		}
	}
	if err != nil {
		t.Fatalf("deleting the objects of the last test: %v", err)
	}
}

// RemoveClaim deletes a claim at once, whatever protects it, and waits until it is gone.
func (c *Cluster) RemoveClaim(t testing.TB, namespace, name string) {
	t.Helper()
	// Also at the end of a test, when its context is over.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), patience)
	defer cancel()
	version, err := c.deleteKeys(ctx, keyRange{Key: []byte(storedAs("resourceclaims") + namespace + "/" + name)})
	if err == nil {
		err = untilSeen(ctx, func() error {
			_, err := c.client.ResourceV1().ResourceClaims(namespace).Get(ctx, name, metav1.GetOptions{ResourceVersion: version})
			return err
		})
	}
	if !apierrors.IsNotFound(err) {
		t.Errorf("deleting claim %s/%s: %v", namespace, name, err)
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
