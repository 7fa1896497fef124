package live

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/live/wire"
	"github.com/kubectl-dra/kubectl-dra/inspect/sharing"
)

// siblings is how many pods of BenchmarkPodsInMemory are of one controller.
const siblings = 10

// typicalPod is a pod as clusters have them by the thousand: an init container, a sidecar, settings, probes,
// volumes, a preferred affinity, and a kubelet that has said all it says of a pod that runs.
func typicalPod(n int) *corev1.Pod {
	set := n / siblings
	at := metav1.NewTime(time.Date(2026, 3, 1, 0, 0, n, 0, time.UTC))
	name, app := fmt.Sprintf("app-%05d-5d8f9c7b6d-%05d", set, n), fmt.Sprintf("app-%05d", set)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: fmt.Sprintf("team-%02d", set%40), Name: name, GenerateName: app + "-5d8f9c7b6d-", CreationTimestamp: at,
		UID:         types.UID(fmt.Sprintf("0b7e7a52-7f0b-4f0c-9d5e-%012d", n)),
		Annotations: map[string]string{"prometheus.io/scrape": "true", "checksum/config": fmt.Sprintf("%064d", set)},
		Labels: map[string]string{
			"app.kubernetes.io/name": app, "app.kubernetes.io/instance": app, "app.kubernetes.io/managed-by": "Helm",
			"app.kubernetes.io/version": "1.2.3", "pod-template-hash": "5d8f9c7b6d", "team": "search",
		},
		OwnerReferences: []metav1.OwnerReference{{
			APIVersion: "apps/v1", Kind: "ReplicaSet", Name: app + "-5d8f9c7b6d", UID: types.UID(fmt.Sprintf("7f0b7a52-7f0b-4f0c-9d5e-%012d", set)),
			Controller: ptr.To(true), BlockOwnerDeletion: ptr.To(true),
		}},
	}}
	pod.Spec = corev1.PodSpec{
		NodeName: fmt.Sprintf("node-%05d", n%5000), SchedulerName: corev1.DefaultSchedulerName, RestartPolicy: corev1.RestartPolicyAlways,
		ServiceAccountName: app, DNSPolicy: corev1.DNSClusterFirst, Priority: ptr.To[int32](0), PreemptionPolicy: ptr.To(corev1.PreemptLowerPriority),
		TerminationGracePeriodSeconds: ptr.To[int64](30), SecurityContext: &corev1.PodSecurityContext{RunAsNonRoot: ptr.To(true)},
		InitContainers: []corev1.Container{typicalContainer("init", false)},
		Containers:     []corev1.Container{typicalContainer("main", true), typicalContainer("proxy", true)},
		Volumes: []corev1.Volume{
			{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{DefaultMode: ptr.To[int32](420)}}},
			{Name: "cache", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
			{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name}}},
			{Name: "kube-api-access", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{DefaultMode: ptr.To[int32](420)}}},
		},
		Tolerations: []corev1.Toleration{
			{Key: corev1.TaintNodeNotReady, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: ptr.To[int64](300)},
			{Key: corev1.TaintNodeUnreachable, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: ptr.To[int64](300)},
		},
		Affinity: &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
			PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{Weight: 100, PodAffinityTerm: corev1.PodAffinityTerm{
				TopologyKey: corev1.LabelHostname, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app.kubernetes.io/name": app}},
			}}},
		}},
	}
	pod.Status = corev1.PodStatus{Phase: corev1.PodRunning, QOSClass: corev1.PodQOSBurstable, PodIP: "10.0.0.1", HostIP: "10.1.0.1", StartTime: &at}
	for _, kind := range []corev1.PodConditionType{corev1.PodReadyToStartContainers, corev1.PodInitialized, corev1.PodReady, corev1.ContainersReady, corev1.PodScheduled} {
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: kind, Status: corev1.ConditionTrue, LastTransitionTime: at})
	}
	pod.Status.InitContainerStatuses = []corev1.ContainerStatus{typicalStatus(&pod.Spec.InitContainers[0], corev1.ContainerState{
		Terminated: &corev1.ContainerStateTerminated{Reason: "Completed", StartedAt: at, FinishedAt: at, ContainerID: fmt.Sprintf("containerd://%064d", n)},
	})}
	for i := range pod.Spec.Containers {
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses,
			typicalStatus(&pod.Spec.Containers[i], corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: at}}))
	}
	return pod
}

