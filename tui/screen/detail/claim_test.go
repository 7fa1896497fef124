package detail

import (
	"strings"
	"testing"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// TestStatusOfShares: what a driver says of one share of a device stands under that share, and what it says
// of a device that is not shared under the device.
func TestStatusOfShares(t *testing.T) {
	const yaml = `
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: c, namespace: ml}
spec: {devices: {requests: [{name: first, exactly: {deviceClassName: c}}, {name: second, exactly: {deviceClassName: c}}, {name: whole, exactly: {deviceClassName: c}}]}}
status:
  allocation:
    devices:
      results:
      - {request: first, driver: d, pool: p, device: nic, shareID: 11111111-1111-4111-8111-111111111111}
      - {request: second, driver: d, pool: p, device: nic, shareID: 22222222-2222-4222-8222-222222222222}
      - {request: whole, driver: d, pool: p, device: gpu}
  devices:
  - {driver: d, pool: p, device: nic, shareID: 11111111-1111-4111-8111-111111111111, networkData: {interfaceName: eth1, ips: [192.0.2.1/24]}}
  - {driver: d, pool: p, device: nic, shareID: 22222222-2222-4222-8222-222222222222, networkData: {interfaceName: eth2, ips: [192.0.2.2/24]}}
  - {driver: d, pool: p, device: gpu, networkData: {interfaceName: eth3}}
`
	result, err := manifest.ReadBytes("shares.yaml", []byte(yaml), manifest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w := screen.NewWorld(t.Context(), 1, inspect.New(result.Objects, inspect.Config{}))
	s, err := describe(t.Context(), w, screen.Ref{Kind: screen.Claim, Namespace: "ml", Name: "c"})
	if err != nil {
		t.Fatal(err)
	}
	var has []string
	for _, line := range s.lines(100) {
		for _, word := range strings.Fields(line.String()) {
			switch word {
			case "first", "second", "whole", "eth1", "eth2", "eth3":
				has = append(has, word)
			}
		}
	}
	if got := strings.Join(has, " "); !strings.HasSuffix(got, "first eth1 second eth2 whole eth3") {
		t.Errorf("under the requests stands %q", got)
	}
}

// TestDerivedAttributes: what a request derives stands with the request, of either kind.
func TestDerivedAttributes(t *testing.T) {
	const yaml = `
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: c, namespace: ml}
spec:
  devices:
    requests:
    - name: one
      exactly: {deviceClassName: c, derivedAttributes: [{name: derived/half, expression: "device.attributes['d'].numa / 2"}]}
    - name: other
      firstAvailable: [{name: sub, deviceClassName: c, derivedAttributes: [{name: derived/rack, expression: "'r'"}]}]
    constraints: [{matchAttribute: derived/half, requests: [one]}, {matchAttribute: derived/rack, requests: [other]}]
`
	result, err := manifest.ReadBytes("derived.yaml", []byte(yaml), manifest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w := screen.NewWorld(t.Context(), 1, inspect.New(result.Objects, inspect.Config{}))
	s, err := describe(t.Context(), w, screen.Ref{Kind: screen.Claim, Namespace: "ml", Name: "c"})
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, line := range s.lines(120) {
		text.WriteString(line.String() + "\n")
	}
	for _, want := range []string{"derives derived/half from device.attributes['d'].numa / 2", "derives derived/rack from 'r'"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q is missing:\n%s", want, text.String())
		}
	}
}
