package e2e

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	resourcev1alpha3 "k8s.io/api/resource/v1alpha3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-dra/kubectl-dra/e2e/cluster"
)

// poolCounts is what `get pools` and a ResourcePoolStatusRequest have in common. A count that is
// missing is nil.
type poolCounts struct {
	Driver, Pool, Node                       string
	Generation                               int64
	Total, Allocated, Available, Unavailable *int32
}

// TestPoolCounts holds `get pools` against the controller of kube-controller-manager that answers
// ResourcePoolStatusRequests.
func TestPoolCounts(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{NoScheduler: true, FeatureGates: "DRAResourcePoolStatus=true",
		Controllers: []string{"resourcepoolstatusrequest-controller"}})
	for i := range 4 {
		c.AddNode(t, fmt.Sprint("n", i+1), map[string]string{corev1.LabelHostname: fmt.Sprint("n", i+1)})
	}
	patch := `{"metadata":{"labels":{"resource.kubernetes.io/admin-access":"true"}}}`
	if _, err := c.Client().CoreV1().Namespaces().Patch(t.Context(), "default", types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	c.Apply(t, "testdata/pools.yaml")

	var list struct{ Items []poolCounts }
	result := c.Plugin(t, cluster.Admin, "get", "pools", "-o", "json")
	result.JSON(t, &list)
	printed := map[string]poolCounts{}
	for _, p := range list.Items {
		printed[p.Driver+"/"+p.Pool] = p
	}
	seen := 0
	for _, driver := range []string{"plain.example.com", "fabric.example.com", "shared.example.com", "mig.example.com"} {
		n, diff := 0, ""
		for try, pause := range patience { // the controller may have counted before it knew of all slices
			if try > 0 {
				time.Sleep(pause)
			}
			if n, diff = comparePools(printed, driver, poolStatus(t, c, driver, fmt.Sprint(driver, "-", try))); diff == "" {
				break
			}
		}
		seen += n
		if diff != "" {
			t.Error(diff)
		}
	}
	incomplete := poolCounts{Driver: "incomplete.example.com", Pool: "n2", Node: "n2", Generation: 1}
	if diff := cmp.Diff(incomplete, printed["incomplete.example.com/n2"]); diff != "" {
		t.Errorf("a pool of which a slice is missing has no counts (-want +plugin):\n%s", diff)
	}
	if seen != 6 || len(list.Items) != 7 {
		t.Errorf("the server knows %d pools, the plugin %d, want 6 and the incomplete one\n%v", seen, len(list.Items), result)
	}
}

// comparePools returns how many pools of a driver the server knows, and what the plugin says differently of
// them.
func comparePools(printed map[string]poolCounts, driver string, server []poolCounts) (n int, diff string) {
	for _, want := range server {
		if d := cmp.Diff(want, printed[want.Driver+"/"+want.Pool]); d != "" {
			diff += fmt.Sprintf("pool %s/%s (-server +plugin):\n%s", want.Driver, want.Pool, d)
		}
	}
	ours := 0
	for _, p := range printed {
		if p.Driver == driver {
			ours++
		}
	}
	if len(server) != ours {
		diff += fmt.Sprintf("of driver %s the server knows %d pools, the plugin %d", driver, len(server), ours)
	}
	return len(server), diff
}

// poolStatus asks the server for the status of the pools of a driver, in a request of that name.
func poolStatus(t *testing.T, c *cluster.Cluster, driver, name string) []poolCounts {
	t.Helper()
	requests := c.Client().ResourceV1alpha3().ResourcePoolStatusRequests()
	request := &resourcev1alpha3.ResourcePoolStatusRequest{ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: resourcev1alpha3.ResourcePoolStatusRequestSpec{Driver: driver}}
	if _, err := requests.Create(t.Context(), request, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	var pools []poolCounts
	cluster.Eventually(t, func(ctx context.Context) error {
		answer, err := requests.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if answer.Status == nil {
			return errors.New("the controller has not answered the ResourcePoolStatusRequest")
		}
		for _, p := range answer.Status.Pools {
			counts := poolCounts{Driver: p.Driver, Pool: p.PoolName, Generation: p.Generation,
				Total: p.TotalDevices, Allocated: p.AllocatedDevices, Available: p.AvailableDevices, Unavailable: p.UnavailableDevices}
			if p.NodeName != nil {
				counts.Node = *p.NodeName
			}
			if p.ValidationError != nil {
				t.Logf("%s/%s: the server says %s", p.Driver, p.PoolName, *p.ValidationError)
			}
			pools = append(pools, counts)
		}
		return nil
	})
	return pools
}
