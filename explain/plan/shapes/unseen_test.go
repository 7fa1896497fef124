package shapes

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/nodeshape"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// TestShapesUnread: what is asked for is not all known, so nodes may do at best; those that do not do still
// do not.
func TestShapesUnread(t *testing.T) {
	secret := []string{"the controller of VirtualMachine v makes its pods"}
	big, tiny := shapeOf("big", 64, "a100", "a100", "a100", "a100", "a100", "a100", "a100", "a100"), shapeOf("tiny", 64, "a100")
	for _, test := range []struct {
		name   string
		unread []inspect.Resource
		opts   Options
		pods   []*corev1.Pod
		want   string
		mayFit bool
	}{
		{"all is known", nil, Options{}, explaintest.Workers(2, "w", "eight"), "1 big Fits, 0 tiny Fails w-0001 NotEnoughDevices", false},
		{"a pod that is not known", nil, Options{Unseen: secret}, explaintest.Workers(2, "w", "eight"), "1 big MayFit, 0 tiny Fails w-0001 NotEnoughDevices", false},
		{"as things are", nil, Options{Unseen: secret}, explaintest.Workers(1, "w", "eight"), "", true},
		{"others that wait", nil, Options{Others: explaintest.Workers(1, "other", "one")}, explaintest.Workers(2, "w", "eight"), "1 big MayFit, 0 tiny Fails w-0001 NotEnoughDevices", false},
		{"others that fit nowhere", nil, Options{Others: explaintest.Workers(1, "other", "none")}, explaintest.Workers(2, "w", "eight"), "1 big Fits, 0 tiny Fails w-0001 NotEnoughDevices", false},
		{"nobody is known to wait", []inspect.Resource{inspect.Pods}, Options{}, nil, "", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			p, err := Find(t.Context(), explaintest.Unreadable(explaintest.SmallFarm(1), test.unread...), test.pods, []nodeshape.Shape{big, tiny}, test.opts)
			if err != nil {
				t.Fatal(err)
			}
			if got := saidOf(p); got != test.want || p.Fits || p.MayFit != test.mayFit {
				t.Errorf("%s, fits %t, may fit %t; want %s", got, p.Fits, p.MayFit, test.want)
			}
			if (len(p.Unseen) > 0) != (test.unread != nil || strings.Contains(test.want, "MayFit") || test.mayFit) {
				t.Errorf("unseen: %v", p.Unseen)
			}
		})
	}
}

// TestShapesBesideOtherSchedulers: what another scheduler does with its pods is not known, nor what room is
// left by them.
func TestShapesBesideOtherSchedulers(t *testing.T) {
	for _, test := range []struct {
		name    string
		pods    []*corev1.Pod
		waiting []*corev1.Pod
		fits    bool
	}{
		{"asked about", []*corev1.Pod{ofVolcano(explaintest.Worker("v", "one"))}, nil, false},
		{"waits and fits", explaintest.Workers(1, "w", "eight"), []*corev1.Pod{ofVolcano(explaintest.Worker("v", "one"))}, false},
		{"waits and fits nowhere", explaintest.Workers(1, "w", "eight"), []*corev1.Pod{ofVolcano(explaintest.Worker("v", "none"))}, true},
		{"waits, and nothing else", nil, []*corev1.Pod{ofVolcano(explaintest.Worker("v", "one"))}, true},
	} {
		o := explaintest.SmallFarm(1)
		o.Pods = append(o.Pods, test.waiting...)
		p, err := Find(t.Context(), explaintest.NewCluster(*o), test.pods, []nodeshape.Shape{shapeOf("big", 64, "a100")}, Options{})
		if err != nil || p.Fits != test.fits {
			t.Errorf("%s: fits %t, unseen %v, %v", test.name, p.Fits, p.Unseen, err)
		}
	}
}

// TestShapesShortOfQuota: a quota may forbid the claims that are to be made for pods.
func TestShapesShortOfQuota(t *testing.T) {
	for count, fits := range map[int]bool{2: true, 3: false} {
		o := explaintest.SmallFarm(1)
		hard := corev1.ResourceList{"count/resourceclaims.resource.k8s.io": resource.MustParse("2")}
		o.Quotas = append(o.Quotas, &corev1.ResourceQuota{
			ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "q"}, Spec: corev1.ResourceQuotaSpec{Hard: hard}, Status: corev1.ResourceQuotaStatus{Hard: hard},
		})
		health := map[inspect.Resource]inspect.Health{inspect.Quotas: {State: inspect.Synced}}
		c := scheduler.NewCluster(inspect.New(*o, inspect.Config{Features: inspect.DefaultFeatures(inspect.NewestMinor), Health: health}), scheduler.Options{})
		p, err := Find(t.Context(), c, explaintest.Workers(count, "w", "one"), []nodeshape.Shape{shapeOf("big", 64, "a100")}, Options{})
		if err != nil || p.Fits != fits {
			t.Errorf("%d pods: fits %t, unseen %v, %v", count, p.Fits, p.Unseen, err)
		}
	}
}
