package live_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/live"
)

// jobSets is what a server says of a kind that is not its own, and of one that only looks like it.
const jobSets = `{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","items":[
 {"metadata":{"name":"jobset.x-k8s.io"},"versions":[
  {"version":"v1alpha2","resources":[
   {"resource":"jobsets","singularResource":"jobset","shortNames":["jset"],"scope":"Namespaced","verbs":["get","list"],"responseKind":{"group":"jobset.x-k8s.io","version":"v1alpha2","kind":"JobSet"}},
   {"resource":"clusterjobsets","singularResource":"clusterjobset","scope":"Cluster","verbs":["get"],"responseKind":{"kind":"ClusterJobSet"}},
   {"resource":"writeonly","singularResource":"writeonly","scope":"Namespaced","verbs":["create"],"responseKind":{"kind":"WriteOnly"}},
   {"resource":"odd","singularResource":"odd","scope":"Namespaced","verbs":["get"]}]},
  {"version":"v1alpha1","resources":[
   {"resource":"jobsets","singularResource":"jobset","scope":"Namespaced","verbs":["get"],"responseKind":{"kind":"JobSet"}}]}]},
 {"metadata":{"name":"batch.volcano.sh"},"versions":[{"version":"v1alpha1","resources":[
   {"resource":"jobs","singularResource":"job","scope":"Namespaced","verbs":["get"],"responseKind":{"kind":"Job"}}]}]}]}`

// answers makes a server answer at some paths.
func answers(f *fakeServer, bodies map[string]string) *fakeServer {
	for path, body := range bodies {
		f.override[path] = func(w http.ResponseWriter, _ *http.Request) { answerJSON(w, body) }
	}
	return f
}

func finder(t *testing.T, f *fakeServer) *live.Finder {
	t.Helper()
	out, err := live.NewFinder(f.start(t))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func controlled(name, apiVersion, kind, owner string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: name, OwnerReferences: []metav1.OwnerReference{
		{APIVersion: apiVersion, Kind: kind, Name: owner, UID: types.UID("uid-" + owner), Controller: ptr.To(true)},
	}}}
}

func podNames(pods []*corev1.Pod) string {
	var names []string
	for _, p := range pods {
		names = append(names, p.Name)
	}
	return strings.Join(names, " ")
}

func TestFinderKind(t *testing.T) {
	f := answers(newFake(), map[string]string{"/apis": jobSets})
	find := finder(t, f)
	for word, want := range map[string]string{
		"deploy": "apps/v1 deployments Deployment", "jset": "jobset.x-k8s.io/v1alpha2 jobsets JobSet", "jobset.jobset.x-k8s.io": "jobset.x-k8s.io/v1alpha2 jobsets JobSet",
		"jobs.batch.volcano.sh": "batch.volcano.sh/v1alpha1 jobs Job", "job": "batch/v1 jobs Job", "clusterjobset": "", "writeonly": "", "odd": "", "nonsense": "",
	} {
		k, ok, err := find.Kind(t.Context(), word)
		got := ""
		if ok {
			got = k.Group + "/" + k.Version + " " + k.Resource + " " + k.Name
		}
		if got != want || err != nil {
			t.Errorf("%q is %q, %v; want %q", word, got, err, want)
		}
	}
	if asked := f.asked("/apis"); len(asked) != 1 {
		t.Errorf("asked %q, want one question", asked)
	}
}

// TestFinderOwner reads a Deployment, whose pods are known by the name of their ReplicaSet, with a single
// request.
func TestFinderOwner(t *testing.T) {
	f := answers(newFake(), map[string]string{"/apis/apps/v1/namespaces/ml/deployments/serve": `{"kind":"Deployment","apiVersion":"apps/v1",
		"metadata":{"name":"serve","namespace":"ml","uid":"d"},"spec":{"replicas":3,"template":{"metadata":{"labels":{"app":"serve"}},
		"spec":{"containers":[{"name":"main","image":"i","resources":{"limits":{"cpu":"2"}}}]}}},"status":{"replicas":1}}`})
	pod := controlled("serve-0", "apps/v1", "ReplicaSet", "serve-5d8f")
	pod.Labels = map[string]string{"pod-template-hash": "5d8f"}
	s := inspect.New(inspect.Objects{Pods: []*corev1.Pod{controlled("other", "apps/v1", "ReplicaSet", "serve-other-5d8f"), pod}}, inspect.Config{})
	find := finder(t, f)
	k, _, _ := find.Kind(t.Context(), "deploy")
	o, err := find.Owner(t.Context(), s, k, "ml", "serve")
	if err != nil {
		t.Fatal(err)
	}
	if o.UID != "d" || podNames(o.Pods) != "serve-0" || o.Unread != nil || len(o.Templates) != 1 {
		t.Fatalf("%+v, pods %s", o, podNames(o.Pods))
	}
	w := o.Templates[0]
	if cpu := w.Spec.Containers[0].Resources.Requests.Cpu().String(); *w.Replicas != 3 || w.Path != "spec.template" || w.Labels["app"] != "serve" || cpu != "2" {
		t.Errorf("%+v", w)
	}
	if asked := f.asked("/"); len(asked) != 1 {
		t.Errorf("asked %q, want one question", asked)
	}
}

