package filters

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	fakescale "k8s.io/client-go/scale/fake"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/disruption"
)

// controlDisruption has Kubernetes' disruption controller count the pods of budgets until the context ends.
// Nothing has a scale but what it knows by itself, such as ReplicaSets.
func controlDisruption(ctx context.Context, client *fake.Clientset) {
	factory := informers.NewSharedInformerFactory(client, 0)
	c := disruption.NewDisruptionController(ctx, factory.Core().V1().Pods(), factory.Policy().V1().PodDisruptionBudgets(),
		factory.Core().V1().ReplicationControllers(), factory.Apps().V1().ReplicaSets(), factory.Apps().V1().Deployments(), factory.Apps().V1().StatefulSets(),
		client, meta.NewDefaultRESTMapper(nil), &fakescale.FakeScaleClient{}, client.Discovery())
	factory.Start(ctx.Done())
	go c.Run(ctx, 1)
}

// countedBudgets are budgets as the disruption controller counts the pods of a cluster.
func countedBudgets(t *testing.T, objects []runtime.Object) []*policyv1.PodDisruptionBudget {
	t.Helper()
	prepareProcess()
	var out []*policyv1.PodDisruptionBudget
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), logr.Discard()))
		client := serving(objects)
		controlDisruption(ctx, client)
		time.Sleep(time.Minute)
		list, err := client.PolicyV1().PodDisruptionBudgets(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
		cancel()
		synctest.Wait()
		if err != nil {
			t.Fatal(err)
		}
		for i := range list.Items {
			out = append(out, &list.Items[i])
		}
		unhandled.Store(nil) // such as that the pods of a Job cannot be counted
	})
	return out
}
