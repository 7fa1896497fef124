package filters

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/klog/v2"
	upstream "k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// kubeScheduler is kube-scheduler as it is when it has seen all objects of a cluster.
type kubeScheduler struct {
	framework.Framework
	scheduler  *upstream.Scheduler
	snapshot   *cache.Snapshot
	preEnqueue []preEnqueuePlugin
	preFilter  []preFilterPlugin
	filter     []filterPlugin
	ctx        context.Context //nolint:containedctx // ends with the test, as the scheduler does
}

// inKubeScheduler starts a scheduler, waits until it has seen the objects, and calls a function with it.
// Nothing is written to the objects. All of it happens in a bubble of [synctest]: that is how one knows that
// nothing is on its way any more, and no time goes by.
func inKubeScheduler(t *testing.T, objects []runtime.Object, f func(t *testing.T, s *kubeScheduler)) {
	t.Helper()
	prepareProcess()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer time.Sleep(2 * time.Second) // until those of older releases have noticed, who look each second
		defer cancel()
		s, err := start(ctx, objects)
		if err != nil {
			t.Fatal(err)
		}
		f(t, s)
		if failure := unhandled.Swap(nil); failure != nil {
			t.Error("the scheduler met an error:", *failure)
		}
	})
}

// prepareProcess keeps what is global out of bubbles: it starts the goroutine of package signal, which the
// scheduler's cache debugger needs, and handles errors of goroutines without waiting, which would be by the
// clock of another bubble.
var prepareProcess = sync.OnceFunc(func() {
	c := make(chan os.Signal, 1)
	signal.Notify(c, os.Interrupt)
	signal.Stop(c)
	utilruntime.ErrorHandlers = []utilruntime.ErrorHandler{func(_ context.Context, err error, msg string, values ...any) {
		failure := fmt.Sprint(msg, ": ", err, " ", values)
		unhandled.CompareAndSwap(nil, &failure)
	}}
})

// unhandled is the first error of a goroutine that nobody waits for.
var unhandled atomic.Pointer[string]

// withProfiles are the options of schedulers that are started with a configuration.
var withProfiles []upstream.Option

func start(ctx context.Context, objects []runtime.Object) (*kubeScheduler, error) {
	ctx = klog.NewContext(ctx, logr.Discard())
	client := fake.NewSimpleClientset(objects...)
	informers := newInformers(client)
	s, err := upstream.New(ctx, client, informers, nil, recorder, withProfiles...)
	if err != nil {
		return nil, fmt.Errorf("making a scheduler: %w", err)
	}
	informers.Start(ctx.Done())
	synctest.Wait()
	if err := s.WaitForHandlersSync(ctx); err != nil {
		return nil, fmt.Errorf("waiting for the scheduler to see its objects: %w", err)
	}
	profile := s.Profiles[corev1.DefaultSchedulerName]
	snapshot := profile.SnapshotSharedLister().(*cache.Snapshot) //nolint:forcetypeassert // the scheduler makes it
	if err := s.Cache.UpdateSnapshot(klog.FromContext(ctx), snapshot); err != nil {
		return nil, fmt.Errorf("making the snapshot of a scheduling cycle: %w", err)
	}
	out := &kubeScheduler{Framework: profile, scheduler: s, snapshot: snapshot, ctx: ctx}
	return out, out.findPlugins()
}

// findPlugins finds the plugins behind the framework, in its order. It shows only their names, and the
// plugins themselves only as those that name events.
func (s *kubeScheduler) findPlugins() error {
	byName := map[string]kubePlugin{}
	for _, p := range s.EnqueueExtensions() {
		byName[p.Name()] = p
	}
	s.preEnqueue = s.PreEnqueuePlugins()
	var missing []string
	for _, p := range s.ListPlugins().PreFilter.Enabled {
		plugin, ok := byName[p.Name].(preFilterPlugin)
		if !ok {
			missing = append(missing, p.Name)
		}
		s.preFilter = append(s.preFilter, plugin)
	}
	for _, p := range s.ListPlugins().Filter.Enabled {
		plugin, ok := byName[p.Name].(filterPlugin)
		if !ok {
			missing = append(missing, p.Name)
		}
		s.filter = append(s.filter, plugin)
	}
	if len(missing) > 0 {
		return fmt.Errorf("plugins without EnqueueExtensions, by which they could be found: %q", missing)
	}
	return nil
}

// Plugins returns the names of all plugins that can refuse a pod, in the order in which the scheduler asks
// them.
func (s *kubeScheduler) Plugins() []string {
	var out []string
	add := func(name string) {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	for _, p := range s.preEnqueue {
		add(p.Name())
	}
	for _, p := range s.filter {
		add(p.Name())
	}
	return out
}
