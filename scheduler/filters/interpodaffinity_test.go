package filters

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

type termChange = func(*corev1.PodAffinityTerm)

func affinityTerm(key string, selector *metav1.LabelSelector, changes []termChange) corev1.PodAffinityTerm {
	out := corev1.PodAffinityTerm{TopologyKey: key, LabelSelector: selector}
	if alias := labelAliases[key]; alias != "" {
		out.TopologyKey = alias
	}
	for _, change := range changes {
		change(&out)
	}
	return out
}

func affinityOf(pod *corev1.Pod) *corev1.Affinity {
	if pod.Spec.Affinity == nil {
		pod.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{}, PodAntiAffinity: &corev1.PodAntiAffinity{}}
	}
	return pod.Spec.Affinity
}

// near adds a term of required affinity.
func nearTo(key string, selector *metav1.LabelSelector, changes ...termChange) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		a := affinityOf(pod).PodAffinity
		a.RequiredDuringSchedulingIgnoredDuringExecution = append(a.RequiredDuringSchedulingIgnoredDuringExecution, affinityTerm(key, selector, changes))
	}
}

// apart adds a term of required anti-affinity.
func apartFrom(key string, selector *metav1.LabelSelector, changes ...termChange) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		a := affinityOf(pod).PodAntiAffinity
		a.RequiredDuringSchedulingIgnoredDuringExecution = append(a.RequiredDuringSchedulingIgnoredDuringExecution, affinityTerm(key, selector, changes))
	}
}

func inNamespaces(names ...string) termChange {
	return func(t *corev1.PodAffinityTerm) { t.Namespaces = names }
}

func inNamespacesWith(labels string) termChange {
	return func(t *corev1.PodAffinityTerm) { t.NamespaceSelector = matchLabels(labels) }
}

func anywhere(t *corev1.PodAffinityTerm) { t.NamespaceSelector = &metav1.LabelSelector{} }

func namespacesOf(texts ...string) []*corev1.Namespace {
	var out []*corev1.Namespace
	for _, text := range texts {
		name, labels := nameAndLabels(text)
		out = append(out, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}})
	}
	return out
}

func admittedPod(pod *corev1.Pod) { pod.UID = "u" }

const twoZones = "a1 zone=a host=a1, a2 zone=a host=a2, b1 zone=b host=b1"

func forbidden(r inspect.Resource) inspect.Config {
	return inspect.Config{Health: map[inspect.Resource]inspect.Health{r: {State: inspect.Forbidden}}}
}

