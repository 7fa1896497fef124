// Package eviction asks the resourceslice tracker of kube-scheduler and the controller that evicts pods
// because of devices what they make of taints. Like the allocators above it is a program of its own, here a
// test binary because the controller runs in a bubble of synctest, where hours take no time:
//
//	go test -c -o /tmp/eviction .     (with -tags kube138 for 1.38)
//	/tmp/eviction -test.run Serve
//
// It reads a [Problem] in JSON from each line of standard input and writes a [Reply] for it. The comparison
// is a test of internal/checkup (go test ./internal/checkup -run Releases -oracles). The source names what
// differs between releases by reflection, so that another go.mod gives another release: those of older ones
// are in releases. Of patches of 1.37 the controller and the tracker alone are their own: the libraries
// around them are those of 1.37.2, which need not be built again.
package eviction

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/component-base/featuregate"
	"k8s.io/dynamic-resource-allocation/resourceslice/tracker"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/devicetainteviction"
)

// Problem is a cluster with tainted devices, at the moment at which bubbles of synctest begin.
type Problem struct {
	// Gates are the feature gates that this project knows in the release.
	Gates  map[string]bool
	Slices []*resourcev1.ResourceSlice
	// Rules are DeviceTaintRules of resource.k8s.io/v1.
	Rules  []json.RawMessage
	Claims []*resourcev1.ResourceClaim
	Pods   []*corev1.Pod
	// Seconds is how long the controller is watched.
	Seconds int
}

// Reply is what becomes of the problem.
type Reply struct {
	// Taints are those of each device, by the name of its slice and its own, as the scheduler sees them.
	Taints map[string][]resourcev1.DeviceTaint
	// Crash says how the tracker fails.
	Crash string
	// Evicted says after how many seconds pods are deleted, by namespace and name.
	Evicted map[string]float64
}

// TestServe answers problems until there are no more.
func TestServe(t *testing.T) {
	klog.SetLogger(klog.Logger{})
	utilruntime.ReallyCrash = false
	in, out := json.NewDecoder(bufio.NewReader(os.Stdin)), json.NewEncoder(os.Stdout)
	for {
		var p Problem
		if err := in.Decode(&p); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
		if err := p.setGates(); err != nil {
			t.Fatal(err)
		}
		reply := Reply{Taints: map[string][]resourcev1.DeviceTaint{}, Evicted: map[string]float64{}}
		synctest.Test(t, func(t *testing.T) { p.track(t, &reply) })
		synctest.Test(t, func(t *testing.T) { p.evict(t, &reply) })
		if err := out.Encode(reply); err != nil {
			t.Fatal(err)
		}
	}
}

func (p *Problem) setGates() error {
	gate, changed := utilfeature.DefaultMutableFeatureGate, map[string]bool{}
	for name := range gate.GetAll() {
		if on, given := p.Gates[string(name)]; given && gate.Enabled(featuregate.Feature(name)) != on {
			changed[string(name)] = on
		}
	}
	return gate.SetFromMap(changed)
}

// cluster is a server with the objects, and what reads from it.
func (p *Problem) cluster(t *testing.T) (*fake.Clientset, informers.SharedInformerFactory) {
	t.Helper()
	var objects []runtime.Object
	for _, slice := range p.Slices {
		objects = append(objects, slice.DeepCopy())
	}
	for _, claim := range p.Claims {
		objects = append(objects, claim.DeepCopy())
	}
	for _, pod := range p.Pods {
		objects = append(objects, pod.DeepCopy())
	}
	for _, raw := range p.Rules {
		text := strings.Replace(string(raw), `"resource.k8s.io/v1"`, `"resource.k8s.io/`+ruleVersion()+`"`, 1)
		rule, _, err := scheme.Codecs.UniversalDeserializer().Decode([]byte(text), nil, nil)
		if err != nil {
			t.Fatalf("reading %s: %v", text, err)
		}
		objects = append(objects, rule)
	}
	client := fake.NewClientset(objects...)
	// Without a period to read all again, informers before 1.35 wait for what is not of the bubble.
	return client, informers.NewSharedInformerFactory(client, 100*time.Hour)
}