// TestFinderFollowsControllers: the pods of a JobSet are made by its Jobs, and those of a CronJob by others.
// Objects of other names are not asked about.
func TestFinderFollowsControllers(t *testing.T) {
	job := func(name, owner string) string {
		return fmt.Sprintf(`{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":%q,"ownerReferences":[
			{"apiVersion":"jobset.x-k8s.io/v1alpha2","kind":"JobSet","name":%q,"uid":"uid-%s","controller":true}]}}`, name, owner, owner)
	}
	const jobs = "/apis/batch/v1/namespaces/ml/jobs/"
	f := answers(newFake(), map[string]string{
		"/apis": jobSets,
		"/apis/jobset.x-k8s.io/v1alpha2/namespaces/ml/jobsets/train": `{"kind":"JobSet","apiVersion":"jobset.x-k8s.io/v1alpha2","metadata":{"name":"train","namespace":"ml","uid":"uid-train"},
			"spec":{"replicatedJobs":[{"name":"w","replicas":2,"template":{"spec":{"parallelism":2,"template":{"spec":{"containers":[{"name":"c","image":"i"}]}}}}}]}}`,
		jobs + "train-w-0": job("train-w-0", "train"), jobs + "train-w-1": job("train-w-1", "train"), jobs + "train-else": job("train-else", "train-else"),
	})
	f.status[jobs+"train-secret"] = http.StatusForbidden
	var pods []*corev1.Pod
	for _, owner := range []string{"train-w-0", "train-w-1", "train-else", "train-gone", "train-secret", "unrelated"} {
		pods = append(pods, controlled(owner+"-a", "batch/v1", "Job", owner), controlled(owner+"-b", "batch/v1", "Job", owner))
	}
	s := inspect.New(inspect.Objects{Pods: pods}, inspect.Config{})
	find := finder(t, f)
	k, _, _ := find.Kind(t.Context(), "jobset")
	o, err := find.Owner(t.Context(), s, k, "ml", "train")
	if err != nil {
		t.Fatal(err)
	}
	if got := podNames(o.Pods); got != "train-w-0-a train-w-0-b train-w-1-a train-w-1-b" {
		t.Errorf("pods %s", got)
	}
	if diff := cmp.Diff([]string{"cannot get jobs.batch in namespace ml"}, o.Unread); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if *o.Templates[0].Replicas != 4 {
		t.Errorf("%d replicas", *o.Templates[0].Replicas)
	}
	if asked := f.asked("unrelated"); len(asked) > 0 {
		t.Errorf("asked %q", asked)
	}
	if asked := f.asked(jobs); len(asked) != 5 {
		t.Errorf("asked %q, want each Job once", asked)
	}
}