// TestPodAffinity has pods that must be near others.
func TestPodAffinity(t *testing.T) {
	cache := matchLabels("app=cache")
	notInB := "a1: PodAffinity podAffinity[0]\na2: PodAffinity podAffinity[0]"
	nowhere := notInB + "\nb1: PodAffinity podAffinity[0]"
	for name, c := range map[string]neighbourCase{
		"near one":                      {nodes: twoZones, pods: podsOf("c@b1 app=cache"), pod: podOf("w", nearTo("zone", cache)), want: notInB},
		"none":                          {nodes: twoZones, pods: podsOf("c@b1 app=db"), pod: podOf("w", nearTo("zone", cache)), want: nowhere},
		"leaving pods count":            {nodes: twoZones, pods: []*corev1.Pod{podOf("c@b1 app=cache", leaving)}, pod: podOf("w", nearTo("zone", cache)), want: notInB},
		"other namespace":               {nodes: twoZones, pods: podsOf("db/c@b1 app=cache"), pod: podOf("w", nearTo("zone", cache)), want: nowhere},
		"namespace named":               {nodes: twoZones, pods: podsOf("db/c@b1 app=cache"), pod: podOf("w", nearTo("zone", cache, inNamespaces("x", "db"))), want: notInB},
		"its own is not named":          {nodes: twoZones, pods: podsOf("c@b1 app=cache"), pod: podOf("w", nearTo("zone", cache, inNamespaces("db"))), want: nowhere},
		"all namespaces":                {nodes: twoZones, pods: podsOf("db/c@b1 app=cache"), pod: podOf("w", nearTo("zone", cache, anywhere)), want: notInB},
		"namespaces selected":           {nodes: twoZones, namespaces: namespacesOf("db team=a", "ml"), pods: podsOf("db/c@b1 app=cache"), pod: podOf("w", nearTo("zone", cache, inNamespacesWith("team=a"))), want: notInB},
		"namespaces not selected":       {nodes: twoZones, namespaces: namespacesOf("db team=b", "ml team=a"), pods: podsOf("db/c@b1 app=cache"), pod: podOf("w", nearTo("zone", cache, inNamespacesWith("team=a"))), want: nowhere},
		"selected or named":             {nodes: twoZones, namespaces: namespacesOf("db team=b", "ml team=a"), pods: podsOf("db/c@b1 app=cache"), pod: podOf("w", nearTo("zone", cache, inNamespacesWith("team=a"), inNamespaces("db"))), want: notInB},
		"no selector":                   {nodes: twoZones, pods: podsOf("c@b1 app=cache"), pod: podOf("w app=cache", nearTo("zone", nil)), want: nowhere},
		"empty selector":                {nodes: twoZones, pods: podsOf("c@b1"), pod: podOf("w", nearTo("zone", &metav1.LabelSelector{})), want: notInB},
		"label missing":                 {nodes: twoZones + ", x", pods: podsOf("c@b1 app=cache"), pod: podOf("w", nearTo("zone", cache)), want: notInB + "\nx: PodAffinity podAffinity[0] label"},
		"first of its group":            {nodes: twoZones, pods: podsOf("c@b1 app=db"), pod: podOf("w app=cache", nearTo("zone", cache))},
		"first, label missing":          {nodes: "a zone=a, x", pod: podOf("w app=cache", nearTo("zone", cache)), want: "x: PodAffinity podAffinity[0] label"},
		"not the first":                 {nodes: twoZones, pods: podsOf("c@b1 app=cache"), pod: podOf("w app=cache", nearTo("zone", cache)), want: notInB},
		"itself in a namespace that is": {nodes: twoZones, pods: podsOf("c@b1 app=db"), pod: podOf("w app=cache", nearTo("zone", cache, inNamespaces("db"))), want: nowhere},
		// The only one is on a node without the label: it is near nobody, so the pod is still the first.
		"first, the other is nowhere": {nodes: "a1 zone=a, x", pods: podsOf("c@x app=cache"), pod: podOf("w app=cache", nearTo("zone", cache)), want: "x: PodAffinity podAffinity[0] label"},
		// One pod must match all terms; here each has a pod of its own.
		"two terms, two pods":         {nodes: "a1 zone=a rack=r", pods: podsOf("c@a1 app=cache, d@a1 tier=x"), pod: podOf("w", nearTo("zone", cache), nearTo("rack", matchLabels("tier=x"))), want: "a1: PodAffinity podAffinity[0]; PodAffinity podAffinity[1]"},
		"two terms, one pod":          {nodes: "a1 zone=a rack=r, a2 zone=a rack=s, b1 zone=b rack=r", pods: podsOf("c@a1 app=cache tier=x"), pod: podOf("w", nearTo("zone", cache), nearTo("rack", matchLabels("tier=x"))), want: "a2: PodAffinity podAffinity[1]\nb1: PodAffinity podAffinity[0]"},
		"two terms, first of a group": {nodes: "a1 zone=a rack=r", pods: podsOf("c@a1 app=cache"), pod: podOf("w app=cache tier=x", nearTo("zone", cache), nearTo("rack", matchLabels("tier=x")))},
		// The pod matches only one of its terms.
		"two terms, not itself": {nodes: "a1 zone=a rack=r", pod: podOf("w app=cache", nearTo("zone", cache), nearTo("rack", matchLabels("tier=x"))), want: "a1: PodAffinity podAffinity[0]; PodAffinity podAffinity[1]"},
		// There is such a pod, near nobody by rack, but near by zone: the pod is not the first.
		"two terms, half labelled": {nodes: "a1 zone=a rack=r, a2 zone=a", pods: podsOf("c@a2 app=cache"), pod: podOf("w app=cache", nearTo("zone", cache), nearTo("rack", cache)), want: "a1: PodAffinity podAffinity[1]\na2: PodAffinity podAffinity[1] label"},
		"pod without a node":       {nodes: twoZones, pods: podsOf("c app=cache, d@gone app=cache"), pod: podOf("w", nearTo("zone", cache)), want: nowhere},
		// It must pass also without the pod that is only expected there.
		"nominated pod": {nodes: twoZones, pods: []*corev1.Pod{podOf("c app=cache", nominatedTo("b1"))}, pod: podOf("w", nearTo("zone", cache)), want: nowhere},
		"preferred terms do not matter": {nodes: twoZones, pod: podOf("w", func(pod *corev1.Pod) {
			affinityOf(pod).PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution = []corev1.WeightedPodAffinityTerm{{Weight: 1, PodAffinityTerm: affinityTerm("zone", cache, nil)}}
		})},
		"bad selector": {nodes: "a zone=a", pod: podOf("w", nearTo("zone", &metav1.LabelSelector{MatchLabels: map[string]string{"a": "not a value"}})), want: "PodAffinity podAffinity[0] selector"},
		"bad anti":     {nodes: "a zone=a", pod: podOf("w", apartFrom("zone", nil), apartFrom("zone", &metav1.LabelSelector{MatchLabels: map[string]string{"a": "not a value"}})), want: "PodAntiAffinity podAntiAffinity[1] selector"},
		"bad preferred selector": {nodes: "a zone=a", pod: podOf("w", func(pod *corev1.Pod) {
			affinityOf(pod).PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution = []corev1.WeightedPodAffinityTerm{{Weight: 1, PodAffinityTerm: affinityTerm("zone", matchLabels("a=%"), nil)}}
		}), want: "PodAffinity a preferred term of the pod's affinity to others selector"},
	} {
		t.Run(name, func(t *testing.T) { c.run(t, InterPodAffinity) })
	}
}

