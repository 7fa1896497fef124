package output_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output/fairness"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/flowcontrol"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
)

const levelsYAML = `
apiVersion: flowcontrol.apiserver.k8s.io/v1
kind: PriorityLevelConfiguration
metadata: {name: busy, creationTimestamp: "2026-01-01T00:00:00Z"}
spec: {type: Limited, limited: {nominalConcurrencyShares: 15, lendablePercent: 50, borrowingLimitPercent: 20, limitResponse: {type: Queue, queuing: {}}}}
---
apiVersion: flowcontrol.apiserver.k8s.io/v1
kind: FlowSchema
metadata: {name: robots}
spec: {matchingPrecedence: 20, priorityLevelConfiguration: {name: busy}}
---
apiVersion: flowcontrol.apiserver.k8s.io/v1
kind: FlowSchema
metadata: {name: people}
spec: {matchingPrecedence: 10, priorityLevelConfiguration: {name: busy}}
`

const busyMetrics = `
apiserver_flowcontrol_current_limit_seats{priority_level="busy"} 18
apiserver_flowcontrol_demand_seats_high_watermark{priority_level="busy"} 40
apiserver_flowcontrol_demand_seats_average{priority_level="busy"} 12.5
apiserver_flowcontrol_current_executing_requests{flow_schema="robots",priority_level="busy"} 7
apiserver_flowcontrol_current_executing_seats{flow_schema="robots",priority_level="busy"} 16
apiserver_flowcontrol_current_executing_requests{flow_schema="people",priority_level="busy"} 2
apiserver_flowcontrol_current_executing_seats{flow_schema="people",priority_level="busy"} 2
apiserver_flowcontrol_current_inqueue_requests{flow_schema="robots",priority_level="busy"} 22
apiserver_flowcontrol_current_inqueue_seats{flow_schema="robots",priority_level="busy"} 24
apiserver_flowcontrol_rejected_requests_total{flow_schema="robots",priority_level="busy",reason="queue-full"} 5
apiserver_flowcontrol_rejected_requests_total{flow_schema="robots",priority_level="busy",reason="time-out"} 1
# TYPE apiserver_flowcontrol_request_wait_duration_seconds histogram
apiserver_flowcontrol_request_wait_duration_seconds_bucket{execute="true",flow_schema="robots",priority_level="busy",le="0.05"} 99
apiserver_flowcontrol_request_wait_duration_seconds_bucket{execute="true",flow_schema="robots",priority_level="busy",le="+Inf"} 100
apiserver_flowcontrol_request_wait_duration_seconds_sum{execute="true",flow_schema="robots",priority_level="busy"} 1.2
apiserver_flowcontrol_request_wait_duration_seconds_count{execute="true",flow_schema="robots",priority_level="busy"} 100
`

// TestPriorityLevelsOnTheWire pins the answer with live figures: of the level busy all there are, of the
// others, of which the metrics say nothing, none.
func TestPriorityLevelsOnTheWire(t *testing.T) {
	result, err := manifest.ReadBytes("levels.yaml", []byte(levelsYAML), manifest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	metrics, err := flowcontrol.ParseMetrics(strings.NewReader(busyMetrics))
	if err != nil {
		t.Fatal(err)
	}
	s := inspect.New(result.Objects, inspect.Config{Revision: 1})
	list := fairness.PriorityLevels(s, flowcontrol.Compute(s.PriorityLevels(), 20), flowcontrol.ConcurrencyFromFlag, flowcontrol.Reading{Metrics: metrics})
	for name, format := range map[string]output.Format{"prioritylevels.json": {Name: "json"}, "prioritylevels.txt": {Name: "wide"}} {
		var b bytes.Buffer
		if err := format.PrintList(&b, list, output.TableOptions{}); err != nil {
			t.Fatal(err)
		}
		output.Golden(t, name, b.Bytes())
	}
}

func TestStorageOnTheWire(t *testing.T) {
	const yaml = `
{apiVersion: v1, kind: Node, metadata: {name: n1, labels: {zone: a}}}
---
{apiVersion: storage.k8s.io/v1, kind: CSIStorageCapacity, metadata: {name: csisc-abc, namespace: kube-system}, storageClassName: fast, capacity: 200Gi, maximumVolumeSize: 80Gi, nodeTopology: {matchLabels: {zone: a}}}
---
{apiVersion: storage.k8s.io/v1, kind: CSIStorageCapacity, metadata: {name: csisc-bad, namespace: kube-system}, storageClassName: fast, nodeTopology: {matchExpressions: [{key: zone, operator: Near}]}}
`
	result, err := manifest.ReadBytes("storage.yaml", []byte(yaml), manifest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := (output.Format{Name: "json"}).PrintList(&b, output.StorageCapacities(inspect.New(result.Objects, inspect.Config{Revision: 1}), ""), output.TableOptions{}); err != nil {
		t.Fatal(err)
	}
	output.Golden(t, "storage.json", b.Bytes())
}
