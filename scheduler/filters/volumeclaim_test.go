package filters

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// nodeByNode asks about claim ml/data and says for each node what decides, what is offered and what else
// there is to say.
func nodeByNode(t *testing.T, objects ...metav1.Object) string {
	t.Helper()
	answer, ok := NewIndex(liveSnapshot(nil, objects...).snapshot(), nil).VolumeClaim("ml", "data")
	if !ok {
		t.Fatal("the claim is not found")
	}
	var out []string
	for _, r := range answer.Everywhere.Refusals {
		out = append(out, "*: "+string(r.Code))
	}
	for i := range answer.Nodes {
		n := &answer.Nodes[i]
		text := fmt.Sprintf("%s: %s %s", n.Node, n.Rule, n.By.Name)
		if n.Offered != nil {
			text += fmt.Sprintf(" %s of %s (%s)", n.Wanted, n.Offered, n.Field)
		}
		if o := n.Outcome(); len(o.Refusals) > 0 {
			text += " no: " + string(o.Refusals[0].Plugin)
		}
		for _, together := range n.Together {
			text += "; " + together.Words()
		}
		out = append(out, text)
	}
	if len(answer.Users)+len(answer.Waiting) > 0 {
		out = append(out, fmt.Sprint("used by ", answer.Users, ", waited for by ", answer.Waiting))
	}
	return strings.Join(out, "\n")
}

