package filters

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// topologyInWords says what is wrong with the domains of refusals, which have the same code and key. It is true of each.
func topologyInWords(refusals []Refusal) string {
	first := &refusals[0]
	switch t := first.Topology; {
	case !t.Labelled && first.Code == SpreadConstraint:
		return fmt.Sprintf("the node has no label %s, by which the pod is to be spread (%s)", t.Key, first.rule())
	case !t.Labelled:
		return fmt.Sprintf("the node has no label %s, by which the pod has to be near others (%s)", t.Key, first.rule())
	case first.Code == SpreadConstraint:
		return spreadInWords(refusals)
	case first.Code == PodAffinity:
		return affinityInWords(refusals)
	case first.Index < 0:
		return repelledInWords(refusals)
	}
	return antiAffinityInWords(refusals)
}

// topologyRefusal adds the message to a refusal of a domain.
func topologyRefusal(r Refusal) Refusal {
	r.Message = topologyInWords([]Refusal{r})
	return r
}

// rule names the constraint or term of the pod that is not met.
func (r *Refusal) rule() string {
	switch r.Code {
	case SpreadConstraint:
		return constraintName(r.Index)
	case PodAffinity:
		return fmt.Sprintf("podAffinity[%d]", r.Index)
	}
	return fmt.Sprintf("podAntiAffinity[%d]", r.Index)
}

func constraintName(i int) string { return fmt.Sprintf("topologySpreadConstraints[%d]", i) }

// spreadInWords: "zone a would have 3 pods with app=web, 2 more than zone b, which has the fewest".
func spreadInWords(refusals []Refusal) string {
	first := &refusals[0]
	places, t, s := placesOf(refusals), first.Topology, first.Topology.Spread
	self, has := 0, "has"
	if s.Self {
		self, has = 1, "would have"
	}
	pods, fewest := t.Pods, s
	for i := range refusals {
		other := refusals[i].Topology
		pods = min(pods, other.Pods)
		if other.Spread.FewestValue != s.FewestValue || other.Spread.Fewest != s.Fewest {
			fewest = nil
		}
	}
	what := fmt.Sprintf("%s %s %s%s", places[0], has, howMany(pods+self), t.Which)
	if len(places) > 1 {
		what = fmt.Sprintf("%s each %s at least %s%s", placesInWords(places), strings.Replace(has, "has", "have", 1), howMany(pods+self), t.Which)
	}
	switch {
	case s.Domains < s.MinDomains:
		return fmt.Sprintf("%s; while there are fewer than %d %s, %s allows %d", what, s.MinDomains, kindsOfPlaces(t.Key), first.rule(), s.MaxSkew)
	case fewest == nil || s.FewestValue == t.Value:
		return fmt.Sprintf("%s; %s allows %d more than the fewest", what, first.rule(), s.MaxSkew)
	}
	return fmt.Sprintf("%s, %d more than %s, which has the fewest; %s allows %d more", what, pods+self-s.Fewest, domain{t.Key, s.FewestValue}, first.rule(), s.MaxSkew)
}

// affinityInWords: "the pod has to share zone a with a pod with app=cache, and none is there".
func affinityInWords(refusals []Refusal) string {
	first, places := &refusals[0], placesOf(refusals)
	where, none := places[0].String(), "none is there"
	if len(places) > 1 {
		where, none = kindOfPlace(places[0].key), "none is in "+placesInWords(places)
		if places[0].key == corev1.LabelHostname {
			none = "none is on " + placesInWords(places)
		}
	}
	if len(first.Topology.Elsewhere) == 0 {
		none = "there is none on any node"
	}
	return fmt.Sprintf("the pod has to share %s with a pod%s, and %s (%s)", where, first.Topology.Which, none, first.rule())
}

// antiAffinityInWords: "the pod must not share zone a with any pod with app=web, and it has pod ml/web-0".
func antiAffinityInWords(refusals []Refusal) string {
	first, places := &refusals[0], placesOf(refusals)
	if len(places) > 1 {
		return fmt.Sprintf("the pod must not share %s with any pod%s, and %s have some (%s)", kindOfPlace(places[0].key), first.Topology.Which, placesInWords(places), first.rule())
	}
	return fmt.Sprintf("the pod must not share %s with any pod%s, and it has %s (%s)", places[0], first.Topology.Which, podsInWords(first.Pods), first.rule())
}

// repelledInWords: "zone a has pod db/0, whose podAntiAffinity keeps pods like this one away".
func repelledInWords(refusals []Refusal) string {
	if places := placesOf(refusals); len(places) > 1 {
		return placesInWords(places) + " have pods whose podAntiAffinity keeps pods like this one away"
	}
	return fmt.Sprintf("%s has %s, whose podAntiAffinity keeps pods like this one away", placesOf(refusals)[0], podsInWords(refusals[0].Pods))
}

// placesOf are the domains of refusals, each once, sorted.
func placesOf(refusals []Refusal) []domain {
	var out []domain
	for i := range refusals {
		t := refusals[i].Topology
		out = append(out, domain{t.Key, t.Value})
	}
	slices.SortFunc(out, func(a, b domain) int { return strings.Compare(a.value, b.value) })
	return slices.Compact(out)
}

// placesInWords names up to three domains of a key: "zones a and b", "5 zones".
func placesInWords(places []domain) string {
	if len(places) > 3 {
		return fmt.Sprintf("%d %s", len(places), kindsOfPlaces(places[0].key))
	}
	var values []string
	for _, d := range places {
		values = append(values, d.value)
	}
	last := len(values) - 1
	text := strings.Join(values[:last], ", ") + " and " + values[last]
	if name := placeNames[places[0].key]; name != "" {
		return name + "s " + text
	}
	return places[0].key + "=" + text
}

// placeNames are the words for domains of labels that every cluster has.
var placeNames = map[string]string{
	corev1.LabelTopologyZone: "zone", corev1.LabelTopologyRegion: "region", corev1.LabelHostname: "node",
	corev1.LabelFailureDomainBetaZone: "zone", corev1.LabelFailureDomainBetaRegion: "region",
}

// String says which nodes a domain has: "zone eu-1a", "node gpu-1", "example.com/rack=r1".
func (d domain) String() string {
	if name := placeNames[d.key]; name != "" {
		return name + " " + d.value
	}
	return d.key + "=" + d.value
}

// kindOfPlace is one domain of a key, any of them.
func kindOfPlace(key string) string {
	if name := placeNames[key]; name != "" {
		return "a " + name
	}
	return "the value of " + key
}

// kindsOfPlaces are several domains of a key.
func kindsOfPlaces(key string) string {
	if name := placeNames[key]; name != "" {
		return name + "s"
	}
	return "values of " + key
}

// howMany is a number of pods: "1 pod", "3 pods".
func howMany(n int) string {
	if n == 1 {
		return "1 pod"
	}
	return fmt.Sprintf("%d pods", n)
}

// selectedBy says which pods or namespaces a selector selects, after the word for them.
func selectedBy(by labels.Selector) string {
	if text := by.String(); text != "" {
		return " with " + text
	}
	return ""
}

// podsInWords names the first of pods: "pod ml/a", "pods ml/a and ml/b", "pod ml/a and 2 others".
func podsInWords(pods []inspect.PodRef) string {
	switch len(pods) {
	case 1:
		return "pod " + pods[0].String()
	case 2:
		return fmt.Sprintf("pods %s and %s", pods[0], pods[1])
	}
	return fmt.Sprintf("pod %s and %d others", pods[0], len(pods)-1)
}