// TestPodAntiAffinity has pods that must not be near others, and others that must not be near them.
func TestPodAntiAffinity(t *testing.T) {
	web := matchLabels("app=web")
	mine := "a1: PodAntiAffinity podAntiAffinity[0]\na2: PodAntiAffinity podAntiAffinity[0]"
	theirs := "a1: PodAntiAffinity podAntiAffinity of others, topology.kubernetes.io/zone\na2: PodAntiAffinity podAntiAffinity of others, topology.kubernetes.io/zone"
	for name, c := range map[string]neighbourCase{
		"its own":            {nodes: twoZones, pods: podsOf("v@a1 app=web"), pod: podOf("w", apartFrom("zone", web)), want: mine},
		"leaving pods count": {nodes: twoZones, pods: []*corev1.Pod{podOf("v@a1 app=web", leaving)}, pod: podOf("w", apartFrom("zone", web)), want: mine},
		"itself":             {nodes: twoZones, pods: podsOf("w app=web"), pod: podOf("w app=web", apartFrom("zone", web))},
		"by host":            {nodes: twoZones, pods: podsOf("v@a1 app=web"), pod: podOf("w", apartFrom("host", web)), want: "a1: PodAntiAffinity podAntiAffinity[0]"},
		"label missing":      {nodes: "x", pods: podsOf("v@x app=web"), pod: podOf("w", apartFrom("zone", web))},
		// Unlike terms of affinity, each counts for itself.
		"each term":       {nodes: "a1 zone=a rack=r, a2 zone=a rack=s", pods: podsOf("v@a1 app=web, u@a2 tier=x"), pod: podOf("w", apartFrom("rack", web), apartFrom("zone", matchLabels("tier=x"))), want: "a1: PodAntiAffinity podAntiAffinity[0]; PodAntiAffinity podAntiAffinity[1]\na2: PodAntiAffinity podAntiAffinity[1]"},
		"other namespace": {nodes: twoZones, pods: podsOf("db/v@a1 app=web"), pod: podOf("w", apartFrom("zone", web))},
		"all namespaces":  {nodes: twoZones, pods: podsOf("db/v@a1 app=web"), pod: podOf("w", apartFrom("zone", web, anywhere)), want: mine},
		"nominated pod":   {nodes: twoZones, pods: []*corev1.Pod{podOf("v app=web", nominatedTo("a1"))}, pod: podOf("w", apartFrom("zone", web)), want: "a1: PodAntiAffinity podAntiAffinity[0]"},

		// Namespace ml comes after db, of which the pod says nothing.
		"nominated pod of another namespace": {nodes: twoZones, pods: []*corev1.Pod{podOf("db/v app=web", nominatedTo("a1")), podOf("u@b1 app=x")}, pod: podOf("w", apartFrom("zone", web))},
		"terms of two namespaces":            {nodes: twoZones, pods: podsOf("db/v@a1 app=web, v@a2 app=web"), pod: podOf("w", apartFrom("host", web, inNamespaces("db")), apartFrom("host", web)), want: "a1: PodAntiAffinity podAntiAffinity[0]\na2: PodAntiAffinity podAntiAffinity[1]"},

		"theirs":                  {nodes: twoZones, pods: []*corev1.Pod{podOf("v@a1", apartFrom("zone", web))}, pod: podOf("w app=web"), want: theirs},
		"theirs, not this pod":    {nodes: twoZones, pods: []*corev1.Pod{podOf("v@a1", apartFrom("zone", web))}, pod: podOf("w app=db")},
		"theirs, leaving":         {nodes: twoZones, pods: []*corev1.Pod{podOf("v@a1", apartFrom("zone", web), leaving)}, pod: podOf("w app=web"), want: theirs},
		"theirs, ended":           {nodes: twoZones, pods: []*corev1.Pod{podOf("v@a1", apartFrom("zone", web), func(pod *corev1.Pod) { pod.Status.Phase = corev1.PodSucceeded })}, pod: podOf("w app=web")},
		"theirs, other namespace": {nodes: twoZones, pods: []*corev1.Pod{podOf("db/v@a1", apartFrom("zone", web))}, pod: podOf("w app=web")},
		"theirs, named":           {nodes: twoZones, pods: []*corev1.Pod{podOf("db/v@a1", apartFrom("zone", web, inNamespaces("ml", "x")))}, pod: podOf("w app=web"), want: theirs},
		"theirs, selected":        {nodes: twoZones, namespaces: namespacesOf("ml team=a"), pods: []*corev1.Pod{podOf("db/v@a1", apartFrom("zone", web, inNamespacesWith("team=a")))}, pod: podOf("w app=web"), want: theirs},
		"theirs, not selected":    {nodes: twoZones, namespaces: namespacesOf("ml team=b"), pods: []*corev1.Pod{podOf("db/v@a1", apartFrom("zone", web, inNamespacesWith("team=a")))}, pod: podOf("w app=web")},
		"theirs, all":             {nodes: twoZones, pods: []*corev1.Pod{podOf("db/v@a1", apartFrom("zone", web, anywhere))}, pod: podOf("w app=web"), want: theirs},
		"theirs, label missing":   {nodes: "x", pods: []*corev1.Pod{podOf("v@x", apartFrom("zone", web))}, pod: podOf("w app=web")},
		"theirs, only preferred": {nodes: twoZones, pods: []*corev1.Pod{podOf("v@a1", func(pod *corev1.Pod) {
			affinityOf(pod).PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution = []corev1.WeightedPodAffinityTerm{{Weight: 1, PodAffinityTerm: affinityTerm("zone", web, nil)}}
		})}, pod: podOf("w app=web")},
		"theirs, affinity of a pod": {nodes: twoZones, pods: []*corev1.Pod{podOf("v@a1", nearTo("zone", web))}, pod: podOf("w app=web")},
		// The terms read alike, but are about the namespaces of their own pods.
		"theirs, two namespaces": {nodes: twoZones, pods: []*corev1.Pod{podOf("db/v@a1", apartFrom("zone", web)), podOf("u@b1", apartFrom("zone", web))}, pod: podOf("w app=web"), want: "b1: PodAntiAffinity podAntiAffinity of others, topology.kubernetes.io/zone"},
		"theirs, two selections": {nodes: twoZones, namespaces: namespacesOf("ml team=a"), pods: []*corev1.Pod{podOf("db/v@a1", apartFrom("zone", web, inNamespacesWith("team=b"))), podOf("u@b1", apartFrom("zone", web, inNamespacesWith("team=a")))}, pod: podOf("w app=web"), want: "b1: PodAntiAffinity podAntiAffinity of others, topology.kubernetes.io/zone"},
		// The scheduler drops all terms of a pod of which it cannot read one.
		"theirs, one unreadable": {nodes: twoZones, pods: []*corev1.Pod{podOf("v@a1", apartFrom("zone", web), apartFrom("zone", matchLabels("a=%")))}, pod: podOf("w app=web")},
		"both":                   {nodes: "a1 zone=a", pods: []*corev1.Pod{podOf("v@a1 app=web", apartFrom("zone", web))}, pod: podOf("w app=web", apartFrom("zone", web)), want: "a1: PodAntiAffinity podAntiAffinity[0]; PodAntiAffinity podAntiAffinity of others, topology.kubernetes.io/zone"},
		// Pods that are only expected on a node are asked only if the plugin has anything to do without them.
		"theirs, nominated":             {nodes: twoZones, pods: []*corev1.Pod{podOf("v", apartFrom("zone", web), nominatedTo("a1"))}, pod: podOf("w app=web")},
		"theirs, nominated, and others": {nodes: twoZones, pods: []*corev1.Pod{podOf("v", apartFrom("zone", web), nominatedTo("a1")), podOf("u@b1", apartFrom("host", web))}, pod: podOf("w app=web"), want: "a1: PodAntiAffinity podAntiAffinity of others, topology.kubernetes.io/zone\nb1: PodAntiAffinity podAntiAffinity of others, kubernetes.io/hostname"},
		"theirs, nominated, own rules":  {nodes: twoZones, pods: []*corev1.Pod{podOf("v", apartFrom("zone", web), nominatedTo("a1"))}, pod: podOf("w app=web", apartFrom("zone", matchLabels("app=x"))), want: "a1: PodAntiAffinity podAntiAffinity of others, topology.kubernetes.io/zone"},
	} {
		t.Run(name, func(t *testing.T) { c.run(t, InterPodAffinity) })
	}
}

