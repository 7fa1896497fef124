package node_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/types"
	podsapi "k8s.io/kubelet/pkg/apis/pods/v1alpha1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/node"
)

// kubeletPod is a pod without claims.
func kubeletPod(name string, uid types.UID) *corev1.Pod {
	p := podObject(name, corev1.PodRunning)
	p.UID = uid
	return p
}

func fromFile(p *corev1.Pod) *corev1.Pod {
	p.Annotations = map[string]string{"kubernetes.io/config.source": "file"}
	return p
}

func ended(p *corev1.Pod) *corev1.Pod {
	p.Status.Phase = corev1.PodSucceeded
	return p
}

// TestKubeletPods has a kubelet that serves the Pods API, one that answers but does not, and one that sends
// something else.
func TestKubeletPods(t *testing.T) {
	k := newKubelet(t)
	if v := read(t, k); v.Health[node.PodsAPI].State != inspect.NotServed {
		t.Errorf("without a socket: %+v", v.Health[node.PodsAPI])
	}
	for _, name := range []string{"b", "a"} {
		data, err := kubeletPod(name, "u").Marshal()
		if err != nil {
			t.Fatal(err)
		}
		k.pods = append(k.pods, data)
	}
	k.serve(t, "pods-api/pods-api.sock", func(s *grpc.Server) { podsapi.RegisterPodsServer(s, k) })
	v := read(t, k)
	if !v.Read(node.PodsAPI) || !v.Any() || len(v.KubeletPods) != 2 || v.KubeletPods[0].Name != "a" || v.KubeletPods[1].Spec.NodeName != "n1" {
		t.Errorf("%+v, pods %v", v.Health[node.PodsAPI], v.KubeletPods)
	}
	if on, ok := node.Of(v, inspect.New(inspect.Objects{}, inspect.Config{})); on != "n1" || !ok {
		t.Errorf("the kubelet is that of %q", on)
	}
	k.pods[1] = []byte("no pod")
	if v := read(t, k); v.Health[node.PodsAPI].State != inspect.Broken || v.KubeletPods != nil {
		t.Errorf("of something else: %+v", v.Health[node.PodsAPI])
	}
	other := newKubelet(t)
	other.serve(t, "pods-api/pods-api.sock", func(*grpc.Server) {})
	if v := read(t, other); v.Health[node.PodsAPI].State != inspect.NotServed {
		t.Errorf("of a kubelet that does not serve it: %+v", v.Health[node.PodsAPI])
	}
}

// TestKubeletPodsJoined compares the pods that the kubelet knows with those of the API server, and has them
// stand in for these.
func TestKubeletPodsJoined(t *testing.T) {
	claimed := inspect.Objects{Claims: []*resourcev1.ResourceClaim{claimObject("c", "u", "gpu-0")}}
	noPods := []inspect.Resource{inspect.Pods}
	for name, test := range map[string]struct {
		view    node.View
		objects inspect.Objects
		unread  []inspect.Resource
		want    []string
	}{
		"a pod that only the kubelet knows": {node.View{KubeletPods: []*corev1.Pod{kubeletPod("p", "u")}}, inspect.Objects{}, nil, []string{"PodUnknown"}},
		"a pod of the name of another":      {node.View{KubeletPods: []*corev1.Pod{kubeletPod("p", "old")}}, inspect.Objects{Pods: []*corev1.Pod{kubeletPod("p", "new")}}, nil, []string{"PodUnknown"}},
		"a pod that both know":              {node.View{KubeletPods: []*corev1.Pod{kubeletPod("p", "u")}}, inspect.Objects{Pods: []*corev1.Pod{kubeletPod("p", "u")}}, nil, nil},
		"a static pod":                      {node.View{KubeletPods: []*corev1.Pod{fromFile(kubeletPod("p", "hash"))}}, inspect.Objects{Pods: []*corev1.Pod{kubeletPod("p", "mirror")}}, nil, nil},
		"a pod that has ended there":        {node.View{KubeletPods: []*corev1.Pod{ended(kubeletPod("p", "u"))}}, inspect.Objects{}, nil, nil},
		"a pod that the kubelet has not":    {node.View{}, inspect.Objects{Pods: []*corev1.Pod{kubeletPod("p", "u")}}, nil, []string{"PodUnseen"}},
		"an ended pod that it has not":      {node.View{}, inspect.Objects{Pods: []*corev1.Pod{ended(kubeletPod("p", "u"))}}, nil, nil},
		"pods are known to the kubelet":     {node.View{KubeletPods: []*corev1.Pod{podObject("p", corev1.PodRunning, "c")}}, claimed, noPods, []string{"NotPrepared"}},
		"prepared for a pod of the kubelet": {node.View{Claims: []node.PreparedClaim{preparedAs("c", "u", "gpu-0")}, Plugins: answering, KubeletPods: []*corev1.Pod{kubeletPod("p", "pod-u")}},
			inspect.Objects{}, []inspect.Resource{inspect.Pods, inspect.Claims}, nil},
		"prepared for none of its pods": {node.View{Claims: []node.PreparedClaim{preparedAs("c", "u", "gpu-0")}, Plugins: answering, KubeletPods: []*corev1.Pod{kubeletPod("p", "other")}},
			inspect.Objects{}, []inspect.Resource{inspect.Pods, inspect.Claims}, []string{"PreparedForNobody"}},
	} {
		t.Run(name, func(t *testing.T) {
			v := viewOf(test.view)
			v.Health[node.PodsAPI] = inspect.Health{State: inspect.Synced}
			r := node.Join(v, cluster(test.objects, test.unread...), "n1")
			if diff := cmp.Diff(test.want, problemCodes(t, r)); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
			v.Health[node.PodsAPI] = inspect.Health{State: inspect.Broken}
			v.KubeletPods = nil
			for _, p := range node.Join(v, cluster(test.objects, test.unread...), "n1").Problems {
				if p.Code == node.PodUnknown || p.Code == node.PodUnseen || p.Code == node.PreparedForNobody {
					t.Errorf("%s although the kubelet did not say which pods it knows", p.Code)
				}
			}
		})
	}
}

// FuzzPods has the Pods API answer anything. What can be read as a pod is joined.
func FuzzPods(f *testing.F) {
	for _, pod := range []*corev1.Pod{kubeletPod("p", "u"), fromFile(podObject("q", corev1.PodPending, "c")),
		fromTemplate(withHealth(podObject("r", corev1.PodRunning), "claim:c/one", unit("x=gpu-0", corev1.ResourceHealthStatusUnhealthy)), "")} {
		data, err := pod.Marshal()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	objects := inspect.Objects{Claims: []*resourcev1.ResourceClaim{claimObject("c", "u", "gpu-0")}, Pods: []*corev1.Pod{podObject("p", corev1.PodRunning, "c")}}
	f.Fuzz(func(t *testing.T, data []byte) {
		pods, err := node.ParsePods([][]byte{data})
		if err != nil {
			return
		}
		for _, unread := range [][]inspect.Resource{nil, {inspect.Pods, inspect.Claims}} {
			v := viewOf(node.View{KubeletPods: pods, Claims: []node.PreparedClaim{preparedAs("c", "u", "gpu-0")}})
			v.Health[node.PodsAPI] = inspect.Health{State: inspect.Synced}
			problemCodes(t, node.Join(v, cluster(objects, unread...), "n1"))
		}
	})
}
