package live_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/live"
)

const (
	slicesPath = "/apis/resource.k8s.io/v1/resourceslices"
	claimsPath = "/apis/resource.k8s.io/v1/resourceclaims"
	podsPath   = "/api/v1/pods"
	nodesPath  = "/api/v1/nodes"
)

func mustRead(t *testing.T, f *fakeServer, opts live.Options) *live.Cluster {
	t.Helper()
	cluster, err := live.Read(t.Context(), f.start(t), opts)
	if err != nil {
		t.Fatalf("Read: %v", err)
	}
	return cluster
}

func TestEveryKindIsReadAtItsNewestVersion(t *testing.T) {
	f := newFake()
	f.objects = map[string][]string{
		claimsPath: {named("a")}, slicesPath: {named("b")}, podsPath: {named("c")}, nodesPath: {named("d")},
		"/apis/resource.k8s.io/v1/resourceclaimtemplates":                   {named("e")},
		"/apis/resource.k8s.io/v1/deviceclasses":                            {named("f")},
		"/apis/resource.k8s.io/v1/devicetaintrules":                         {named("g")},
		"/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas":                 {named("h")},
		"/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations": {named("i")},
		"/apis/storage.k8s.io/v1/csistoragecapacities":                      {named("j")},
		"/apis/storage.k8s.io/v1/storageclasses":                            {named("k")},
		"/apis/storage.k8s.io/v1/csidrivers":                                {named("l")},
		"/api/v1/persistentvolumeclaims":                                    {named("m")},
		"/api/v1/persistentvolumes":                                         {named("n")},
		"/api/v1/namespaces":                                                {named("o")},
		"/apis/storage.k8s.io/v1/csinodes":                                  {named("p")},
		"/apis/storage.k8s.io/v1/volumeattachments":                         {named("q")},
		"/apis/scheduling.k8s.io/v1beta1/podgroups":                         {named("r")},
		"/api/v1/resourcequotas":                                            {named("s")},
		"/apis/policy/v1/poddisruptionbudgets":                              {named("t")},
		"/api/v1/limitranges":                                               {named("u")},
	}
	f.served["scheduling.k8s.io/v1beta1"] = []string{"podgroups", "compositepodgroups"}
	f.objects["/apis/scheduling.k8s.io/v1beta1/compositepodgroups"] = []string{named("~")}
	for i, k := range slices.DeleteFunc(inspect.Kinds(), func(k inspect.Kind) bool { return !k.Resource.OfKueue() }) {
		f.served["kueue.x-k8s.io/v1beta2"] = append(f.served["kueue.x-k8s.io/v1beta2"], string(k.Resource))
		f.objects["/apis/kueue.x-k8s.io/v1beta2/"+string(k.Resource)] = []string{named(string(rune('v' + i)))}
	}
	var progress []string
	cluster := mustRead(t, f, live.Options{Resources: inspect.Resources(), Progress: func(s string) { progress = append(progress, s) }})
	o := cluster.Objects
	got := []string{
		o.Claims[0].Name, o.Slices[0].Name, o.Pods[0].Name, o.Nodes[0].Name, o.Templates[0].Name, o.Classes[0].Name, o.TaintRules[0].Name,
		o.FlowSchemas[0].Name, o.PriorityLevels[0].Name, o.StorageCapacities[0].Name, o.StorageClasses[0].Name, o.CSIDrivers[0].Name,
		o.VolumeClaims[0].Name, o.Volumes[0].Name, o.Namespaces[0].Name, o.CSINodes[0].Name, o.VolumeAttachments[0].Name,
		o.PodGroups[0].Name, o.Quotas[0].Name, o.Budgets[0].Name, o.LimitRanges[0].Name, o.KueueWorkloads[0].Name, o.ClusterQueues[0].Name, o.LocalQueues[0].Name, o.Cohorts[0].Name,
		o.ResourceFlavors[0].Name, o.WorkloadPriorityClasses[0].Name, o.AdmissionChecks[0].Name, o.Topologies[0].Name, o.CompositePodGroups[0].Name,
	}
	if want := strings.Split("abcdefghijklmnopqrstuvwxyz{|}~", ""); !cmp.Equal(got, want) {
		t.Errorf("objects: %v, want %v", got, want)
	}
	for _, r := range inspect.Resources() {
		if h := cluster.Health[r]; h.State != inspect.Synced || h.Version != inspect.KindOf(r).APIVersion() {
			t.Errorf("%s: %+v, want Synced at the newest version", r, h)
		}
	}
	if cluster.ServerVersion != "v1.37.1" {
		t.Errorf("server version %q", cluster.ServerVersion)
	}
	if len(progress) != len(inspect.Resources()) {
		t.Errorf("%d progress reports, want one for each of %d resources: %q", len(progress), len(inspect.Resources()), progress)
	}
	for _, request := range slices.Concat(f.asked("v1beta"), f.asked("v1alpha")) {
		if !strings.HasPrefix(request, "/apis/scheduling.k8s.io/v1beta1") && !strings.HasPrefix(request, "/apis/kueue.x-k8s.io/v1beta2") {
			t.Errorf("asked for an old version although the newest is served: %q", request)
		}
	}
}

