package fix_test

import (
	"context"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// TestEveryFixKind has a question for each kind of fix. That the fixes help is checked by the other tests.
func TestEveryFixKind(t *testing.T) {
	cluster := explaintest.DemoCluster(t)
	s := cluster.Snapshot()
	off := scheduler.NewCluster(s.WithFeatures(s.Features().With(map[inspect.Gate]bool{inspect.GatePrioritizedList: false})), scheduler.Options{})
	claim := func(c *scheduler.Cluster, namespace, name string, node inspect.NodeName) func() (*explain.Explanation, error) {
		return func() (*explain.Explanation, error) {
			return question.Claim(context.Background(), c, inspect.ClaimRef{Namespace: namespace, Name: name}, question.Options{Node: node})
		}
	}
	pod := podWith()
	pod.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpus", ResourceClaimName: ptr.To("trian-1")}}
	unlabelled := scheduler.NewCluster(s.With(func(o *inspect.Objects) {
		o.Namespaces = []*corev1.Namespace{{ObjectMeta: metav1.ObjectMeta{Name: "ml"}}}
	}), scheduler.Options{})
	admin, _ := s.Claim(inspect.ClaimRef{Namespace: "ml", Name: "sweep-3"})
	admin = admin.DeepCopy()
	admin.Spec.Devices.Requests = []resourcev1.DeviceRequest{{Name: "all", Exactly: &resourcev1.ExactDeviceRequest{
		DeviceClassName: "gpu.example.com", AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: 1, AdminAccess: ptr.To(true),
	}}}
	questions := map[explain.FixKind]func() (*explain.Explanation, error){
		explain.ReduceCount:    claim(cluster, "ml", "train-0", ""),
		explain.DropConstraint: claim(cluster, "ml", "train-0", ""),
		explain.AddDevices:     claim(cluster, "ml", "train-0", ""),
		explain.AddNode:        claim(cluster, "ml", "pretrain-2", ""),
		explain.RelaxSelector:  claim(cluster, "ml", "llama-405b-eval", ""),
		explain.TolerateTaint:  claim(cluster, "ml", "driver-canary", ""),
		explain.ReleaseClaim:   claim(cluster, "ml", "pretrain-2", ""),
		explain.ReduceCapacity: claim(cluster, "net", "cdn-egress-2", ""),
		explain.UseNode:        claim(cluster, "ml", "train-1", "gpu-a-01"),
		explain.EnableFeature:  claim(off, "ml", "sweep-3", ""),
		explain.UseClass:       claim(cluster, "infer", "rerank-0", ""),
		explain.CreateClass:    claim(cluster, "infer", "rerank-0", ""),
		explain.LabelNamespace: func() (*explain.Explanation, error) {
			return question.ClaimObject(context.Background(), unlabelled, admin, question.Options{})
		},
		explain.UseCapacity: func() (*explain.Explanation, error) {
			return question.ClaimObject(context.Background(), explaintest.NewCluster(sharedCPUs()), cpuClaim("cpu", "8"), question.Options{})
		},
		explain.UseClaim: func() (*explain.Explanation, error) {
			return question.PodObject(context.Background(), cluster, pod, question.Options{})
		},
	}
	for kind, ask := range questions {
		e, err := ask()
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(e.Fixes, func(f explain.Fix) bool { return f.Kind == kind && f.Nodes > 0 }) {
			t.Errorf("no %s among the fixes of %q: %+v", kind, e.Message, e.Fixes)
		}
	}
}
