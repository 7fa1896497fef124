package manifest

import (
	"encoding/json"
	"fmt"

	kueuev1beta2 "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Queued are the pod templates of workloads of Kueue, in their order.
func Queued(all []*kueuev1beta2.Workload) ([]*inspect.Workload, error) {
	if len(all) == 0 {
		return nil, nil
	}
	kind := inspect.KindOf(inspect.KueueWorkloads)
	items := make([]kueuev1beta2.Workload, len(all))
	for i, w := range all {
		items[i] = *w
		items[i].APIVersion, items[i].Kind = kind.APIVersion(), kind.Name
	}
	raw, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "List", "items": items})
	if err != nil {
		return nil, fmt.Errorf("writing workloads: %w", err)
	}
	result, err := ReadBytes("workloads", raw, Options{Workloads: true})
	if err != nil {
		return nil, err
	}
	return result.Workloads, nil
}