// TestKueueAtAnOlderVersion: the objects of an older Kueue get the fields of the newer API.
func TestKueueAtAnOlderVersion(t *testing.T) {
	f := newFake()
	f.served["kueue.x-k8s.io/v1beta1"] = []string{"clusterqueues"}
	f.objects["/apis/kueue.x-k8s.io/v1beta1/clusterqueues"] = []string{`{"metadata":{"name":"a","uid":"u"},"spec":{"cohort":"c"}}`}
	cluster := mustRead(t, f, live.Options{Resources: []inspect.Resource{inspect.ClusterQueues}})
	if all := cluster.Objects.ClusterQueues; len(all) != 1 || all[0].Name != "a" || all[0].Spec.CohortName != "c" {
		t.Errorf("%+v, %+v", all, cluster.Health)
	}
}

// TestClusterWithoutKueue: only discovery is asked.
func TestClusterWithoutKueue(t *testing.T) {
	f := newFake()
	mustRead(t, f, live.Options{Resources: inspect.Resources()})
	want := []string{"/apis/kueue.x-k8s.io/v1beta1", "/apis/kueue.x-k8s.io/v1beta2"}
	if got := f.asked("kueue"); !slices.Equal(slices.Sorted(slices.Values(got)), want) {
		t.Errorf("asked %q, want %q", got, want)
	}
}

func TestPaging(t *testing.T) {
	f := newFake()
	for i := range 5 {
		f.objects[slicesPath] = append(f.objects[slicesPath], named(fmt.Sprint("slice-", i)))
	}
	cluster := mustRead(t, f, live.Options{PageSize: 2})
	var names []string
	for _, s := range cluster.Objects.Slices {
		names = append(names, s.Name)
	}
	if want := []string{"slice-0", "slice-1", "slice-2", "slice-3", "slice-4"}; !cmp.Equal(names, want) {
		t.Errorf("slices %v, want %v", names, want)
	}
	want := []string{slicesPath + "?limit=2", slicesPath + "?continue=2&limit=2", slicesPath + "?continue=4&limit=2"}
	if got := f.asked(slicesPath); !cmp.Equal(got, want) {
		t.Errorf("requests %q, want %q", got, want)
	}
}

func TestExpiredContinueTokenStartsAgainWithoutLimit(t *testing.T) {
	f := newFake()
	f.override[slicesPath] = func(w http.ResponseWriter, r *http.Request) {
		switch q := r.URL.Query(); {
		case q.Get("continue") != "":
			answerStatus(w, http.StatusGone, "the provided continue parameter is too old")
		case q.Get("limit") != "":
			answerJSON(w, listJSON(slicesPath, "token", named("stale")))
		default:
			answerJSON(w, listJSON(slicesPath, "", named("x"), named("y")))
		}
	}
	cluster := mustRead(t, f, live.Options{})
	if s := cluster.Objects.Slices; len(s) != 2 || s[0].Name != "x" || s[1].Name != "y" {
		t.Errorf("slices %v, want x and y", s)
	}
}

func TestServerThatRepeatsItsContinueTokenIsGivenUp(t *testing.T) {
	f := newFake()
	f.override[slicesPath] = func(w http.ResponseWriter, _ *http.Request) {
		answerJSON(w, listJSON(slicesPath, "again", named("x")))
	}
	cluster := mustRead(t, f, live.Options{})
	if h := cluster.Health[inspect.Slices]; h.State != inspect.Broken || !strings.Contains(h.Message, "repeats itself") {
		t.Errorf("health %+v, want Broken because the server repeats itself", h)
	}
	if len(cluster.Objects.Slices) != 0 {
		t.Errorf("%d slices of a broken list were kept", len(cluster.Objects.Slices))
	}
}

