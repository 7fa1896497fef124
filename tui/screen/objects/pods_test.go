package objects_test

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/screen/detail"
	"github.com/kubectl-dra/kubectl-dra/tui/screen/objects"
	"github.com/kubectl-dra/kubectl-dra/tui/screen/screentest"
)

// TestPodsOfDevicePlugins: a pod that runs and uses nothing but extended resources of a device plugin is
// listed with them, also if only one that begins before the others asks. One that asks for CPUs alone is not.
func TestPodsOfDevicePlugins(t *testing.T) {
	w := screentest.Demo(t)
	o := *w.Snapshot.Objects()
	pod := func(name string, init bool, resources ...corev1.ResourceName) {
		list := corev1.ResourceList{}
		for _, r := range resources {
			list[r] = resource.MustParse("2")
		}
		container := corev1.Container{Name: "c", Resources: corev1.ResourceRequirements{Requests: list}}
		p := &corev1.Pod{Spec: corev1.PodSpec{NodeName: "cpu-01", Containers: []corev1.Container{container}}, Status: corev1.PodStatus{Phase: corev1.PodRunning}}
		if p.Namespace, p.Name = "net", name; init {
			p.Spec.InitContainers, p.Spec.Containers = p.Spec.Containers, []corev1.Container{{Name: "main"}}
		}
		o.Pods = append(slices.Clone(o.Pods), p)
	}
	pod("zz-plugin", false, "cpu", "example.com/vpu", "example.com/asic")
	pod("zz-plugin-init", true, "example.com/vpu")
	pod("zz-plain", false, "cpu", "hugepages-2Mi")
	w = screentest.World(t, o)
	s := objects.NewPods(detail.About)
	screentest.Settle(w, s, screen.Shown{})
	var got []string
	for line := range strings.Lines(s.Plain(w, 0)) {
		if fields := strings.Fields(line); strings.HasPrefix(fields[1], "zz-") || fields[1] == "thumbnails" {
			fields = slices.DeleteFunc(fields, func(f string) bool { return f == "✗" })
			got = append(got, strings.TrimSuffix(strings.Join(fields[1:6], " "), " –"))
		}
	}
	want := []string{"thumbnails refused – example.com/vpu 0/12", "zz-plugin running cpu-01 example.com/asic example.com/vpu", "zz-plugin-init running cpu-01 example.com/vpu"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