// TestSharedAffinity has pods that share their terms in memory, and neighbours in the list of pods that do
// not.
func TestSharedAffinity(t *testing.T) {
	web := matchLabels("app=web")
	keyed := func(t *corev1.PodAffinityTerm) { t.MatchLabelKeys = []string{"v"} }
	shared := func(text string, of *corev1.Pod, changes ...func(*corev1.Pod)) *corev1.Pod {
		pod := podOf(text, changes...)
		pod.Spec.Affinity = of.Spec.Affinity
		return pod
	}
	first := podOf("db/a@a1", apartFrom("host", web), admittedPod)
	keys := podOf("c@b1 v=1", apartFrom("host", web, keyed))
	for name, c := range map[string]neighbourCase{
		"shared":            {pods: []*corev1.Pod{first, shared("db/b@a2", first, admittedPod)}, pod: podOf("db/w app=web"), want: "a1: PodAntiAffinity podAntiAffinity of others, kubernetes.io/hostname\na2: PodAntiAffinity podAntiAffinity of others, kubernetes.io/hostname"},
		"other namespace":   {pods: []*corev1.Pod{first, shared("a@a2", first, admittedPod)}, pod: podOf("w app=web"), want: "a2: PodAntiAffinity podAntiAffinity of others, kubernetes.io/hostname"},
		"other terms":       {pods: []*corev1.Pod{first, podOf("db/b@a2", apartFrom("host", matchLabels("app=x")), admittedPod)}, pod: podOf("db/w app=web"), want: "a1: PodAntiAffinity podAntiAffinity of others, kubernetes.io/hostname"},
		"labels of its own": {pods: []*corev1.Pod{keys, shared("d@a2 v=2", keys)}, pod: podOf("w app=web v=2"), want: "a2: PodAntiAffinity podAntiAffinity of others, kubernetes.io/hostname"},
	} {
		t.Run(name, func(t *testing.T) {
			c.nodes = twoZones
			c.run(t, InterPodAffinity)
		})
	}
}