func TestVolumeClaim(t *testing.T) {
	a, b := node("a", zone, "z1"), node("b", zone, "z2")
	fast, tracks := late("fast", "csi"), driver("csi", true)
	local := late("local", noProvisioner)
	other := podWith("data")
	other.Namespace = "other"
	ended := on("a", "ended", podWith("data"))
	ended.Status.Phase = corev1.PodSucceeded
	for name, test := range map[string]struct {
		objects []metav1.Object
		want    string
	}{
		"room and no room": {
			[]metav1.Object{a, b, fast, tracks, pvc("data", "fast"), room("c", "fast", "1Ti", "10Gi", zone, "z1"), room("d", "fast", "9Gi", "", zone, "z2")},
			"a: Capacity c 10Gi of 10Gi (maximumVolumeSize)\nb: Capacity d 10Gi of 9Gi (capacity) no: VolumeBinding",
		},
		"nothing is offered":       {[]metav1.Object{a, fast, tracks, pvc("data", "fast")}, "a: Capacity  no: VolumeBinding"},
		"no size is offered":       {[]metav1.Object{a, fast, tracks, pvc("data", "fast"), room("c", "fast", "", "")}, "a: Capacity c no: VolumeBinding"},
		"the driver does not care": {[]metav1.Object{a, fast, driver("csi", false), pvc("data", "fast")}, "a: CapacityIgnored csi"},
		"there is no driver":       {[]metav1.Object{a, fast, pvc("data", "fast")}, "a: CapacityIgnored fast"},
		"no size":                  {[]metav1.Object{a, fast, tracks, pvc("data", "fast", sizeless)}, "a: NoSize fast"},
		"a topology":               {[]metav1.Object{a, b, allowed(late("fast", "csi"), zone, "z1"), pvc("data", "fast")}, "a: CapacityIgnored fast\nb: Topology fast no: VolumeBinding"},
		"a node was chosen":        {[]metav1.Object{a, b, fast, pvc("data", "fast", nodeChosen("a"))}, "a: CapacityIgnored fast\nb: SelectedNode a no: VolumeBinding"},
		"bound":                    {[]metav1.Object{a, b, pvc("data", "fast", bound("v")), pv("v", "fast", nodesIn(zone, "z1"))}, "a: Bound v\nb: Bound v no: VolumeBinding"},
		"bound, in another zone":   {[]metav1.Object{a, b, pvc("data", "fast", bound("v")), pv("v", "fast", labelled(zone, "z1"))}, "a: Bound v\nb: Bound v no: VolumeZone"},
		"the node is full": {
			[]metav1.Object{a, fast, pvc("data", "fast"), attaches("a", "csi", 0)},
			"a: CapacityIgnored fast no: NodeVolumeLimits",
		},
		"an existing volume": {
			[]metav1.Object{a, b, local, pvc("data", "local"), pv("small", "local", nodesIn(host, "b"), holds("9Gi")), pv("v", "local", nodesIn(host, "a"), holds("20Gi"))},
			"a: Volume v 10Gi of 20Gi (capacity)\nb: Volume small 10Gi of 9Gi (capacity) no: VolumeBinding",
		},
		"immediate": {[]metav1.Object{a, early("fast", "csi"), pvc("data", "fast")}, "*: VolumeUnbound\na:  "},
		"pods": {
			[]metav1.Object{fast, pvc("data", "fast"), on("a", "q", podWith("data")), ended, podWith("data", "data"), other, on("a", "r", podWith("logs"))},
			"any-node: CapacityIgnored fast\nused by [ml/q], waited for by [ml/p]",
		},
		"together too much": {
			[]metav1.Object{a, b, fast, tracks, pvc("data", "fast"), pvc("logs", "fast", size("5Gi")), podWith("data", "logs"), room("c", "fast", "12Gi", "", zone, "z1"), room("d", "fast", "15Gi", "", zone, "z2")},
			"a: Capacity c 10Gi of 12Gi (capacity); pod ml/p asks for 15Gi in all (ml/logs and ml/data), and c has 12Gi left; the scheduler compares each claim alone\n" +
				"b: Capacity d 10Gi of 15Gi (capacity)\nused by [], waited for by [ml/p]",
		},
		"one alone is more than is left": { // a driver may say so, and the scheduler believes the larger number
			[]metav1.Object{a, fast, tracks, pvc("data", "fast"), pvc("bound", "fast", bound("v")), pv("v", "fast"), pvc("logs", "fast", nodeChosen("b")), podWith("data", "bound", "logs"), room("c", "fast", "1Gi", "12Gi")},
			"a: Capacity c 10Gi of 12Gi (maximumVolumeSize)\nused by [], waited for by [ml/p]",
		},
		"together, the sum is not known": {
			[]metav1.Object{a, fast, tracks, pvc("data", "fast"), pvc("logs", "fast"), podWith("data", "logs"), room("c", "fast", "", "12Gi")},
			"a: Capacity c 10Gi of 12Gi (maximumVolumeSize)\nused by [], waited for by [ml/p]",
		},
		"together, of another class": {
			[]metav1.Object{a, fast, late("slow", "csi"), tracks, pvc("data", "fast"), pvc("logs", "slow"), podWith("data", "logs"), room("c", "fast", "12Gi", ""), room("d", "slow", "12Gi", "")},
			"a: Capacity c 10Gi of 12Gi (capacity)\nused by [], waited for by [ml/p]",
		},
		"one volume for two": {
			[]metav1.Object{a, local, pvc("data", "local"), pvc("logs", "local"), podWith("data", "logs"), pv("v", "local")},
			"a: Volume v 10Gi of 10Gi (capacity); pod ml/p needs volumes for ml/data and ml/logs, and there are not enough for all\nused by [], waited for by [ml/p]",
		},
		"one volume for two of three": {
			[]metav1.Object{a, local, late("far", noProvisioner), pvc("data", "far"), pvc("logs", "local"), pvc("more", "local"), podWith("data", "logs", "more"), pv("v", "local"), pv("w", "far")},
			"a: Volume w 10Gi of 10Gi (capacity)\nused by [], waited for by [ml/p]",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := nodeByNode(t, test.objects...); got != test.want {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
		})
	}
	if _, ok := NewIndex(liveSnapshot(nil, a).snapshot(), nil).VolumeClaim("ml", "data"); ok {
		t.Error("a claim that does not exist is found")
	}
	own := pvc("p-v0", "fast", ownedBy("p"))
	own.OwnerReferences[0].Kind, own.OwnerReferences[0].Name = "Pod", "p"
	answer, _ := NewIndex(liveSnapshot(nil, a, fast, own, podWith("ephemeral")).snapshot(), nil).VolumeClaim("ml", "p-v0")
	if len(answer.Everywhere.Refusals) > 0 || len(answer.Waiting) != 1 || answer.Nodes[0].Rule != VolumeUntracked {
		t.Errorf("the claim of an ephemeral volume: refused for %v, waited for by %v, on nodes %v", answer.Everywhere.Refusals, answer.Waiting, answer.Nodes)
	}
	answer, _ = NewIndex(liveSnapshot(nil, a, b, fast, pvc("data", "fast")).snapshot(), nil).VolumeClaim("ml", "data", "b")
	if len(answer.Nodes) != 1 || answer.Nodes[0].Node != "b" {
		t.Errorf("asked about node b, got %v", answer.Nodes)
	}
}
