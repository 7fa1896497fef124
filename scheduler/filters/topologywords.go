package filters

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// topologyInWords says what is wrong with the domains of refusals, which have the same code and key. It is
// true of each.
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
	switch {
	case r.Code == SpreadConstraint && r.Index < 0:
		return "the defaultConstraints of its profile"
	case r.Code == SpreadConstraint:
		return constraintName(r.Index)
	}
	return termName(r.Code, r.Index)
}

func constraintName(i int) string {
	if i < 0 {
		return "defaultConstraints " + strconv.Itoa(-i)
	}
	return "topologySpreadConstraints[" + strconv.Itoa(i) + "]"
}

// termName names a term of affinity or anti-affinity.
func termName(code Code, i int) string {
	if code == PodAffinity {
		return "podAffinity[" + strconv.Itoa(i) + "]"
	}
	return "podAntiAffinity[" + strconv.Itoa(i) + "]"
}

// spreadInWords: "zone a would have 3 pods with app=web, 2 more than zone b, which has the fewest".
func spreadInWords(refusals []Refusal) string {
	first := &refusals[0]
	places, t, s := placesOf(refusals), first.Topology, first.Topology.Spread
	self, one, many := 0, " has ", " each have at least "
	if s.Self {
		self, one, many = 1, " would have ", " each would have at least "
	}
	pods, same := t.Pods, true
	for i := range refusals {
		other := refusals[i].Topology
		pods = min(pods, other.Pods)
		same = same && other.Spread.FewestValue == s.FewestValue && other.Spread.Fewest == s.Fewest
	}
	what := places[0].String() + one
	if len(places) > 1 {
		what = placesInWords(places) + many
	}
	what += howMany(pods+self) + t.Which
	skew := fmt.Sprintf("maxSkew of %s is %d", first.rule(), s.MaxSkew)
	switch {
	case s.Domains < s.MinDomains:
		return fmt.Sprintf("%s; while there are fewer than %d %s, %s allows %d", what, s.MinDomains, kindsOfPlaces(t.Key), first.rule(), s.MaxSkew)
	case !same || s.FewestValue == t.Value:
		return what + "; " + skew
	default:
		return fmt.Sprintf("%s, %d more than %s, which has the fewest; %s", what, pods+self-s.Fewest, domain{t.Key, s.FewestValue}, skew)
	}
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
	return "the pod has to share " + where + " with a pod" + first.Topology.Which + ", and " + none + " (" + first.rule() + ")"
}

// antiAffinityInWords: "the pod must not share zone a with any pod with app=web, and it has pod ml/web-0".
func antiAffinityInWords(refusals []Refusal) string {
	first, places := &refusals[0], placesOf(refusals)
	where, has := places[0].String(), "it has "+podsInWords(first.Pods)
	if len(places) > 1 {
		where, has = kindOfPlace(places[0].key), placesInWords(places)+" have some"
	}
	return "the pod must not share " + where + " with any pod" + first.Topology.Which + ", and " + has + " (" + first.rule() + ")"
}

// repelledInWords: "zone a has pod db/0, whose podAntiAffinity keeps pods like this one away".
func repelledInWords(refusals []Refusal) string {
	const away = " whose podAntiAffinity keeps pods like this one away"
	places := placesOf(refusals)
	if len(places) > 1 {
		return placesInWords(places) + " have pods" + away
	}
	return places[0].String() + " has " + podsInWords(refusals[0].Pods) + "," + away
}

// placesOf are the domains of refusals, each once, sorted.
func placesOf(refusals []Refusal) []domain {
	out := make([]domain, 0, len(refusals))
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
	return strconv.Itoa(n) + " pods"
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
		return "pods " + pods[0].String() + " and " + pods[1].String()
	}
	return "pod " + pods[0].String() + " and " + strconv.Itoa(len(pods)-1) + " others"
}
