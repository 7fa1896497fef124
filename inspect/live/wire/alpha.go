package wire

import (
	"fmt"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var resourceAlpha = schema.GroupVersion{Group: resourcev1.GroupName, Version: "v1alpha3"}

// alphaTaintRuleList is a list of DeviceTaintRules at v1alpha3 as Kubernetes 1.33 and 1.34 serve
// them: a rule could select by class and by CEL. Both fields were removed in 1.35, also from the Go
// types of v1alpha3, which would silently turn such a rule into one that taints more devices. There
// are no protobuf methods: the list has to be asked for as JSON.
type alphaTaintRuleList = alphaList[alphaTaintRule]

type alphaTaintRule struct {
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		DeviceSelector *struct {
			resourcev1.DeviceTaintSelector `json:",inline"`
			DeviceClassName                *string                     `json:"deviceClassName"`
			Selectors                      []resourcev1.DeviceSelector `json:"selectors"`
		} `json:"deviceSelector"`
		Taint resourcev1.DeviceTaint `json:"taint"`
	} `json:"spec"`
	Status resourcev1.DeviceTaintRuleStatus `json:"status"`
}

// alphaList is a list of objects whose types the API's Go module does not have.
type alphaList[T any] struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`
	Items           []T `json:"items"`
}

// DeepCopyObject makes the list a runtime.Object. It is decoded into and read, never copied.
func (l *alphaList[T]) DeepCopyObject() runtime.Object {
	out := *l
	return &out
}

// PartialError says that a list was read but that some of its items had to be left out.
type PartialError struct{ message string }

func (e *PartialError) Error() string { return e.message }

// convertAlphaTaintRules converts the rules that v1 can express and names the others in a
// *PartialError.
func convertAlphaTaintRules(list *alphaTaintRuleList, out runtime.Object) error {
	result := out.(*resourcev1.DeviceTaintRuleList)
	result.ListMeta = list.ListMeta
	var left []string
	for _, item := range list.Items {
		selector := item.Spec.DeviceSelector
		if selector != nil && (selector.DeviceClassName != nil || len(selector.Selectors) > 0) {
			left = append(left, Clean(item.Name))
			continue
		}
		rule := resourcev1.DeviceTaintRule{ObjectMeta: item.ObjectMeta, Status: item.Status}
		rule.Spec.Taint = item.Spec.Taint
		if selector != nil {
			rule.Spec.DeviceSelector = &selector.DeviceTaintSelector
		}
		result.Items = append(result.Items, rule)
	}
	if len(left) > 0 {
		return &PartialError{fmt.Sprintf("left out %s: select by class or CEL, which Kubernetes 1.35 removed",
			strings.Join(left, ", "))}
	}
	return nil
}
