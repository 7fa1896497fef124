package plan

import (
	"strings"
	"testing"

	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// TestPlaceGroupThatFails: a group that needs no number of its pods is placed pod by pod, but not while
// kube-scheduler fails at one of them.
func TestPlaceGroupThatFails(t *testing.T) {
	for name, says := range map[string]string{"broken": "fails at pod g-0001, and places", "none": "", "rare": "fails at pod g-0001 if it comes to a device such as gpu.example.com/node-0000/gpu-7"} {
		o := explaintest.SmallFarm(1)
		rare := `device.attributes["gpu.example.com"].model != "x"`
		o.Slices[0].Spec.Devices[7].Attributes = nil
		o.Templates = append(o.Templates, explaintest.Template("none", 1, `device.driver == "none"`), explaintest.Template("rare", 1, rare))
		pods := group(o, "g", 2, 2, "one")
		o.PodGroups = []*schedulingv1beta1.PodGroup{{ObjectMeta: metav1.ObjectMeta{Name: "g", Namespace: "ml"}, Spec: schedulingv1beta1.PodGroupSpec{
			SchedulingPolicy: schedulingv1beta1.PodGroupSchedulingPolicy{Basic: &schedulingv1beta1.BasicSchedulingPolicy{}},
		}}}
		pods[1].Spec.ResourceClaims[0].ResourceClaimTemplateName = &name
		features := inspect.DefaultFeatures(inspect.NewestMinor).With(map[inspect.Gate]bool{inspect.GateGenericWorkload: true})
		p, err := Place(t.Context(), scheduler.NewCluster(inspect.New(*o, inspect.Config{Features: features}), scheduler.Options{}), pods, Options{})
		if err != nil {
			t.Fatal(err)
		}
		said := strings.Join(p.Replay.Remarks, "|")
		if fails := says != ""; p.Replay.Certain == fails || fails != strings.Contains(said, "places no pod of its PodGroup g") || !strings.Contains(said, says) {
			t.Errorf("%s: certain %t, %q, %s", name, p.Replay.Certain, said, explaintest.Ends(&p.Replay))
		}
	}
}
