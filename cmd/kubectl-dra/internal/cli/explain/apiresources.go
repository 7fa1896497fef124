package explain

import (
	"slices"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
)

// apiResource is a resource of Kubernetes, as requests name it.
type apiResource struct {
	name, group string
	cluster     bool // it is in no namespace
}

// builtInResources are the resources of Kubernetes by API group. Those in no namespace come after the bar.
var builtInResources = map[string]string{
	"":                             "bindings configmaps endpoints events limitranges persistentvolumeclaims pods podtemplates replicationcontrollers resourcequotas secrets serviceaccounts services | componentstatuses namespaces nodes persistentvolumes",
	"admissionregistration.k8s.io": "| mutatingadmissionpolicies mutatingadmissionpolicybindings mutatingwebhookconfigurations validatingadmissionpolicies validatingadmissionpolicybindings validatingwebhookconfigurations",
	"apiextensions.k8s.io":         "| customresourcedefinitions",
	"apiregistration.k8s.io":       "| apiservices",
	"apps":                         "controllerrevisions daemonsets deployments replicasets statefulsets",
	"authentication.k8s.io":        "| selfsubjectreviews tokenreviews",
	"authorization.k8s.io":         "localsubjectaccessreviews | selfsubjectaccessreviews selfsubjectrulesreviews subjectaccessreviews",
	"autoscaling":                  "horizontalpodautoscalers",
	"batch":                        "cronjobs jobs",
	"certificates.k8s.io":          "podcertificaterequests | certificatesigningrequests clustertrustbundles",
	"coordination.k8s.io":          "leases leasecandidates",
	"discovery.k8s.io":             "endpointslices",
	"flowcontrol.apiserver.k8s.io": "| flowschemas prioritylevelconfigurations",
	"networking.k8s.io":            "ingresses networkpolicies | ingressclasses ipaddresses servicecidrs",
	"node.k8s.io":                  "| runtimeclasses",
	"policy":                       "poddisruptionbudgets",
	"rbac.authorization.k8s.io":    "rolebindings roles | clusterrolebindings clusterroles",
	"resource.k8s.io":              "resourceclaims resourceclaimtemplates | deviceclasses devicetaintrules resourcepoolstatusrequests resourceslices",
	"scheduling.k8s.io":            "podgroups workloads | priorityclasses",
	"storage.k8s.io":               "csistoragecapacities | csidrivers csinodes storageclasses volumeattachments volumeattributesclasses",
}

// resourceNamed finds what "resourceclaims", "resourceclaims.resource.k8s.io" or "widgets.example.com" means.
// Without a group it has to be a resource of Kubernetes. Whether another one is in a namespace is not known:
// it is if one was named.
func resourceNamed(text string, namespaced bool) (apiResource, error) {
	name, group, given := strings.Cut(text, ".")
	var known []string
	for in, names := range builtInResources {
		within, above, _ := strings.Cut(names, "|")
		known = append(append(known, strings.Fields(within)...), strings.Fields(above)...)
		if given && group != in {
			continue
		}
		if cluster := slices.Contains(strings.Fields(above), name); cluster || slices.Contains(strings.Fields(within), name) {
			return apiResource{name, in, cluster}, nil
		}
	}
	if given {
		return apiResource{name, group, !namespaced}, nil
	}
	slices.Sort(known)
	if hint := console.DidYouMean(name, known); hint != "" {
		return apiResource{}, console.Usagef("unknown resource %q%s", name, hint)
	}
	return apiResource{}, console.Usagef("unknown resource %q; one that Kubernetes does not have itself needs its API group, as NAME.GROUP", name)
}
