package filters

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// TestTopologySummary has what is said of several nodes that are refused for one reason.
func TestTopologySummary(t *testing.T) {
	web := matchLabels("app=web")
	five := "a zone=a host=a, b zone=b host=b, c zone=c host=c, d zone=d host=d, e zone=e host=e"
	for name, test := range map[string]struct {
		neighbourCase
		plugin Plugin
		want   string
	}{
		"spread over two": {
			neighbourCase{nodes: "a zone=a, b zone=b, c zone=c", pods: podsOf("0@a app=web, 1@b app=web, 2@b app=web"), pod: podOf("w app=web", spread("zone", 1, web))}, PodTopologySpread,
			"zones a and b each would have at least 2 pods with app=web, 2 more than zone c, which has the fewest; maxSkew of topologySpreadConstraints[0] is 1",
		},
		"spread over many": {
			neighbourCase{nodes: five, pods: podsOf("0@a app=web, 1@b app=web, 2@c app=web, 3@d app=web"), pod: podOf("w", spread("host", 0, web))}, PodTopologySpread,
			"4 nodes each have at least 1 pod with app=web, 1 more than node e, which has the fewest; maxSkew of topologySpreadConstraints[0] is 0",
		},
		"one zone of two nodes": {
			neighbourCase{nodes: "a1 zone=a, a2 zone=a, b zone=b", pods: podsOf("0@a1 app=web"), pod: podOf("w app=web", spread("zone", 1, web))}, PodTopologySpread,
			"zone a would have 2 pods with app=web, 2 more than zone b, which has the fewest; maxSkew of topologySpreadConstraints[0] is 1",
		},
		"too few domains": {
			neighbourCase{nodes: "a rack=a, b rack=b", pods: podsOf("0@a app=web, 1@b app=web"), pod: podOf("w app=web", spread("rack", 1, web, minDomains(3)))}, PodTopologySpread,
			"rack=a and b each would have at least 2 pods with app=web; while there are fewer than 3 values of rack, topologySpreadConstraints[0] allows 1",
		},
		// The pod that is expected on a changes which zone has the fewest there.
		"fewest differ": {
			neighbourCase{nodes: "a zone=a, b zone=b", pods: []*corev1.Pod{podOf("0 app=web", nominatedTo("a")), podOf("1 app=web", nominatedTo("b"))}, pod: podOf("w app=web", spread("zone", 1, web))}, PodTopologySpread,
			"zones a and b each would have at least 2 pods with app=web; maxSkew of topologySpreadConstraints[0] is 1",
		},
		"affinity": {
			neighbourCase{nodes: five, pods: podsOf("0@e app=web"), pod: podOf("w", nearTo("host", web))}, InterPodAffinity,
			"the pod has to share a node with a pod with app=web, and none is on 4 nodes (podAffinity[0])",
		},
		"affinity to none": {
			neighbourCase{nodes: "a rack=a, b rack=b", pod: podOf("w", nearTo("rack", web))}, InterPodAffinity,
			"the pod has to share the value of rack with a pod with app=web, and there is none on any node (podAffinity[0])",
		},
		"affinity by a label that no node has": {
			neighbourCase{nodes: "a, b", pod: podOf("w", nearTo("rack", web))}, InterPodAffinity,
			"the node has no label rack, by which the pod has to be near others (podAffinity[0])",
		},
		"anti-affinity": {
			neighbourCase{nodes: five, pods: podsOf("0@a app=web, 1@b app=web, 2@c app=web"), pod: podOf("w", apartFrom("zone", web))}, InterPodAffinity,
			"the pod must not share a zone with any pod with app=web, and zones a, b and c have some (podAntiAffinity[0])",
		},
		"anti-affinity of others": {
			neighbourCase{nodes: five, pods: []*corev1.Pod{podOf("0@a", apartFrom("zone", web)), podOf("1@c", apartFrom("zone", web))}, pod: podOf("w app=web")}, InterPodAffinity,
			"zones a and c have pods whose podAntiAffinity keeps pods like this one away",
		},
	} {
		t.Run(name, func(t *testing.T) {
			x := NewIndex(test.snapshot(), nil)
			p := x.Prepare(test.pod)
			var refusals []Refusal
			for _, n := range x.nodes {
				refusals = append(refusals, saidBy(test.plugin, p.On(inspect.NodeName(n.Name))).Refusals...)
			}
			if got := Summary(refusals); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}