func typicalContainer(name string, probes bool) corev1.Container {
	c := corev1.Container{
		Name: name, Image: "registry.example.com/team/" + name + ":1.2.3", Command: []string{"/bin/" + name, "--verbose"},
		Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("250m"), corev1.ResourceMemory: resource.MustParse("512Mi")},
			Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")},
		},
		Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 8080, Protocol: corev1.ProtocolTCP}},
		VolumeMounts: []corev1.VolumeMount{
			{Name: "config", MountPath: "/etc/" + name}, {Name: "kube-api-access", MountPath: "/var/run/secrets/kubernetes.io/serviceaccount", ReadOnly: true},
		},
		TerminationMessagePath: corev1.TerminationMessagePathDefault, TerminationMessagePolicy: corev1.TerminationMessageReadFile,
		ImagePullPolicy: corev1.PullIfNotPresent,
	}
	for i := range 10 {
		c.Env = append(c.Env, corev1.EnvVar{Name: fmt.Sprintf("SETTING_%d", i), Value: "a value of some length, as they have"})
	}
	if probes {
		c.LivenessProbe = &corev1.Probe{PeriodSeconds: 10}
		c.ReadinessProbe = &corev1.Probe{PeriodSeconds: 10}
	}
	return c
}

func typicalStatus(c *corev1.Container, state corev1.ContainerState) corev1.ContainerStatus {
	return corev1.ContainerStatus{
		Name: c.Name, State: state, Ready: true, Image: c.Image, ImageID: fmt.Sprintf("%s@sha256:%064d", c.Image, 1), Started: ptr.To(true),
		ContainerID: fmt.Sprintf("containerd://%064d", 1), AllocatedResources: c.Resources.Requests.DeepCopy(), Resources: c.Resources.DeepCopy(),
	}
}

// BenchmarkPodsInMemory measures what 20,000 pods take once they have been read: all of them, and what is
// kept.
func BenchmarkPodsInMemory(b *testing.B) {
	pods, _ := wire.KindOf(inspect.Pods)
	whole := pods
	whole.Reduced = func(wire.Object) {}
	for _, bb := range []struct {
		name string
		kind wire.Kind
	}{{"whole", whole}, {"kept", pods}} {
		b.Run(bb.name, func(b *testing.B) {
			for b.Loop() {
				before := liveHeap()
				held := readPods(b, bb.kind, 20_000)
				b.ReportMetric(float64(liveHeap()-before)/(1<<20), "MiB")
				runtime.KeepAlive(held)
			}
		})
	}
}

// readPods reads pods as Read does: encoded, a page at a time.
func readPods(tb testing.TB, k wire.Kind, n int) []wire.Object {
	tb.Helper()
	var held []wire.Object
	for from := 0; from < n; from += defaultPageSize {
		page := &corev1.PodList{}
		for i := range min(defaultPageSize, n-from) {
			page.Items = append(page.Items, *typicalPod(from + i))
		}
		data, err := page.Marshal()
		if err != nil {
			tb.Fatal(err)
		}
		decoded := &corev1.PodList{}
		if err := decoded.Unmarshal(data); err != nil {
			tb.Fatal(err)
		}
		objects, err := k.Read(k.Versions[0], decoded, sharing.New())
		if err != nil {
			tb.Fatal(err)
		}
		held = append(held, objects...)
	}
	return held
}

func liveHeap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