// TestFinderSaysWhatIsWrong: what is not there, not permitted, or no answer at all.
func TestFinderSaysWhatIsWrong(t *testing.T) {
	const path = "/apis/batch/v1/namespaces/ml/jobs/train"
	k := inspect.OwnerKinds()[0]
	s := inspect.New(inspect.Objects{Pods: []*corev1.Pod{controlled("train-0", "batch/v1", "Job", "train")}}, inspect.Config{})
	nobody := inspect.New(inspect.Objects{}, inspect.Config{})
	for name, tt := range map[string]struct {
		status   int
		body     string
		snapshot *inspect.Snapshot
		want     string
	}{
		"gone":                          {status: http.StatusNotFound, snapshot: nobody, want: "not found"},
		"gone, and its pods are not":    {status: http.StatusNotFound, snapshot: s, want: "train-0 []"},
		"forbidden, and there are pods": {status: http.StatusForbidden, snapshot: s, want: "train-0 [cannot get jobs.batch in namespace ml]"},
		"forbidden, and there are none": {status: http.StatusForbidden, snapshot: nobody, want: "cannot get jobs.batch in namespace ml"},
		"broken":                        {status: http.StatusInternalServerError, snapshot: s, want: "getting job ml/train: the server said so"},
		"a login page":                  {body: "<html>", snapshot: s, want: "getting job ml/train: the answer is no object: invalid character '<' looking for beginning of value"},
		"another object":                {body: `{"kind":"Job","metadata":{"name":"\u001b[31mevil"}}`, snapshot: s, want: `getting job ml/train: the answer is no Job train but "Job" "[31mevil"`},
		"a hostile template": {body: `{"kind":"Job","apiVersion":"batch/v1","metadata":{"name":"train"},"spec":{"template":{"spec":{"containers":[{"name":"c","resources":{"limits":{"cpu":"1e-2000000000"}}}]}}}}`, snapshot: s,
			want: "train-0 []"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			if tt.status != 0 {
				f.status[path] = tt.status
			} else {
				answers(f, map[string]string{path: tt.body})
			}
			o, err := finder(t, f).Owner(t.Context(), tt.snapshot, k, "ml", "train")
			got := ""
			if err != nil {
				got = err.Error()
			} else {
				got = podNames(o.Pods) + " " + fmt.Sprint(o.Unread)
			}
			if got != tt.want {
				t.Errorf("%s\nwant %s", got, tt.want)
			}
			if errors.Is(err, live.ErrNoObject) != (name == "gone") {
				t.Errorf("%v", err)
			}
		})
	}
	t.Run("no name of anything", func(t *testing.T) {
		f := newFake()
		if _, err := finder(t, f).Owner(t.Context(), nobody, k, "ml", "../../secrets"); !errors.Is(err, live.ErrNoObject) || len(f.asked("/")) > 0 {
			t.Errorf("%v, asked %q", err, f.asked("/"))
		}
	})
	t.Run("interrupted", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := finder(t, newFake()).Owner(ctx, nobody, k, "ml", "train"); !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	})
}

// TestFinderPodGroup: groups are in the snapshot, and a group that is not there may have pods all the same.
func TestFinderPodGroup(t *testing.T) {
	pod := controlled("p", "batch/v1", "Job", "j")
	pod.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: ptr.To("ghost")}
	s := inspect.New(inspect.Objects{
		Pods: []*corev1.Pod{pod}, PodGroups: []*schedulingv1beta1.PodGroup{{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "gang", UID: "g"}}},
	}, inspect.Config{})
	f := newFake()
	find := finder(t, f)
	k, _, _ := find.Kind(t.Context(), "podgroup")
	for name, want := range map[string]string{"gang": "g ", "ghost": " p", "none": "not found"} {
		o, err := find.Owner(t.Context(), s, k, "ml", name)
		got := fmt.Sprint(err)
		if err == nil {
			got = string(o.UID) + " " + podNames(o.Pods)
		}
		if got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if len(f.asked("/")) > 0 {
		t.Errorf("asked %q", f.asked("/"))
	}
}

func TestFinderNames(t *testing.T) {
	f := newFake()
	f.override["/apis/batch/v1/namespaces/ml/jobs"] = func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.Header.Get("Accept"), "application/json;as=Table;") || r.URL.RawQuery != "includeObject=None&resourceVersion=0" {
			t.Errorf("asked for %s of %s", r.Header.Get("Accept"), r.URL)
		}
		answerJSON(w, `{"kind":"Table","apiVersion":"meta.k8s.io/v1","columnDefinitions":[{"name":"Age"},{"name":"Name"}],"rows":[{"cells":["5d","a"]},{"cells":["6d","b"]}]}`)
	}
	names, err := finder(t, f).Names(t.Context(), inspect.OwnerKinds()[0], "ml")
	if err != nil || !slices.Equal(names, []string{"a", "b"}) {
		t.Errorf("%v, %v", names, err)
	}
}

// TestFinderPriorityClass: what is no priority class of that name, or may not be read, is none.
func TestFinderPriorityClass(t *testing.T) {
	const path = "/apis/scheduling.k8s.io/v1/priorityclasses/"
	f := answers(newFake(), map[string]string{
		path + "high":  `{"metadata":{"name":"high"},"value":7,"preemptionPolicy":"Never"}`,
		path + "other": `{"metadata":{"name":"high"},"value":7}`, path + "text": `"x"`,
	})
	finder := finder(t, f)
	for name, want := range map[string]bool{"high": true, "other": false, "text": false, "gone": false, "..": false} {
		class, err := finder.PriorityClass(t.Context(), name)
		if err != nil || (class != nil) != want || want && (class.Value != 7 || *class.PreemptionPolicy != corev1.PreemptNever) {
			t.Errorf("%s: %v, %v", name, class, err)
		}
	}
}
