package podrequests_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-dra/kubectl-dra/scheduler/kueue/podrequests"
)

// list reads "cpu=1 memory=2Gi".
func list(text string) corev1.ResourceList {
	out := corev1.ResourceList{}
	for _, pair := range strings.Fields(text) {
		name, amount, _ := strings.Cut(pair, "=")
		out[corev1.ResourceName(name)] = resource.MustParse(amount)
	}
	return out
}

func textOf(l corev1.ResourceList) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(l)) {
		q := l[name]
		parts = append(parts, fmt.Sprintf("%s=%s", name, q.String()))
	}
	return strings.Join(parts, " ")
}

func TestTransformed(t *testing.T) {
	t.Parallel()
	to := func(outputs string) map[corev1.ResourceName]resource.Quantity { return list(outputs) }
	for name, test := range map[string]struct {
		in, exclude, want string
		all               []podrequests.Transformation
	}{
		"nothing":             {in: "cpu=1", want: "cpu=1"},
		"left out by prefix":  {in: "cpu=1 example.com/a=2 example.com/b=3", exclude: "example.com/", want: "cpu=1"},
		"input is kept":       {in: "a=2", all: []podrequests.Transformation{{Input: "a", Outputs: to("b=3")}}, want: "a=2 b=6"},
		"input is replaced":   {in: "a=2 cpu=1", all: []podrequests.Transformation{{Input: "a", Replace: true, Outputs: to("b=3")}}, want: "b=6 cpu=1"},
		"added to what is":    {in: "a=2 b=1", all: []podrequests.Transformation{{Input: "a", Replace: true, Outputs: to("b=3")}}, want: "b=7"},
		"the last one counts": {in: "a=2", all: []podrequests.Transformation{{Input: "a", Outputs: to("b=3")}, {Input: "a", Replace: true, Outputs: to("c=1")}}, want: "c=2"},
		"multiplied":          {in: "mem=10 gpus=4", all: []podrequests.Transformation{{Input: "mem", Replace: true, MultiplyBy: "gpus", Outputs: to("total=1")}}, want: "gpus=4 total=40"},
		"by what is not asked": {in: "mem=10", all: []podrequests.Transformation{{Input: "mem", Replace: true, MultiplyBy: "gpus", Outputs: to("total=1")}},
			want: "total=10"},
		"an excluded factor":  {in: "mem=10 x/g=4", exclude: "x/", all: []podrequests.Transformation{{Input: "mem", Replace: true, MultiplyBy: "x/g", Outputs: to("total=1")}}, want: "total=10"},
		"less than none":      {in: "a=2 b=1", all: []podrequests.Transformation{{Input: "a", Replace: true, Outputs: to("b=-3")}}, want: "b=1"},
		"less than none, new": {in: "a=2", all: []podrequests.Transformation{{Input: "a", Replace: true, Outputs: to("b=-3")}}, want: "b=0"},
		"fractions":           {in: "cpu=500m", all: []podrequests.Transformation{{Input: "cpu", Outputs: to("credits=100m")}}, want: "cpu=500m credits=50m"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := textOf(podrequests.Transformed(list(test.in), strings.Fields(test.exclude), test.all)); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}

func TestAdjusted(t *testing.T) {
	t.Parallel()
	of := func(requests, limits string) corev1.ResourceRequirements {
		return corev1.ResourceRequirements{Requests: list(requests), Limits: list(limits)}
	}
	spec := &corev1.PodSpec{
		InitContainers: []corev1.Container{{Name: "i", Resources: of("", "cpu=2")}},
		Containers:     []corev1.Container{{Name: "c", Resources: of("cpu=1", "cpu=3 memory=4")}},
		Resources:      new(of("memory=1", "cpu=5")),
	}
	out := podrequests.Adjusted(spec)
	got := strings.Join([]string{textOf(out.InitContainers[0].Resources.Requests), textOf(out.Containers[0].Resources.Requests), textOf(out.Resources.Requests)}, "; ")
	if want := "cpu=2; cpu=1 memory=4; cpu=5 memory=1"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if before := textOf(spec.Containers[0].Resources.Requests) + textOf(spec.Resources.Requests); before != "cpu=1memory=1" {
		t.Errorf("the spec was changed: %s", before)
	}
	if name := podrequests.ExceedsLimits(spec); name != "" {
		t.Errorf("%s exceeds its limits", name)
	}
	spec.Containers[0].Resources = of("cpu=3001m", "cpu=3")
	if name := podrequests.ExceedsLimits(spec); name != "c" {
		t.Errorf("%q exceeds its limits", name)
	}
	spec.Containers, spec.Resources = nil, new(of("cpu=2", "cpu=1"))
	if name := podrequests.ExceedsLimits(spec); name != "pod" {
		t.Errorf("%q exceeds its limits", name)
	}
}

func TestIsExtended(t *testing.T) {
	t.Parallel()
	for name, want := range map[corev1.ResourceName]bool{"cpu": false, "example.com/gpu": true, "kubernetes.io/batch-cpu": false, "hugepages-2Mi": false} {
		if podrequests.IsExtended(name) != want {
			t.Errorf("%s: %t", name, !want)
		}
	}
}
