package fix_test

import (
	"context"
	"strings"
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

// TestUseClaim checks that the claim or template that a pod may have meant is proposed.
func TestUseClaim(t *testing.T) {
	templates := explaintest.NodesWithDevices(2)
	templates.Templates = []*resourcev1.ResourceClaimTemplate{
		{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "two-gpus"}, Spec: resourcev1.ResourceClaimTemplateSpec{Spec: explaintest.GPUClaim(2, "any").Spec}},
		{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "ten-gpus"}, Spec: resourcev1.ResourceClaimTemplateSpec{Spec: explaintest.GPUClaim(10, "any").Spec}},
	}
	for _, tt := range []struct {
		cluster *scheduler.Cluster
		entry   corev1.PodResourceClaim
		want    []string
	}{
		{explaintest.DemoCluster(t), corev1.PodResourceClaim{Name: "gpus", ResourceClaimName: ptr.To("trian-1")},
			[]string{`UseClaim gpu-b-03 2 replace /spec/resourceClaims/0/resourceClaimName "train-1"`}}, // train-0 cannot be allocated
		{explaintest.DemoCluster(t), corev1.PodResourceClaim{Name: "gpus", ResourceClaimName: ptr.To("entirely-different")}, nil},
		{explaintest.NewCluster(templates), corev1.PodResourceClaim{Name: "gpus", ResourceClaimTemplateName: ptr.To("twogpus")},
			[]string{`UseClaim n0 1 replace /spec/resourceClaims/0/resourceClaimTemplateName "two-gpus"`}},
	} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "p"}}
		pod.Spec.ResourceClaims = []corev1.PodResourceClaim{tt.entry}
		failed := inspect.Events{List: []inspect.Event{{Kind: "Pod", Namespace: "ml", Name: "p", Type: "Warning", Reason: "FailedResourceClaimCreation"}}}
		e, err := question.PodObject(context.Background(), tt.cluster, pod, question.Options{Events: failed})
		if err != nil {
			t.Fatal(err)
		}
		if e.Verdict != explain.Unsatisfiable || len(e.Fixes) != len(tt.want) {
			t.Errorf("%s: %s, fixes %+v", e.Message, e.Verdict, e.Fixes)
		}
		checkFixes(t, e, tt.want...)
	}
}

// TestMissingClaimThatMayExist checks that a claim that may not be read is not said to be missing.
func TestMissingClaimThatMayExist(t *testing.T) {
	c := scheduler.NewCluster(inspect.New(explaintest.NodesWithDevices(1), inspect.Config{
		Features: inspect.DefaultFeatures(inspect.NewestMinor),
		Health:   map[inspect.Resource]inspect.Health{inspect.Claims: {State: inspect.Forbidden}},
	}), scheduler.Options{})
	named, made := podWith("somewhere"), podWith()
	made.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu", ResourceClaimTemplateName: ptr.To("t")}}
	made.Status.ResourceClaimStatuses = []corev1.PodResourceClaimStatus{{Name: "gpu", ResourceClaimName: ptr.To("somewhere")}}
	for _, pod := range []*corev1.Pod{named, made} {
		e, err := question.PodObject(context.Background(), c, pod, question.Options{})
		if err != nil || e.Verdict != explain.Unknown || !strings.Contains(e.Message, `whether resourceclaim "somewhere" exists`) {
			t.Errorf("%+v, %v", e, err)
		}
	}
}

// TestUnreadTemplates: of a pod whose template could not be read, the answer says what keeps it from being
// known.
func TestUnreadTemplates(t *testing.T) {
	const message = "cannot list resourceclaimtemplates.resource.k8s.io at cluster scope"
	c := scheduler.NewCluster(inspect.New(explaintest.NodesWithDevices(1), inspect.Config{
		Features: inspect.DefaultFeatures(inspect.NewestMinor),
		Health:   map[inspect.Resource]inspect.Health{inspect.Templates: {State: inspect.Forbidden, Message: message}},
	}), scheduler.Options{})
	pod := podWith()
	pod.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu", ResourceClaimTemplateName: ptr.To("t")}}
	e, err := question.PodObject(context.Background(), c, pod, question.Options{})
	if err != nil || e.Verdict != explain.Unknown || len(e.Partial) != 1 || !strings.HasPrefix(e.Partial[0], message) {
		t.Errorf("%s %q, partial %q, %v", e.Verdict, e.Message, e.Partial, err)
	}
}
