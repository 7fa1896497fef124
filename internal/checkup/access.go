package checkup

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// oldAdminLabel is the label that granted admin access in Kubernetes 1.33, and that nothing reads since 1.34.
const oldAdminLabel = "resource.k8s.io/admin-access"

var accessRules = []Rule{
	{
		Code: "AdminAccessRefused", Severity: Error, needs: []inspect.Resource{inspect.Namespaces},
		About:  "A template asks for admin access in a namespace that is not labelled for it. The API server refuses the claims that are made from it.",
		Remedy: "kubectl label namespace NAMESPACE " + resourcev1.DRAAdminNamespaceLabelKey + "=true, if everybody who may create claims there may have that access.",
		find:   findRefusedAdmin,
	},
	{
		Code: "AdminLabelOld", Severity: Warning, needs: []inspect.Resource{inspect.Namespaces},
		About:  "A namespace has the label that granted admin access in Kubernetes 1.33 and is ignored since 1.34.",
		Remedy: "Use the label " + resourcev1.DRAAdminNamespaceLabelKey + ".",
		find:   findOldLabels,
	},
	{
		Code: "AdminAccessPossible", Severity: Note, needs: []inspect.Resource{inspect.Namespaces},
		About:  "In a namespace with the label " + resourcev1.DRAAdminNamespaceLabelKey + "=true, everybody who may create claims gets access to devices that others use. Whoever may label namespaces can grant that.",
		Remedy: "kubectl auth can-i create resourceclaims -n NAMESPACE --as USER says who that is.",
		find:   findAdminNamespaces,
	},
	{
		Code: "AdminAccessGrantable", Severity: Note, access: true,
		About:  "RBAC lets these users, groups and service accounts label namespaces with " + resourcev1.DRAAdminNamespaceLabelKey + "=true, and so grant admin access: they may create, update or patch namespaces. What other authorizers permit, and who may change RBAC itself, is not looked at.",
		Remedy: "Let only those who may grant admin access create, update and patch namespaces, or guard the label with a ValidatingAdmissionPolicy.",
		find:   findGrantors,
	},
	{
		Code: "AdminAccessUsed", Severity: Note, needs: []inspect.Resource{inspect.Claims},
		About:  "A claim has admin access to devices that others may use at the same time.",
		Remedy: "Nothing, if this is intended, as for monitoring.",
		find:   findAdmins,
	},
	{
		Code: "QuotaExhausted", Severity: Warning, needs: []inspect.Resource{inspect.Quotas},
		About:  "A quota for claims, or for devices of a class, is used up. New claims in the namespace are refused, and pods whose claims come from templates wait.",
		Remedy: "Raise the quota, or delete what uses it.",
		find:   findQuotas,
	},
}

func findRefusedAdmin(v *visit) {
	for _, template := range v.s.Objects().Templates {
		o := object("ResourceClaimTemplate", template.Namespace, template.Name)
		requestsOf(o, &template.Spec.Spec, "spec.spec", func(r request) {
			if granted, known := v.s.GrantsAdminAccess(template.Namespace); r.AdminAccess && known && !granted {
				v.report(r.about(".adminAccess", fmt.Sprintf("namespace %s has no label %s=true",
					template.Namespace, resourcev1.DRAAdminNamespaceLabelKey),
					object("Namespace", "", template.Namespace)))
			}
		})
	}
}

func findOldLabels(v *visit) {
	for _, ns := range v.s.Objects().Namespaces {
		if _, old := ns.Labels[oldAdminLabel]; old && v.s.Features().Minor >= 34 && ns.Labels[resourcev1.DRAAdminNamespaceLabelKey] != "true" {
			v.report(about(object("Namespace", "", ns.Name), "metadata.labels",
				"it has the label "+oldAdminLabel))
		}
	}
}

func findAdminNamespaces(v *visit) {
	for _, ns := range v.s.Objects().Namespaces {
		if granted, _ := v.s.GrantsAdminAccess(ns.Name); granted {
			v.report(about(object("Namespace", "", ns.Name), "metadata.labels",
				"claims in it can have admin access"))
		}
	}
}

func findAdmins(v *visit) {
	for _, claim := range v.s.Objects().Claims {
		if claim.Status.Allocation == nil {
			continue
		}
		var devices []string
		for i := range claim.Status.Allocation.Devices.Results {
			if r := &claim.Status.Allocation.Devices.Results[i]; ptr.Deref(r.AdminAccess, false) {
				devices = append(devices, inspect.DeviceOf(r).String())
			}
		}
		if len(devices) > 0 {
			v.reportClaim(claim, "", fmt.Sprintf("it has admin access to %s: %s", words.Count(len(devices), "device"), words.Shorten(devices, 3)))
		}
	}
}

func findQuotas(v *visit) {
	for _, quota := range v.s.Objects().Quotas {
		var names []corev1.ResourceName
		for name := range quota.Status.Hard {
			if strings.HasSuffix(string(name), corev1.ResourceClaimsPerClass) || name == "count/resourceclaims.resource.k8s.io" {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		for _, name := range names {
			hard, used := quota.Status.Hard[name], quota.Status.Used[name]
			if used.Cmp(hard) < 0 {
				continue
			}
			v.report(about(object("ResourceQuota", quota.Namespace, quota.Name), "status.used",
				fmt.Sprintf("%s of %s %s are used", used.String(), hard.String(), name)))
		}
	}
}
