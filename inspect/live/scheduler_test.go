package live_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/live"
)

// schedulerPod is a pod of kube-system with the flags of a kube-scheduler.
func schedulerPod(name, labels, volume string, command ...string) string {
	return fmt.Sprintf(`{"metadata":{"name":%q,"namespace":"kube-system","labels":{%s}},"spec":{"containers":[{"name":"c","command":["%s"],
		"volumeMounts":[{"name":"v","mountPath":"/etc/kubernetes"}]}],"volumes":[{"name":"v"%s}]}}`, name, labels, strings.Join(command, `","`), volume)
}

const (
	packing = `apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n- {schedulerName: default-scheduler, pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: MostAllocated}}}]}\n- schedulerName: gpu`
	alone   = `apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n- schedulerName: gpu`
	plain   = `apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nleaderElection: {leaderElect: false}`

	ofMap   = `,"configMap":{"name":"sched"}`
	ofItems = `,"configMap":{"name":"sched","items":[{"key":"config.yaml","path":"a/b.yaml"}]}`
	ofNode  = `,"hostPath":{"path":"/etc/kubernetes"}`
	label   = `"component":"kube-scheduler"`
)

// TestScheduler: the configuration that the scheduler of the cluster names is read, and nothing is asked
// where it names none.
func TestScheduler(t *testing.T) {
	for name, c := range map[string]struct {
		pods       []string
		text       string // of key config.yaml in ConfigMap sched
		status     int    // of the ConfigMap
		asked      int    // how often the ConfigMap is read
		profiles   string
		unreadable string
		on         bool // the gate DRAPrioritizedList
	}{
		"none":               {on: true},
		"no flag":            {pods: []string{schedulerPod("kube-scheduler-a", label, ofNode, "kube-scheduler", "--v=2")}, on: true},
		"gates":              {pods: []string{schedulerPod("kube-scheduler-a", label, ofNode, "kube-scheduler", "--feature-gates=Unheard=true,DRAPrioritizedList=false")}},
		"ConfigMap":          {pods: []string{schedulerPod("kube-scheduler-a", label, ofMap, "kube-scheduler", "--config=/etc/kubernetes/config.yaml")}, text: packing, asked: 1, profiles: "default-scheduler gpu", on: true},
		"items, by a shell":  {pods: []string{schedulerPod("sched", "", ofItems, "sh", "-c", "exec /usr/bin/kube-scheduler --config /etc/kubernetes/a/b.yaml 2>&1")}, text: packing, asked: 1, profiles: "default-scheduler gpu", on: true},
		"three alike":        {pods: []string{schedulerPod("kube-scheduler-a", label, ofMap, "kube-scheduler", "--config=/etc/kubernetes/config.yaml"), schedulerPod("kube-scheduler-b", label, ofMap, "kube-scheduler", "--config=/etc/kubernetes/config.yaml")}, text: packing, asked: 1, profiles: "default-scheduler gpu", on: true},
		"two that differ":    {pods: []string{schedulerPod("kube-scheduler-a", label, ofMap, "kube-scheduler", "--config=/etc/kubernetes/config.yaml"), schedulerPod("kube-scheduler-b", label, ofMap, "kube-scheduler")}, unreadable: "different flags", on: true},
		"nothing changed":    {pods: []string{schedulerPod("kube-scheduler-a", label, ofMap, "kube-scheduler", "--config=/etc/kubernetes/config.yaml")}, text: plain, asked: 1, on: true},
		"another scheduler":  {pods: []string{schedulerPod("kube-scheduler-a", label, ofNode, "kube-scheduler"), schedulerPod("sched", "", ofMap, "kube-scheduler", "--config=/etc/kubernetes/config.yaml")}, text: packing, on: true},
		"only another one":   {pods: []string{schedulerPod("sched", "", ofMap, "kube-scheduler", "--config=/etc/kubernetes/config.yaml")}, text: alone, asked: 1, on: true},
		"a file of the node": {pods: []string{schedulerPod("kube-scheduler-a", label, ofNode, "kube-scheduler", "--config=/etc/kubernetes/config.yaml")}, unreadable: "is a file of its node, which the API server cannot show", on: true},
		"elsewhere":          {pods: []string{schedulerPod("kube-scheduler-a", label, ofNode, "kube-scheduler", "--config=/config.yaml")}, unreadable: "is a file of its container", on: true},
		"forbidden":          {pods: []string{schedulerPod("kube-scheduler-a", label, ofMap, "kube-scheduler", "--config=/etc/kubernetes/config.yaml")}, status: http.StatusForbidden, asked: 1, unreadable: "ConfigMap kube-system/sched, which may not be read", on: true},
		"no such key":        {pods: []string{schedulerPod("kube-scheduler-a", label, ofMap, "kube-scheduler", "--config=/etc/kubernetes/other.yaml")}, text: packing, asked: 1, unreadable: `has no key "other.yaml"`, on: true},
		"not understood":     {pods: []string{schedulerPod("kube-scheduler-a", label, ofMap, "kube-scheduler", "--config=/etc/kubernetes/config.yaml")}, text: "unknown: 1", asked: 1, unreadable: "not understood", on: true},
		"ended":              {pods: []string{strings.Replace(schedulerPod("kube-scheduler-a", label, ofNode, "kube-scheduler", "--config=/etc/kubernetes/config.yaml"), `"spec"`, `"status":{"phase":"Failed"},"spec"`, 1)}, on: true},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			f.objects["/api/v1/pods"] = append(c.pods, `{"metadata":{"name":"kube-scheduler-x","namespace":"ml"},"spec":{"containers":[{"name":"c","command":["kube-scheduler","--config=/x"]}]}}`)
			const path = "/api/v1/namespaces/kube-system/configmaps/sched"
			f.status[path] = c.status
			if c.status == 0 {
				f.override[path] = func(w http.ResponseWriter, _ *http.Request) {
					answerJSON(w, `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"sched"},"data":{"config.yaml":"`+c.text+`"}}`)
				}
			}
			cluster, err := live.Read(t.Context(), f.start(t), live.Options{})
			if err != nil {
				t.Fatal(err)
			}
			config := cluster.Scheduler
			if config == nil != (c.profiles == "" && c.unreadable == "") || !strings.Contains(config.Unreadable(), c.unreadable) {
				t.Errorf("the configuration is %v, unreadable %q", config, config.Unreadable())
			}
			if c.profiles != "" && (strings.Join(config.Names(), " ") != c.profiles || config.Origin != "ConfigMap kube-system/sched") {
				t.Errorf("the profiles are %q, from %q", config.Names(), config.Origin)
			}
			if n := len(f.asked("configmaps")); n != c.asked {
				t.Errorf("ConfigMaps were read %d times, want %d", n, c.asked)
			}
			if cluster.Features.Enabled(inspect.GatePrioritizedList) != c.on {
				t.Errorf("the gate is %t; gates are from %s", !c.on, cluster.Features.Source)
			}
		})
	}
}

// TestWatchedScheduler: the first snapshot has the configuration already.
func TestWatchedScheduler(t *testing.T) {
	f := newFake()
	f.objects["/api/v1/pods"] = []string{schedulerPod("kube-scheduler-a", label, ofMap, "kube-scheduler", "--config=/etc/kubernetes/config.yaml")}
	f.override["/api/v1/namespaces/kube-system/configmaps/sched"] = func(w http.ResponseWriter, _ *http.Request) {
		time.Sleep(100 * time.Millisecond)
		answerJSON(w, `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"sched"},"data":{"config.yaml":"`+packing+`"}}`)
	}
	w, err := live.Watch(t.Context(), f.start(t), live.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if s := <-w.Updates(); s.Scheduler() == nil || strings.Join(s.Scheduler().Names(), " ") != "default-scheduler gpu" {
		t.Errorf("the first snapshot has the configuration %v", s.Scheduler())
	}
}
