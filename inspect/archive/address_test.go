package archive_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/archive"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
	"github.com/kubectl-dra/kubectl-dra/internal/demo"
)

const addresses = `
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: s}
spec:
  driver: dra.net
  nodeName: n1
  pool: {name: p, generation: 1, resourceSliceCount: 1}
  devices:
  - name: nic
    attributes:
      mac: {string: "AA:BB:CC:DD:EE:02"}
      ipv4: {string: 203.0.113.20}
      gateway: {string: 203.0.113.1}
      network: {string: 203.0.113.20/16}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: c}
spec: {devices: {requests: [{name: r, exactly: {deviceClassName: nics}}]}}
status:
  devices:
  - driver: dra.net
    pool: p
    device: nic
    networkData: {interfaceName: uplink-7, hardwareAddress: "aa:bb:cc:dd:ee:02", ips: [203.0.113.20/24, 203.0.113.3/24, "2001:0db9::5/64"]}
  - driver: dra.net
    pool: p
    device: other
    networkData: {hardwareAddress: "aa:bb:cc:dd:ee:01", ips: [not-an-address, 203.0.113.3/99]}
`

// TestAddresses: the network data of devices is saved; anonymized, addresses are text like any other, and
// saving that again changes nothing.
func TestAddresses(t *testing.T) {
	result, err := manifest.ReadBytes("addresses.yaml", []byte(addresses), manifest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := inspect.New(result.Objects, inspect.Config{Time: demo.Now()})
	back := read(t, write(t, s, archive.Options{}))
	if diff := cmp.Diff(s.Objects().Claims[0].Status.Devices, back.Objects().Claims[0].Status.Devices); diff != "" {
		t.Errorf("the network data is not saved as it is:\n%s", diff)
	}
	data := write(t, s, archive.Options{Anonymize: true})
	anonymous := read(t, data)
	if text := unpacked(t, data); strings.Contains(text, "203.0") || strings.Contains(strings.ToLower(text), "aa:bb") || strings.Contains(text, "uplink") || strings.Contains(text, "0db9") || strings.Contains(text, "not-an") {
		t.Errorf("addresses are left in %s", text)
	}
	attributes := anonymous.Slices()[0].Spec.Devices[0].Attributes
	if mac := *attributes["mac"].StringValue; !strings.HasPrefix(mac, "value-") {
		t.Errorf("an address in an attribute became %s", mac)
	}
	again := write(t, anonymous, archive.Options{Anonymize: true})
	if !bytes.Equal(again, data) {
		t.Errorf("anonymizing again gives something else:\n%s", cmp.Diff(unpacked(t, data), unpacked(t, again)))
	}
}
