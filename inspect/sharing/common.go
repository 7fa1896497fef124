package sharing

import (
	"hash/maphash"
	"maps"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Common is what the objects of a list or watch have in common: texts and maps that occur again and again, of
// which one copy is kept. A text of a few bytes takes sixteen and an allocation, and a map of one label as
// much as one of eight. It is for one goroutine. What is equal becomes the same; nothing else changes.
type Common struct {
	before metav1.Object // the last one; objects that follow each other have most in common
	texts  map[string]*string
	seed   maphash.Seed

	labels     map[uint64]map[string]string
	amounts    map[uint64]corev1.ResourceList
	capacities map[uint64]map[resourcev1.QualifiedName]resourcev1.DeviceCapacity
	attributes map[uint64]map[resourcev1.QualifiedName]resourcev1.DeviceAttribute
}

// What is kept to be found again: when there is more, it is collected anew, so that what changes all the time
// takes no memory for long.
const (
	mostTexts = 1 << 15
	mostMaps  = 1 << 12
)

// New returns what no objects have in common yet.
func New() *Common {
	return &Common{
		texts: map[string]*string{}, seed: maphash.MakeSeed(), labels: map[uint64]map[string]string{},
		amounts: map[uint64]corev1.ResourceList{}, capacities: map[uint64]map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{},
		attributes: map[uint64]map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{},
	}
}

// pointer returns a pointer to a text, which nobody may write to.
func (c *Common) pointer(text *string) *string {
	if text == nil {
		return nil
	}
	if known, ok := c.texts[*text]; ok {
		return known
	}
	if len(c.texts) >= mostTexts {
		clear(c.texts)
	}
	c.texts[*text] = text
	return text
}

// shareText lets a text share its bytes.
func shareText[T ~string](c *Common, text *T) {
	if *text == "" {
		return
	}
	if known, ok := c.texts[string(*text)]; ok { // most are known: no pointer to it is made
		*text = T(*known)
		return
	}
	plain := string(*text)
	*text = T(*c.pointer(&plain))
}

// shareMap lets a map be one that was seen before, if they are equal in every bit. If there is none it
// returns true: then the map is still the object's own, and its keys share their bytes.
func shareMap[M ~map[K]V, K ~string, V comparable](c *Common, known map[uint64]M, m *M) (own bool) {
	if len(*m) == 0 {
		return false
	}
	var hash uint64
	for key, value := range *m { // in any order
		hash += maphash.Comparable(c.seed, struct {
			key   K
			value V
		}{key, value})
	}
	if other, ok := known[hash]; ok && maps.Equal(other, *m) {
		*m = other
		return false
	}
	shareKeys(c, *m)
	if len(known) >= mostMaps {
		clear(known)
	}
	known[hash] = *m
	return true
}

// shareKeys lets the keys of a map share their bytes: a key that is assigned to replaces the one that is
// there.
func shareKeys[K ~string, V any](c *Common, m map[K]V) {
	for key, value := range m {
		shareText(c, &key)
		m[key] = value
	}
}

// shareMeta lets metadata share what is not of one object alone.
func shareMeta(c *Common, m *metav1.ObjectMeta) {
	shareText(c, &m.Namespace)
	shareLabels(c, &m.Labels)
	shareLabels(c, &m.Annotations)
	for i := range m.OwnerReferences {
		owner := &m.OwnerReferences[i]
		shareText(c, &owner.APIVersion)
		shareText(c, &owner.Kind)
		shareText(c, &owner.Name)
		shareText(c, &owner.UID)
	}
	for i := range m.Finalizers {
		shareText(c, &m.Finalizers[i])
	}
}

func shareLabels(c *Common, labels *map[string]string) {
	if !shareMap(c, c.labels, labels) {
		return
	}
	for key, value := range *labels {
		shareText(c, &value)
		(*labels)[key] = value
	}
}
