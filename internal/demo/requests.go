package demo

import (
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect/flowcontrol"
)

// flow is somebody who keeps asking the demo's server.
type flow struct{ schema, distinguisher string }

// flows are those that ask at each level. The first is who floods it.
var flows = map[string][]flow{
	flowcontrolv1.PriorityLevelConfigurationNameExempt: {{"probes", ""}},
	"workload-low": {
		{"service-accounts", "system:serviceaccount:ml:sweeper"}, {"service-accounts", "system:serviceaccount:gpu-driver:plugin"},
		{"service-accounts", "system:serviceaccount:monitoring:agent"},
	},
	"workload-high":                      {{"kube-scheduler", "ml"}, {"kube-controller-manager", "infer"}, {"kube-system-service-accounts", "ml"}},
	"system":                             {{"system-nodes", "system:node:gpu-a-01"}, {"system-nodes", "system:node:gpu-b-01"}},
	"node-high":                          {{"system-node-high", "system:node:gpu-a-02"}},
	"leader-election":                    {{"system-leader-election", "system:kube-scheduler"}},
	"global-default":                     {{"global-default", "jane"}, {"global-default", "joe"}},
	flowcontrolv1.FlowSchemaNameCatchAll: {{"catch-all", "eve"}},
}

// stored is what the demo's server says of objects; there are more than the demo has.
func stored() map[string]flowcontrol.Stored {
	sized := func(objects, bytes, watches int) flowcontrol.Stored {
		return flowcontrol.Stored{Objects: objects, Bytes: &bytes, Watches: watches}
	}
	return map[string]flowcontrol.Stored{
		"pods": sized(412, 2_884_000, 43), "nodes": sized(12, 96_000, 31), "resourceslices.resource.k8s.io": sized(54, 1_890_000, 18),
		"resourceclaims.resource.k8s.io": sized(87, 174_000, 21), "leases.coordination.k8s.io": sized(26, 13_000, 0),
	}
}
