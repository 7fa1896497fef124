package cli

import (
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/internal/fakeserver"
)

const usedDevice = smallCluster + `---
{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {name: s}, spec: {driver: d.example.com, nodeName: n1, pool: {name: n1, generation: 1, resourceSliceCount: 1}, devices: [{name: gpu-0}, {name: gpu-1}]}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: has, namespace: default}
spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}
status:
  allocation:
    devices: {results: [{request: r, driver: d.example.com, pool: n1, device: gpu-0}]}
    nodeSelector: {nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: [n1]}]}]}
`

// forbid forbids lists of a resource.
func forbid(fake *fakeserver.Server, resources ...string) {
	for _, resource := range resources {
		fake.Inject(fakeserver.Fault{
			Match: "^GET /api[^?]*/[^/?]+/" + resource + `(\?|$)`, Do: fakeserver.Refuse(http.StatusForbidden, metav1.StatusReasonForbidden, "no"),
		})
	}
}

// TestUnseenClaims: no device is shown as free for somebody who may not see the claims that hold it.
func TestUnseenClaims(t *testing.T) {
	const warning = "warning: devices may be held by claims that are not seen here: what is shown as free is so at most"
	for args, want := range map[string]struct{ seen, unseen string }{
		"get devices --no-headers":                   {"gpu-1   n1   d.example.com   Free ", "gpu-1   n1   d.example.com   Unknown "},
		"get nodes --no-headers":                     {"n1   2   1   d.example.com 1/2 ", "n1   2   ≤2   d.example.com ≤2/2 "},
		"get pools --no-headers":                     {"n1   d.example.com   2   1   1 ", "n1   d.example.com   2   0   ≤2 "},
		"get devices -o jsonpath={.items[*].state}":  {"Allocated Free", "Unknown Unknown"},
		"get nodes -o jsonpath={.partial}":           {"", "devices may be held by claims that are not seen here"},
		"get usage -o jsonpath={.total.cluster}":     {`"free":1`, ""},
		"get pools -o jsonpath={.partial[*]}":        {"", "devices may be held by claims that are not seen here"},
		"get devices -o jsonpath={.items[*].reason}": {"", "a claim that is not seen here may hold it"},
	} {
		for _, forbidden := range []bool{false, true} {
			fake, url := serverWith(t, usedDevice)
			part := want.seen
			if forbidden {
				forbid(fake, "resourceclaims")
				part = want.unseen
			}
			_, stdout, stderr := command(t.Context(), append(strings.Fields(args), "--server", url)...)
			if !strings.Contains(stdout, part) {
				t.Errorf("%s: got %q, want %q; %s", args, stdout, part, stderr)
			}
			if told := strings.Contains(stderr, warning); told != (forbidden && !strings.Contains(args, "usage")) {
				t.Errorf("%s, forbidden %t: %s", args, forbidden, stderr)
			}
		}
	}
}

// TestNothingSeen: that there is nothing is not said by somebody who may not look.
func TestNothingSeen(t *testing.T) {
	fake, url := serverWith(t, smallCluster)
	forbid(fake, "nodes", "resourceslices", "resourceclaims")
	code, stdout, stderr := command(t.Context(), "get", "nodes", "--server", url)
	if code != 1 || stdout != "" || strings.Contains(stderr, "No nodes found") || !strings.HasSuffix(stderr, "error: there may be more than is shown: cannot list nodes at cluster scope\n") {
		t.Errorf("exit code %d, %s, %s", code, stdout, stderr)
	}
}

// TestAllocatedWithoutNodes: a claim is not said to be on a node that it cannot use when no node may be seen.
func TestAllocatedWithoutNodes(t *testing.T) {
	fake, url := serverWith(t, usedDevice)
	forbid(fake, "nodes", "resourceslices")
	code, stdout, stderr := command(t.Context(), "explain", "claim", "has", "-n", "default", "--server", url)
	if code != 0 || !strings.Contains(stdout, "has 1 device on node n1") || strings.Contains(stdout, "cannot be used") {
		t.Errorf("exit code %d, %s, %s", code, stdout, stderr)
	}
}
