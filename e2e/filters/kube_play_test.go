package filters

import (
	"context"
	"fmt"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	upstream "k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// longEnough is until a scheduler has tried everything again that it left waiting, also what no event told it
// to.
const longEnough = 15 * time.Minute

// kubePlay runs a scheduler on a cluster until it has nothing to do any more, and returns the nodes on which
// it places pods, by namespace and name. The pods come into its queue one after the other, before it takes
// the first. It chooses by chance among nodes that are as good as each other. Volumes are not provisioned.
// with, if not nil, changes how the server behaves, and starts controllers; else nothing is released when
// pods are ended.
func kubePlay(t *testing.T, objects *inspect.Objects, pods []*corev1.Pod, with func(context.Context, *fake.Clientset)) map[string]string {
	t.Helper()
	prepareProcess()
	out := map[string]string{}
	synctest.Test(t, func(t *testing.T) {
		if err := play(t, objects, pods, out, with); err != nil {
			t.Fatal(err)
		}
		unhandled.Store(nil) // such as of a PostFilter that looks for what a PreFilter after the one that refused would have left
	})
	return out
}

func play(t *testing.T, objects *inspect.Objects, pods []*corev1.Pod, out map[string]string, with func(context.Context, *fake.Clientset)) error {
	ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), logr.Discard()))
	defer cancel()
	client := serving(seen(objects))
	if with != nil {
		with(ctx, client)
	}
	informers := upstream.NewInformerFactory(client, 0, nil)
	recorder := func(string) events.EventRecorderLogger { return &events.FakeRecorder{} }
	s, err := upstream.New(ctx, client, informers, nil, recorder)
	if err != nil {
		return fmt.Errorf("making a scheduler: %w", err)
	}
	informers.Start(ctx.Done())
	synctest.Wait()
	if err := s.WaitForHandlersSync(ctx); err != nil {
		return fmt.Errorf("waiting for the scheduler to see its objects: %w", err)
	}
	for _, pod := range pods {
		if _, err := client.CoreV1().Pods(pod.Namespace).Create(ctx, pod.DeepCopy(), metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("creating pod %s: %w", pod.Name, err)
		}
		time.Sleep(time.Millisecond) // by which the queue tells who came first
	}
	go s.Run(ctx)
	time.Sleep(longEnough)
	list, err := client.CoreV1().Pods(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("listing pods: %w", err)
	}
	for i := range list.Items {
		if pod := &list.Items[i]; pod.Spec.NodeName != "" {
			out[pod.Namespace+"/"+pod.Name] = pod.Spec.NodeName
		}
	}
	cancel()
	synctest.Wait()
	return nil
}

// serving is a client that serves objects as a server does: what is written gets another version, and a
// binding puts a pod on its node.
func serving(objects []runtime.Object) *fake.Clientset {
	copies := make([]runtime.Object, len(objects))
	for i, o := range objects {
		copies[i] = o.DeepCopyObject()
		renew(copies[i])
	}
	client := fake.NewSimpleClientset(copies...)
	client.PrependReactor("*", "*", func(action clienttesting.Action) (bool, runtime.Object, error) {
		if update, ok := action.(clienttesting.CreateAction); ok { // which updates are too
			if was, err := unchanged(client, action, update.GetObject()); was != nil || err != nil {
				return true, was, err
			}
			renew(update.GetObject())
		}
		return false, nil, nil
	})
	client.PrependReactor("create", "pods", func(action clienttesting.Action) (bool, runtime.Object, error) {
		if action.GetSubresource() != "binding" {
			return false, nil, nil
		}
		binding := action.(clienttesting.CreateAction).GetObject().(*corev1.Binding) //nolint:forcetypeassert // the only body of a binding
		found, err := client.Tracker().Get(action.GetResource(), binding.Namespace, binding.Name)
		if err != nil {
			return true, nil, err
		}
		pod := found.(*corev1.Pod).DeepCopy() //nolint:forcetypeassert // it is under that name
		pod.Spec.NodeName = binding.Target.Name
		renew(pod)
		return true, binding, client.Tracker().Update(action.GetResource(), pod, pod.Namespace)
	})
	patch := clienttesting.ObjectReaction(client.Tracker())
	client.PrependReactor("patch", "*", func(action clienttesting.Action) (bool, runtime.Object, error) {
		handled, object, err := patch(action)
		if err == nil {
			renew(object)
			err = client.Tracker().Update(action.GetResource(), object, action.GetNamespace())
		}
		return handled, object, err
	})
	return client
}

// unchanged is what is served, if that is what an update writes: nobody is told of it then.
func unchanged(client *fake.Clientset, action clienttesting.Action, object runtime.Object) (runtime.Object, error) {
	written, ok := object.DeepCopyObject().(metav1.Object)
	if !ok || action.GetVerb() != "update" {
		return nil, nil
	}
	was, err := client.Tracker().Get(action.GetResource(), written.GetNamespace(), written.GetName())
	if err != nil {
		return nil, fmt.Errorf("updating %s: %w", written.GetName(), err)
	}
	written.SetResourceVersion(was.(metav1.Object).GetResourceVersion()) //nolint:forcetypeassert // it is of the same kind
	if !equality.Semantic.DeepEqual(was, written) {
		return nil, nil
	}
	return was, nil
}

// versions are those of all objects that have been served.
var versions atomic.Int64

// renew gives an object that is written another version, without which nobody is told of it.
func renew(object any) {
	if o, ok := object.(metav1.Object); ok {
		o.SetResourceVersion(strconv.FormatInt(versions.Add(1), 10))
	}
}

// Choose lets the scheduler choose a node for a pod. It is an error if none fits or nodes cannot be compared.
func (s *kubeScheduler) Choose(pod *corev1.Pod) (string, error) {
	info, err := framework.NewPodInfo(pod)
	if err != nil {
		return "", fmt.Errorf("reading pod %s: %w", pod.Name, err)
	}
	result, err := s.scheduler.SchedulePod(s.ctx, s.Framework, framework.NewCycleState(), &framework.QueuedPodInfo{PodInfo: info})
	if err != nil {
		return "", fmt.Errorf("scheduling pod %s: %w", pod.Name, err)
	}
	return result.SuggestedHost, nil
}
