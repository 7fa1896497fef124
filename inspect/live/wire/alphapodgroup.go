package wire

import (
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

var schedulingAlpha = schema.GroupVersion{Group: schedulingv1beta1.GroupName, Version: "v1alpha2"}

// alphaPodGroupList is a list of PodGroups as Kubernetes 1.36 serves them. There are no protobuf methods: the
// list has to be asked for as JSON.
type alphaPodGroupList = alphaList[inspect.AlphaPodGroup]

func convertAlphaPodGroups(list *alphaPodGroupList, out runtime.Object) error {
	result := out.(*schedulingv1beta1.PodGroupList)
	result.ListMeta = list.ListMeta
	for i := range list.Items {
		result.Items = append(result.Items, *list.Items[i].PodGroup())
	}
	return nil
}
