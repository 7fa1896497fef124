package yamlpatch

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestFit: operations for an object with its defaults, and what has to be done in the file.
func TestFit(t *testing.T) {
	const containers = "/spec/containers/0/resources"
	for _, tt := range []struct {
		name, text string
		ops, want  []Operation
	}{
		{
			"as it is", "spec: {containers: [{resources: {requests: {cpu: 8}}}]}",
			[]Operation{{"replace", containers + "/requests/cpu", "4"}}, []Operation{{"replace", containers + "/requests/cpu", "4"}},
		},
		{
			"a request from a limit", "spec: {containers: [{resources: {limits: {cpu: 8, memory: 1Gi}}}]}",
			[]Operation{{"replace", containers + "/requests/cpu", "4"}, {"replace", containers + "/requests/memory", "1Mi"}},
			[]Operation{{"add", containers + "/requests", map[string]any{"cpu": "4"}}, {"add", containers + "/requests/memory", "1Mi"}},
		},
		{
			"a limit that is the request", "spec: {containers: [{resources: {limits: {example.com/gpu: 8}}}]}",
			[]Operation{{"replace", containers + "/limits/example.com~1gpu", "4"}, {"replace", containers + "/requests/example.com~1gpu", "4"}},
			[]Operation{{"replace", containers + "/limits/example.com~1gpu", "4"}},
		},
		{
			"what is not there is not removed", "spec: {containers: [{resources: {limits: {cpu: 8}}}]}",
			[]Operation{{"remove", containers + "/limits/cpu", nil}, {"remove", containers + "/requests/cpu", nil}},
			[]Operation{{"remove", containers + "/limits/cpu", nil}},
		},
		{
			"an end of a list", "spec: {tolerations: [{key: a}]}",
			[]Operation{{"add", "/spec/tolerations/-", map[string]any{"key": "b"}}}, []Operation{{"add", "/spec/tolerations/-", map[string]any{"key": "b"}}},
		},
		{
			"a number that was filled in", "spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}",
			[]Operation{{"replace", "/spec/devices/requests/0/exactly/count", 2}}, []Operation{{"add", "/spec/devices/requests/0/exactly/count", 2}},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			seen := 0
			Values([]byte("kind: Pod\n"+tt.text), func(o Object, value any) {
				seen++
				got, err := Fit(value, tt.ops)
				if err != nil || o.Kind != "Pod" {
					t.Fatal(o, err)
				}
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("operations (-want +got):\n%s", diff)
				}
			})
			if seen != 1 {
				t.Errorf("%d objects", seen)
			}
		})
	}
}
