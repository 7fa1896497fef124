package plan

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// shortOfQuota says which pods may never get the claims that are still to be made for them, because a quota
// does not allow them, or because quotas could not be read. Pods are looked at in the order in which they are
// given, which need not be that of the controller.
func shortOfQuota(s *inspect.Snapshot, pods []*corev1.Pod) []string {
	if len(s.Objects().Quotas) == 0 && !s.Health(inspect.Quotas).Partial() {
		return nil
	}
	quotas := map[string]*inspect.ClaimQuota{}
	var refused, unknown []string
	quota := ""
	for _, pod := range pods {
		_, claims := withClaims(s, pod)
		if len(claims) == 0 {
			continue
		}
		name := pod.Namespace + "/" + pod.Name
		if s.Health(inspect.Quotas).PartialIn(pod.Namespace) {
			unknown = append(unknown, name)
			continue
		}
		if quotas[pod.Namespace] == nil {
			quotas[pod.Namespace] = s.ClaimQuota(pod.Namespace)
		}
		for _, claim := range claims {
			if excess := quotas[pod.Namespace].Create(claim); excess != nil {
				refused, quota = append(refused, name), excess.Quota.Namespace+"/"+excess.Quota.Name
				break
			}
		}
	}
	var out []string
	if n := len(refused); n > 0 {
		out = append(out, fmt.Sprintf("quota %s does not allow the claims of %s, so %s as long as that is so", quota, words.Shorten(refused, maxNamed), words.Plural(n, "it waits", "they wait")))
	}
	if len(unknown) > 0 {
		out = append(out, fmt.Sprintf("not all quotas could be read, and one may keep the claims of %s from being created", words.Shorten(unknown, maxNamed)))
	}
	return out
}