func TestListsRunInParallel(t *testing.T) {
	f := newFake()
	var arrived sync.WaitGroup
	arrived.Add(len(live.DefaultResources()))
	wait := func(w http.ResponseWriter, r *http.Request) {
		arrived.Done()
		all := make(chan struct{})
		go func() { arrived.Wait(); close(all) }()
		select {
		case <-all:
			f.list(w, r)
		case <-time.After(time.Minute):
			answerStatus(w, http.StatusInternalServerError, "the other lists were not asked for meanwhile")
		}
	}
	for _, path := range []string{claimsPath, slicesPath, podsPath, nodesPath, "/apis/resource.k8s.io/v1/deviceclasses",
		"/apis/resource.k8s.io/v1/resourceclaimtemplates", "/apis/resource.k8s.io/v1/devicetaintrules"} {
		f.override[path] = wait
	}
	for r, h := range mustRead(t, f, live.Options{}).Health {
		if h.State != inspect.Synced {
			t.Errorf("%s: %+v", r, h)
		}
	}
}

func TestForbiddenResourceIsRecordedAndTheRestIsRead(t *testing.T) {
	f := newFake()
	f.objects[claimsPath] = []string{named("a")}
	f.status[slicesPath] = http.StatusForbidden
	cluster := mustRead(t, f, live.Options{Namespace: "ml"})
	want := inspect.Health{State: inspect.Forbidden, Version: "resource.k8s.io/v1",
		Message: "cannot list resourceslices.resource.k8s.io at cluster scope"}
	if diff := cmp.Diff(want, cluster.Health[inspect.Slices]); diff != "" {
		t.Errorf("health of slices (-want +got):\n%s", diff)
	}
	if len(cluster.Objects.Claims) != 1 || cluster.Health[inspect.Claims].State != inspect.Synced {
		t.Errorf("claims were not read: %+v", cluster.Health[inspect.Claims])
	}
}

func TestNamespacedUserReadsOnlyTheNamespace(t *testing.T) {
	const inNamespace = "/apis/resource.k8s.io/v1/namespaces/ml/resourceclaims"
	f := newFake()
	f.status[claimsPath] = http.StatusForbidden
	f.objects[inNamespace] = []string{named("a"), named("b"), named("c")}
	f.status[podsPath] = http.StatusForbidden
	f.status["/api/v1/namespaces/ml/pods"] = http.StatusForbidden
	cluster := mustRead(t, f, live.Options{Namespace: "ml", PageSize: 2})
	if len(cluster.Objects.Claims) != 3 {
		t.Errorf("%d claims, want the 3 of the namespace", len(cluster.Objects.Claims))
	}
	want := inspect.Health{State: inspect.Narrowed, Version: "resource.k8s.io/v1", Namespaces: []string{"ml"},
		Message: "cannot list resourceclaims.resource.k8s.io at cluster scope; only namespace ml was read"}
	if diff := cmp.Diff(want, cluster.Health[inspect.Claims]); diff != "" {
		t.Errorf("health of claims (-want +got):\n%s", diff)
	}
	want = inspect.Health{State: inspect.Forbidden, Version: "v1", Message: "cannot list pods at cluster scope or in namespace ml"}
	if diff := cmp.Diff(want, cluster.Health[inspect.Pods]); diff != "" {
		t.Errorf("health of pods (-want +got):\n%s", diff)
	}
}

func TestUserWhoMayReadNothingGetsNoError(t *testing.T) {
	f := newFake()
	f.override["/version"] = func(w http.ResponseWriter, _ *http.Request) { answerStatus(w, http.StatusForbidden, "no") }
	for path := range map[string]bool{claimsPath: true, slicesPath: true, podsPath: true, nodesPath: true} {
		f.status[path] = http.StatusForbidden
	}
	opts := live.Options{Resources: []inspect.Resource{inspect.Claims, inspect.Slices, inspect.Pods, inspect.Nodes}}
	for r, h := range mustRead(t, f, opts).Health {
		if h.State != inspect.Forbidden {
			t.Errorf("%s: %+v, want Forbidden", r, h)
		}
	}
}