// TestPodTermKeys has terms that take over labels of the pod.
func TestPodTermKeys(t *testing.T) {
	keys := func(match, mismatch string) termChange {
		return func(t *corev1.PodAffinityTerm) {
			if match != "" {
				t.MatchLabelKeys = []string{match}
			}
			if mismatch != "" {
				t.MismatchLabelKeys = []string{mismatch}
			}
		}
	}
	added := func(operator metav1.LabelSelectorOperator, value string) *metav1.LabelSelector {
		s := matchLabels("app=web")
		s.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: "v", Operator: operator, Values: []string{value}}}
		return s
	}
	web := matchLabels("app=web")
	pods := podsOf("v1@a1 app=web v=1, v2@b1 app=web v=2")
	inA, inB := "a1: PodAntiAffinity podAntiAffinity[0]\na2: PodAntiAffinity podAntiAffinity[0]", "b1: PodAntiAffinity podAntiAffinity[0]"
	for name, c := range map[string]neighbourCase{
		"match":             {pod: podOf("w v=2", apartFrom("zone", web, keys("v", ""))), want: inB},
		"mismatch":          {pod: podOf("w v=2", apartFrom("zone", web, keys("", "v"))), want: inA},
		"label not there":   {pod: podOf("w", apartFrom("zone", web, keys("v", ""))), want: inA + "\n" + inB},
		"no selector":       {pod: podOf("w v=2", apartFrom("zone", nil, keys("v", "")))},
		"added, label kept": {pod: podOf("w v=2", apartFrom("zone", added(metav1.LabelSelectorOpIn, "2"), keys("v", ""))), want: inB},
		// The API server has added what it adds: keys are not looked at again.
		"admitted":                {pod: podOf("w v=2", admittedPod, apartFrom("zone", added(metav1.LabelSelectorOpIn, "1"), keys("v", ""))), want: inA},
		"admitted, without label": {pod: podOf("w v=2", admittedPod, apartFrom("zone", web, keys("v", ""))), want: inA + "\n" + inB},
		"theirs":                  {pod: podOf("w app=web v=3"), want: "a1: PodAntiAffinity podAntiAffinity of others, topology.kubernetes.io/zone\na2: PodAntiAffinity podAntiAffinity of others, topology.kubernetes.io/zone"},
	} {
		t.Run(name, func(t *testing.T) {
			c.nodes, c.pods = twoZones, pods
			if name == "theirs" {
				c.pods = []*corev1.Pod{podOf("v3@a1 v=3", apartFrom("zone", web, keys("v", ""))), podOf("v1@b1 v=1", apartFrom("zone", web, keys("v", "")))}
			}
			c.run(t, InterPodAffinity)
		})
	}
}