// ruleVersion is the version in which the release reads DeviceTaintRules.
func ruleVersion() string {
	return path.Base(reflect.TypeFor[tracker.Options]().Field(taintInformer()).Type.PkgPath())
}

func taintInformer() int {
	field, _ := reflect.TypeFor[tracker.Options]().FieldByName("TaintInformer")
	return field.Index[0]
}

// informer returns an informer of the resource API for a kind, in a version.
func informer(f informers.SharedInformerFactory, version, kind string) reflect.Value {
	group := reflect.ValueOf(f.Resource()).MethodByName(strings.ToUpper(version[:1]) + version[1:]).Call(nil)[0]
	return group.MethodByName(kind).Call(nil)[0]
}

// track asks the tracker, which was made with the gates as the scheduler makes it.
func (p *Problem) track(t *testing.T, reply *Reply) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	client, factory := p.cluster(t)
	options := tracker.Options{KubeClient: client}
	v := reflect.ValueOf(&options).Elem()
	setSlices(&options, factory)
	v.Field(taintInformer()).Set(informer(factory, ruleVersion(), "DeviceTaintRules"))
	if classes := v.FieldByName("ClassInformer"); classes.IsValid() {
		classes.Set(informer(factory, "v1", "DeviceClasses"))
	}
	if rules := v.FieldByName("EnableDeviceTaintRules"); rules.IsValid() {
		rules.SetBool(p.Gates["DRADeviceTaintRules"])
	} else { // 1.34
		v.FieldByName("EnableDeviceTaints").SetBool(p.Gates["DRADeviceTaints"])
	}
	var crash any
	utilruntime.PanicHandlers = []func(context.Context, any){func(_ context.Context, r any) { crash = r }}
	slices, err := tracker.StartTracker(ctx, options)
	if err != nil {
		t.Fatal(err)
	}
	defer slices.Stop()
	factory.Start(ctx.Done())
	synctest.Wait()
	defer factory.Shutdown()
	defer cancel()
	if crash != nil {
		reply.Crash = fmt.Sprint(crash)
		return
	}
	read, err := patched(slices)
	if err != nil {
		t.Fatal(err)
	}
	for i := range read {
		for j := range read[i].Spec.Devices {
			device := &read[i].Spec.Devices[j]
			reply.Taints[read[i].Name+"/"+device.Name] = device.Taints
		}
	}
}

// evict lets the controller run.
func (p *Problem) evict(t *testing.T, reply *Reply) {
	if !p.Gates["DRADeviceTaints"] {
		return // then kube-controller-manager does not start it
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	client, factory := p.cluster(t)
	start := time.Now()
	client.PrependReactor("delete", "pods", func(action clienttesting.Action) (bool, runtime.Object, error) {
		a := action.(clienttesting.DeleteAction)
		if name := a.GetNamespace() + "/" + a.GetName(); reply.Evicted[name] == 0 {
			reply.Evicted[name] = time.Since(start).Seconds()
		}
		return false, nil, nil
	})
	arguments := []reflect.Value{
		reflect.ValueOf(client), reflect.ValueOf(factory.Core().V1().Pods()), informer(factory, "v1", "ResourceClaims"), informer(factory, "v1", "ResourceSlices"),
		informer(factory, ruleVersion(), "DeviceTaintRules"), informer(factory, "v1", "DeviceClasses"), reflect.ValueOf("eviction"),
	}
	create := reflect.ValueOf(devicetainteviction.New)
	if create.Type().NumIn() > len(arguments) { // 1.36
		arguments = append(arguments, reflect.ValueOf(p.Gates["DRAWorkloadResourceClaims"]))
	}
	run := create.Call(arguments)[0].MethodByName("Run")
	arguments = []reflect.Value{reflect.ValueOf(ctx)}
	if run.Type().NumIn() > 1 { // since 1.35
		arguments = append(arguments, reflect.ValueOf(2))
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		run.Call(arguments)
	}()
	synctest.Wait()
	factory.Start(ctx.Done())
	time.Sleep(time.Duration(p.Seconds) * time.Second)
	synctest.Wait()
	cancel()
	factory.Shutdown()
	<-ended
}