func TestForbiddenDiscoveryIsReplacedByTrying(t *testing.T) {
	f := newFake()
	f.served = map[string][]string{"resource.k8s.io/v1beta1": {"resourceclaims"}}
	f.status["/apis/resource.k8s.io/v1"] = http.StatusForbidden
	f.status["/apis/resource.k8s.io/v1beta2"] = http.StatusForbidden
	f.status["/apis/resource.k8s.io/v1beta1"] = http.StatusForbidden
	f.objects["/apis/resource.k8s.io/v1beta1/resourceclaims"] = []string{named("a")}
	cluster := mustRead(t, f, live.Options{Resources: []inspect.Resource{inspect.Claims, inspect.Slices}})
	if h := cluster.Health[inspect.Claims]; h.State != inspect.Synced || h.Version != "resource.k8s.io/v1beta1" {
		t.Errorf("claims: %+v, want Synced at v1beta1", h)
	}
	if h := cluster.Health[inspect.Slices]; h.State != inspect.NotServed {
		t.Errorf("slices: %+v, want NotServed", h)
	}
}

func TestServerWithoutDynamicResourceAllocation(t *testing.T) {
	f := newFake()
	delete(f.served, "resource.k8s.io/v1")
	f.objects[nodesPath] = []string{named("n")}
	cluster := mustRead(t, f, live.Options{})
	for _, r := range []inspect.Resource{inspect.Claims, inspect.Templates, inspect.Classes, inspect.Slices, inspect.TaintRules} {
		h := cluster.Health[r]
		if h.State != inspect.NotServed || !strings.HasPrefix(h.Message, "this server does not serve "+string(r)+".resource.k8s.io at any version from v1") {
			t.Errorf("%s: %+v, want NotServed", r, h)
		}
	}
	if len(cluster.Objects.Nodes) != 1 {
		t.Errorf("nodes were not read: %+v", cluster.Health[inspect.Nodes])
	}
}

func TestBrokenResourceIsRecorded(t *testing.T) {
	f := newFake()
	f.override[slicesPath] = func(w http.ResponseWriter, _ *http.Request) {
		answerStatus(w, http.StatusInternalServerError, "etcd is \x1b[31mred\x1b[0m\nand late")
	}
	f.override[podsPath] = func(w http.ResponseWriter, _ *http.Request) {
		answerJSON(w, `{"kind":"PodList","apiVersion":"v1","items":[{]}`)
	}
	cluster := mustRead(t, f, live.Options{})
	if h := cluster.Health[inspect.Slices]; h.State != inspect.Broken || h.Message != "listing resourceslices.resource.k8s.io: etcd is [31mred [0m and late" {
		t.Errorf("slices: %+v", h)
	}
	if h := cluster.Health[inspect.Pods]; h.State != inspect.Broken || !strings.HasPrefix(h.Message, "listing pods: ") {
		t.Errorf("pods: %+v", h)
	}
}

func TestTooManyRequestsIsRetriedBriefly(t *testing.T) {
	for name, refusals := range map[string]int{"server recovers": 2, "server never recovers": 1000} {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			var mu sync.Mutex
			asked := 0
			f.override[slicesPath] = func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				asked++
				refuse := asked <= refusals
				mu.Unlock()
				if refuse {
					w.Header().Set("Retry-After", "0")
					answerStatus(w, http.StatusTooManyRequests, "slow down")
					return
				}
				f.list(w, r)
			}
			h := mustRead(t, f, live.Options{}).Health[inspect.Slices]
			if recovers := refusals < 1000; recovers != (h.State == inspect.Synced) || asked > 5 {
				t.Errorf("after %d requests: %+v", asked, h)
			}
		})
	}
}

func TestCancelEndsTheRead(t *testing.T) {
	f := newFake()
	ctx, cancel := context.WithCancel(t.Context())
	release := make(chan struct{})
	f.override[slicesPath] = func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		select {
		case <-r.Context().Done():
		case <-release:
		}
	}
	config := f.start(t)
	t.Cleanup(func() { close(release) })
	done := make(chan error, 1)
	go func() { _, err := live.Read(ctx, config, live.Options{}); done <- err }()
	select {
	case err := <-done:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want context.Canceled", err)
		}
	case <-time.After(time.Minute):
		t.Fatal("Read did not end when its context was cancelled")
	}
}

func TestBadOptions(t *testing.T) {
	config := newFake().start(t)
	for name, opts := range map[string]live.Options{
		"namespace leaves its path": {Namespace: "../nodes"},
		"unknown resource":          {Resources: []inspect.Resource{"secrets"}},
	} {
		if _, err := live.Read(t.Context(), config, opts); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