// TestHostnameFastPath has what the gate changes: the host of a pod is then the node itself.
func TestHostnameFastPath(t *testing.T) {
	web := matchLabels("app=web")
	twins := "a host=h, b host=h, x"
	for name, c := range map[string]struct {
		neighbourCase
		withGate string
	}{
		"anti-affinity":    {neighbourCase{nodes: twins, pods: podsOf("v@a app=web"), pod: podOf("w", apartFrom("host", web)), want: "a: PodAntiAffinity podAntiAffinity[0]\nb: PodAntiAffinity podAntiAffinity[0]"}, "a: PodAntiAffinity podAntiAffinity[0]"},
		"theirs":           {neighbourCase{nodes: twins, pods: []*corev1.Pod{podOf("v@a", apartFrom("host", web))}, pod: podOf("w app=web"), want: "a: PodAntiAffinity podAntiAffinity of others, kubernetes.io/hostname\nb: PodAntiAffinity podAntiAffinity of others, kubernetes.io/hostname"}, "a: PodAntiAffinity podAntiAffinity of others, kubernetes.io/hostname"},
		"affinity":         {neighbourCase{nodes: twins, pods: podsOf("v@a app=web"), pod: podOf("w", nearTo("host", web)), want: "x: PodAffinity podAffinity[0] label"}, "b: PodAffinity podAffinity[0]\nx: PodAffinity podAffinity[0] label"},
		"mixed affinity":   {neighbourCase{nodes: "a host=h zone=a, b host=h zone=a", pods: podsOf("v@a app=web"), pod: podOf("w", nearTo("host", web), nearTo("zone", web))}, ""},
		"other on no host": {neighbourCase{nodes: twins, pods: podsOf("v@x app=web"), pod: podOf("w app=web", nearTo("host", web)), want: "x: PodAffinity podAffinity[0] label"}, "a: PodAffinity podAffinity[0]\nb: PodAffinity podAffinity[0]\nx: PodAffinity podAffinity[0] label"},
		// Any pod with such a rule has the plugin look at pods that are expected on a node, also one that
		// does not mean this pod.
		"nominated": {neighbourCase{nodes: twins, pods: []*corev1.Pod{podOf("u@b", apartFrom("host", matchLabels("app=x"))), podOf("v", apartFrom("host", web), nominatedTo("a"))}, pod: podOf("w app=web")}, "a: PodAntiAffinity podAntiAffinity of others, kubernetes.io/hostname"},
	} {
		t.Run(name, func(t *testing.T) {
			c.run(t, InterPodAffinity)
			c.gates, c.want = []inspect.Gate{inspect.GateInterPodAffinityHostnameFastPath}, c.withGate
			c.run(t, InterPodAffinity)
		})
	}
}

