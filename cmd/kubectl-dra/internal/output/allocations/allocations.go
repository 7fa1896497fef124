package allocations

import (
	"fmt"
	"io"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// claimObjectList is a v1 List of claims.
type claimObjectList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`
	Items           []*resourcev1.ResourceClaim `json:"items"`
}

// ClaimObjects returns one claim, or a v1 List of several, as API objects with kind and apiVersion.
func ClaimObjects(claims []*resourcev1.ResourceClaim) any {
	list := &claimObjectList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "List"}}
	for _, claim := range claims {
		claim = claim.DeepCopy()
		claim.TypeMeta = metav1.TypeMeta{APIVersion: resourcev1.SchemeGroupVersion.String(), Kind: "ResourceClaim"}
		claim.ManagedFields = nil
		list.Items = append(list.Items, claim)
	}
	if len(list.Items) == 1 {
		return list.Items[0]
	}
	return list
}

// printEach prints a safe line for each claim.
func printEach(w io.Writer, claims []*resourcev1.ResourceClaim, line func(*resourcev1.ResourceClaim) string) error {
	for _, claim := range claims {
		if _, err := fmt.Fprintln(w, inspect.Sanitize(line(claim))); err != nil {
			return err
		}
	}
	return nil
}

// PrintClaimNames prints the names of claims as -o name does.
func PrintClaimNames(w io.Writer, claims []*resourcev1.ResourceClaim) error {
	return printEach(w, claims, func(claim *resourcev1.ResourceClaim) string { return "resourceclaim.resource.k8s.io/" + claim.Name })
}

// PrintAllocations prints one line per claim: its devices and its node. dryRun says whether that is so or
// would be: it is "", client or server.
func PrintAllocations(w io.Writer, claims []*resourcev1.ResourceClaim, dryRun string) error {
	return printEach(w, claims, func(claim *resourcev1.ResourceClaim) string {
		var devices []string
		for i := range claim.Status.Allocation.Devices.Results {
			devices = append(devices, inspect.DeviceOf(&claim.Status.Allocation.Devices.Results[i]).String())
		}
		line := fmt.Sprintf("%s/%s: %s", claim.Namespace, claim.Name, output.OrNone(strings.Join(devices, ", ")))
		if node := inspect.AllocationNode(claim.Status.Allocation); node != "" {
			line += " on node " + string(node)
		}
		return line + dryRunSuffix(dryRun)
	})
}

// dryRunSuffix is what kubectl puts behind what it did not do.
func dryRunSuffix(dryRun string) string {
	switch dryRun {
	case "":
		return ""
	case "server":
		return " (server dry run)"
	}
	return " (dry run)"
}

// PrintDeallocations prints one line per claim that has no allocation any more, or, in a dry run, would have
// none. dryRun is as for PrintAllocations.
func PrintDeallocations(w io.Writer, claims []*resourcev1.ResourceClaim, dryRun string) error {
	return printEach(w, claims, func(claim *resourcev1.ResourceClaim) string {
		return fmt.Sprintf("%s/%s: deallocated%s", claim.Namespace, claim.Name, dryRunSuffix(dryRun))
	})
}
