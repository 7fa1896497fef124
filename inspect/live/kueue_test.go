package live_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/live"
)

// managerPod is a pod as Kueue's own manifests have it.
func managerPod(name, image, flags string) string {
	return fmt.Sprintf(`{"metadata":{"name":%q,"namespace":"queues","labels":{"app.kubernetes.io/name":"kueue","control-plane":"controller-manager"}},"spec":{"containers":[{"name":"manager",
		"image":%q,"command":["/manager"],"args":["--config=/controller_manager_config.yaml",%s"--zap-log-level=2"],"volumeMounts":[{"name":"c","mountPath":"/controller_manager_config.yaml","subPath":"controller_manager_config.yaml"}]}],
		"volumes":[{"name":"c","configMap":{"name":"conf"}}]}}`, name, image, flags)
}

// TestKueueConfig: the configuration that the manager of Kueue names is read, or that where Kueue usually has
// it, and nothing is asked where there is no Kueue.
func TestKueueConfig(t *testing.T) {
	const (
		image   = "registry.k8s.io/kueue/kueue:v0.19.1"
		mapping = `apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\nfeatureGates: {A: true}`
	)
	for name, c := range map[string]struct {
		pods             []string
		queues           bool
		text             string
		status           int
		asked            string
		origin, version  string
		unreadable, gate string
	}{
		"no Kueue":                    {text: mapping},
		"another manager":             {pods: []string{strings.ReplaceAll(managerPod("a", "example.com/other:v1.2.3", ""), `"kueue"`, `"other"`)}, text: mapping},
		"as installed":                {pods: []string{managerPod("a", image, "")}, queues: true, text: mapping, asked: "queues/configmaps/conf", origin: "ConfigMap queues/conf", version: "0.19.1", gate: "A"},
		"by its image":                {pods: []string{strings.Replace(managerPod("a", image, ""), `"control-plane"`, `"x"`, 1)}, text: mapping, asked: "queues/configmaps/conf", origin: "ConfigMap queues/conf", version: "0.19.1", gate: "A"},
		"two alike, and gates":        {pods: []string{managerPod("a", image, `"--feature-gates=B=true",`), managerPod("b", image, `"--feature-gates=B=true",`)}, text: mapping, asked: "queues/configmaps/conf", origin: "ConfigMap queues/conf", version: "0.19.1", gate: "B"},
		"two that differ":             {pods: []string{managerPod("a", image, ""), managerPod("b", image, `"--feature-gates=B=true",`)}, text: mapping, unreadable: "run with different flags"},
		"forbidden":                   {pods: []string{managerPod("a", image, "")}, text: mapping, status: http.StatusForbidden, asked: "queues/configmaps/conf", unreadable: "ConfigMap queues/conf, which may not be read; its defaults are assumed"},
		"not understood":              {pods: []string{managerPod("a", image, "")}, text: "kind: Other", asked: "queues/configmaps/conf", unreadable: "not understood"},
		"only queues":                 {queues: true, text: mapping, asked: "kueue-system/configmaps/kueue-manager-config", origin: "ConfigMap kueue-system/kueue-manager-config", gate: "A"},
		"only queues, and it is gone": {queues: true, status: http.StatusNotFound, asked: "kueue-system/configmaps/kueue-manager-config"},
		"without --config":            {pods: []string{strings.Replace(managerPod("a", image, `"--feature-gates=B=true",`), `"--config=/controller_manager_config.yaml",`, "", 1)}, origin: "the flags of its manager", version: "0.19.1", gate: "B"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			f.objects["/api/v1/pods"] = c.pods
			if c.queues {
				f.served["kueue.x-k8s.io/v1beta2"] = []string{"clusterqueues"}
				f.objects["/apis/kueue.x-k8s.io/v1beta2/clusterqueues"] = []string{named("q")}
			}
			for _, path := range []string{"/api/v1/namespaces/queues/configmaps/conf", "/api/v1/namespaces/kueue-system/configmaps/kueue-manager-config"} {
				if f.status[path] = c.status; c.status == 0 {
					f.override[path] = func(w http.ResponseWriter, _ *http.Request) {
						answerJSON(w, `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"c"},"data":{"controller_manager_config.yaml":"`+c.text+`"}}`)
					}
				}
			}
			cluster, err := live.Read(t.Context(), f.start(t), live.Options{Resources: []inspect.Resource{inspect.Pods, inspect.ClusterQueues, inspect.LimitRanges}})
			if err != nil {
				t.Fatal(err)
			}
			if asked := len(f.asked("limitranges")); asked > 0 != c.queues {
				t.Errorf("asked %d times for LimitRanges", asked)
			}
			config := cluster.Kueue
			asked := strings.Join(f.asked("configmaps"), " ")
			if strings.TrimPrefix(asked, "/api/v1/namespaces/") != c.asked {
				t.Errorf("asked %q, want %q", asked, c.asked)
			}
			if !strings.Contains(config.Unreadable(), c.unreadable) || config == nil != (c.origin == "" && c.unreadable == "") {
				t.Fatalf("%+v, unreadable %q", config, config.Unreadable())
			}
			if config != nil && (config.Origin != c.origin || config.Version != c.version || c.gate != "" && !config.Gates()[c.gate]) {
				t.Errorf("from %q, version %q, gates %v", config.Origin, config.Version, config.Gates())
			}
		})
	}
}

// TestWatchFollowsQueues: changes of Kueue's objects are followed by a watch, and not seen when they are
// listed again.
func TestWatchFollowsQueues(t *testing.T) {
	h, config := newHub(t)
	const path = "/apis/kueue.x-k8s.io/v1beta2/workloads"
	h.served["kueue.x-k8s.io/v1beta2"] = []string{"workloads"}
	h.put(path, "ml", "a", "")
	f := follow(t, config, live.Options{Resources: inspect.Resources()})
	names := func(s *inspect.Snapshot) string {
		var names []string
		for _, w := range s.Around().KueueWorkloads {
			names = append(names, w.Name+":"+string(w.Spec.QueueName))
		}
		return strings.Join(names, " ")
	}
	f.until("the workload", func(s *inspect.Snapshot) bool { return names(s) == "a:" })
	h.put(path, "ml", "b", `"spec":{"queueName":"q"}`)
	f.until("another", func(s *inspect.Snapshot) bool { return names(s) == "a: b:q" })
	h.remove(path, "ml", "a")
	f.until("one", func(s *inspect.Snapshot) bool { return names(s) == "b:q" })
	h.mu.Lock()
	defer h.mu.Unlock()
	if lists := h.lists[path]; lists != 1 {
		t.Errorf("workloads were listed %d times", lists)
	}
}