// TestPodAffinityUnknown has what cannot be decided, and what can although not everything was read.
func TestPodAffinityUnknown(t *testing.T) {
	web := matchLabels("app=web")
	teamA := inNamespacesWith("team=a")
	live := inspect.Config{ServerVersion: "v1.37.1", Health: map[inspect.Resource]inspect.Health{inspect.Nodes: {State: inspect.Synced}, inspect.Pods: {State: inspect.Synced}}}
	synced := inspect.Config{ServerVersion: "v1.37.1", Health: map[inspect.Resource]inspect.Health{inspect.Nodes: {State: inspect.Synced}, inspect.Pods: {State: inspect.Synced}, inspect.Namespaces: {State: inspect.Synced}}}
	narrowed := inspect.Config{Health: map[inspect.Resource]inspect.Health{inspect.Pods: {State: inspect.Narrowed, Namespaces: []string{"ml"}}}}
	notTeam := func(t *corev1.PodAffinityTerm) {
		t.NamespaceSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "team", Operator: metav1.LabelSelectorOpDoesNotExist}}}
	}
	for name, c := range map[string]neighbourCase{
		"plain pod, nodes assumed": {pod: podOf("w"), config: forbidden(inspect.Nodes)},
		"rules, nodes assumed":     {pod: podOf("w", apartFrom("zone", web)), want: "? nodes"},
		"theirs, nodes assumed":    {pods: []*corev1.Pod{podOf("v@n", apartFrom("zone", web))}, pod: podOf("w app=web"), want: "? nodes"},
		"ended, nodes assumed":     {pods: []*corev1.Pod{podOf("v@n", apartFrom("zone", web), func(pod *corev1.Pod) { pod.Status.Phase = corev1.PodFailed })}, pod: podOf("w app=web")},
		"nominated, nodes assumed": {pods: []*corev1.Pod{podOf("v", apartFrom("zone", web), nominatedTo("n"))}, pod: podOf("w app=web")},
		"others, nodes assumed":    {pods: []*corev1.Pod{podOf("v@n", apartFrom("zone", web))}, pod: podOf("w app=db")},
		"pods forbidden":           {nodes: "a zone=a", config: forbidden(inspect.Pods), pod: podOf("w"), want: "? pods"},
		"nodes incomplete":         {nodes: "a zone=a", config: forbidden(inspect.Nodes), pod: podOf("w"), want: "? nodes"},
		// What is not there may be among what was not read.
		"affinity, pods forbidden":      {nodes: "a zone=a, x", config: forbidden(inspect.Pods), pod: podOf("w", nearTo("zone", web)), want: "? pods\nx: PodAffinity podAffinity[0] label"},
		"first, pods forbidden":         {nodes: "a zone=a", config: forbidden(inspect.Pods), pod: podOf("w app=web", nearTo("zone", web)), want: "? pods"},
		"anti-affinity, pods forbidden": {nodes: "a zone=a, b zone=b", config: forbidden(inspect.Pods), pods: podsOf("v@a app=web"), pod: podOf("w", apartFrom("zone", web)), want: "? pods\na: PodAntiAffinity podAntiAffinity[0]"},
		"affinity, its namespace":       {nodes: "a zone=a", config: narrowed, pod: podOf("w", nearTo("zone", web)), want: "? pods\na: PodAffinity podAffinity[0]"},
		"affinity, other namespaces":    {nodes: "a zone=a", config: narrowed, pod: podOf("w", nearTo("zone", web, inNamespaces("db"))), want: "? pods"},
		"affinity, named and selected":  {nodes: "a zone=a", config: narrowed, pod: podOf("w", nearTo("zone", web, inNamespaces("ml"), teamA)), want: "? pods"},
		"affinity, all namespaces":      {nodes: "a zone=a", config: narrowed, pod: podOf("w", nearTo("zone", web, anywhere)), want: "? pods"},

		"namespaces not read":                {nodes: "a zone=a, b zone=b", config: live, pods: podsOf("db/v@a app=web"), pod: podOf("w", apartFrom("zone", web, teamA)), want: "a: ? podAntiAffinity[0]"},
		"namespaces not read, no such pods":  {nodes: "a zone=a", config: live, pods: podsOf("db/v@a app=db"), pod: podOf("w", apartFrom("zone", web, teamA))},
		"namespaces not read, named":         {nodes: "a zone=a", config: live, pods: podsOf("db/v@a app=web"), pod: podOf("w", apartFrom("zone", web, teamA, inNamespaces("db"))), want: "a: PodAntiAffinity podAntiAffinity[0]"},
		"namespaces not read, all":           {nodes: "a zone=a", config: live, pods: podsOf("db/v@a app=web"), pod: podOf("w", apartFrom("zone", web, anywhere)), want: "a: PodAntiAffinity podAntiAffinity[0]"},
		"namespaces not read, by name":       {nodes: "a zone=a", config: live, pods: podsOf("db/v@a app=web"), pod: podOf("w", apartFrom("zone", web, inNamespacesWith(corev1.LabelMetadataName+"=db"))), want: "a: PodAntiAffinity podAntiAffinity[0]"},
		"namespaces not read, another name":  {nodes: "a zone=a", config: live, pods: podsOf("db/v@a app=web"), pod: podOf("w", apartFrom("zone", web, inNamespacesWith(corev1.LabelMetadataName+"=x team=a")))},
		"namespaces not read, theirs":        {nodes: "a zone=a, b zone=b", config: live, pods: []*corev1.Pod{podOf("v@a", apartFrom("zone", web, teamA))}, pod: podOf("w app=web"), want: "a: ? the podAntiAffinity of pods that are there"},
		"namespaces not read, and others":    {nodes: "a zone=a", config: live, pods: []*corev1.Pod{podOf("v@a", apartFrom("zone", web, teamA)), podOf("u@a", apartFrom("zone", web))}, pod: podOf("w app=web"), want: "a: PodAntiAffinity podAntiAffinity of others, topology.kubernetes.io/zone"},
		"namespaces not read, near":          {nodes: "a zone=a, b zone=b", config: live, pods: podsOf("db/v@a app=web"), pod: podOf("w", nearTo("zone", web, teamA)), want: "a: ? podAffinity\nb: PodAffinity podAffinity[0]"},
		"namespaces not read, near, first":   {nodes: "a zone=a, b zone=b", config: live, pods: podsOf("db/v@a app=web"), pod: podOf("w app=web", nearTo("zone", web, teamA)), want: "a: ? podAffinity\nb: ? podAffinity"},
		"namespaces not read, near, certain": {nodes: "a zone=a, b zone=b", config: live, pods: podsOf("db/v@a app=web, v@a app=web"), pod: podOf("w app=web", nearTo("zone", web, teamA, inNamespaces("ml"))), want: "b: PodAffinity podAffinity[0]"},
		// No namespace is read, and no pod is in one: it is not known whether the pod is of its own group.
		"namespaces not read, itself": {nodes: "a zone=a", config: live, pod: podOf("w app=web", nearTo("zone", web, teamA)), want: "a: ? podAffinity"},

		// Files without Namespaces: they have no labels but their names.
		"no namespaces":          {nodes: "a zone=a", pods: podsOf("db/v@a app=web"), pod: podOf("w", apartFrom("zone", web, teamA))},
		"no namespaces, by name": {nodes: "a zone=a", pods: podsOf("db/v@a app=web"), pod: podOf("w", apartFrom("zone", web, inNamespacesWith(corev1.LabelMetadataName+"=db"))), want: "a: PodAntiAffinity podAntiAffinity[0]"},
		"no namespaces, not":     {nodes: "a zone=a", pods: podsOf("db/v@a app=web"), pod: podOf("w", apartFrom("zone", web, notTeam)), want: "a: PodAntiAffinity podAntiAffinity[0]"},
		// A cluster in which the namespace has just been deleted: it is selected by nothing, and has no
		// labels.
		"namespace gone":         {nodes: "a zone=a", config: synced, pods: podsOf("db/v@a app=web"), pod: podOf("w", apartFrom("zone", web, notTeam))},
		"namespace gone, theirs": {nodes: "a zone=a", config: synced, pods: []*corev1.Pod{podOf("db/v@a", apartFrom("zone", web, notTeam))}, pod: podOf("w app=web"), want: "a: PodAntiAffinity podAntiAffinity of others, topology.kubernetes.io/zone"},
	} {
		t.Run(name, func(t *testing.T) { c.run(t, InterPodAffinity) })
	}
}

// TestPodAffinityFacts has what is said of a node that is refused.
func TestPodAffinityFacts(t *testing.T) {
	web, cache := matchLabels("app=web"), matchLabels("app=cache")
	for name, test := range map[string]struct {
		neighbourCase
		on   string
		want Refusal
	}{
		"affinity": {
			neighbourCase{nodes: "a1 zone=a, b1 zone=b, c1 zone=c", pods: podsOf("c0@c1 app=cache, c1@b1 app=cache, c2@b1 app=cache"), pod: podOf("w", nearTo("zone", cache))}, "a1",
			Refusal{
				Code: PodAffinity, Key: "podAffinity[0]", Unresolvable: true,
				Topology: &Topology{Key: corev1.LabelTopologyZone, Value: "a", Labelled: true, Which: " with app=cache", Elsewhere: []string{"b", "c"}},
				Message:  "the pod has to share zone a with a pod with app=cache, and none is there (podAffinity[0])",
			},
		},
		"affinity to none": {
			neighbourCase{nodes: "a1 rack=r1 host=a1", pod: podOf("w", nearTo("host", cache), nearTo("rack", matchLabels("tier=x"), inNamespaces("db", "ml")))}, "a1",
			Refusal{
				Code: PodAffinity, Key: "podAffinity[0]", Unresolvable: true, Topology: &Topology{Key: corev1.LabelHostname, Value: "a1", Labelled: true, Which: " with app=cache and with tier=x of namespaces db, ml"},
				Message: "the pod has to share node a1 with a pod with app=cache and with tier=x of namespaces db, ml, and there is none on any node (podAffinity[0])",
			},
		},
		"affinity, no label": {
			neighbourCase{nodes: "a1", pods: podsOf("c@a1 app=cache"), pod: podOf("w", nearTo("zone", cache))}, "a1",
			Refusal{
				Code: PodAffinity, Key: "podAffinity[0] label", Unresolvable: true, Topology: &Topology{Key: corev1.LabelTopologyZone},
				Message: "the node has no label topology.kubernetes.io/zone, by which the pod has to be near others (podAffinity[0])",
			},
		},
		"anti-affinity": {
			neighbourCase{nodes: twoZones, pods: podsOf("y@a2 app=web, x@a1 app=web, z@b1 app=web"), pod: podOf("w", apartFrom("zone", web))}, "a1",
			Refusal{
				Code: PodAntiAffinity, Key: "podAntiAffinity[0]", Pods: []inspect.PodRef{{Namespace: "ml", Name: "x"}, {Namespace: "ml", Name: "y"}},
				Topology: &Topology{Key: corev1.LabelTopologyZone, Value: "a", Labelled: true, Which: " with app=web", Pods: 2},
				Message:  "the pod must not share zone a with any pod with app=web, and it has pods ml/x and ml/y (podAntiAffinity[0])",
			},
		},
		// Pod x has two such terms; it is named once.
		"anti-affinity of others": {
			neighbourCase{nodes: twoZones, pods: []*corev1.Pod{podOf("x@a1", apartFrom("zone", web), apartFrom("zone", matchLabels("tier=x"))), podOf("db/y@a2", apartFrom("zone", web, anywhere)), podOf("z@a2", apartFrom("zone", web))}, pod: podOf("w app=web tier=x")}, "a2",
			Refusal{
				Code: PodAntiAffinity, Key: "podAntiAffinity of others, topology.kubernetes.io/zone", Index: -1,
				Pods:     []inspect.PodRef{{Namespace: "db", Name: "y"}, {Namespace: "ml", Name: "x"}, {Namespace: "ml", Name: "z"}},
				Topology: &Topology{Key: corev1.LabelTopologyZone, Value: "a", Labelled: true, Pods: 3},
				Message:  "zone a has pod db/y and 2 others, whose podAntiAffinity keeps pods like this one away",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			test.want.Plugin = InterPodAffinity
			_, nodes := test.ask(InterPodAffinity)
			if diff := cmp.Diff(test.want, nodes[test.on].Refusals[0]); diff != "" {
				t.Error("(-want +got):\n" + diff)
			}
		})
	}
}
