package cni

import (
	"testing"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
)

// TestInterfaces checks that the interfaces of a node are those of claims whose pods run there.
func TestInterfaces(t *testing.T) {
	const yaml = `
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {namespace: net, name: nic}
spec: {devices: {requests: [{name: r, exactly: {deviceClassName: c}}]}}
status:
  reservedFor: [{resource: pods, name: here, uid: a}, {resource: pods, name: there, uid: b}]
  allocation: {devices: {results: [{request: r, driver: d.example.com, pool: p, device: eth1}]}}
  devices: [{driver: d.example.com, pool: p, device: eth1, networkData: {interfaceName: net1, ips: [10.0.0.5/24], hardwareAddress: "0a:00:00:00:00:01"}}, {driver: d.example.com, pool: p, device: eth2}]
---
apiVersion: v1
kind: Pod
metadata: {namespace: net, name: here, uid: a}
spec: {nodeName: n1, containers: [{name: c, image: x}]}
---
apiVersion: v1
kind: Pod
metadata: {namespace: net, name: there, uid: b}
spec: {nodeName: n2, containers: [{name: c, image: x}]}
`
	result, err := manifest.ReadBytes("x.yaml", []byte(yaml), manifest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := inspect.New(result.Objects, inspect.Config{})
	got := Interfaces(s, "n1")
	if len(got) != 1 || got[0].Name != "net1" || got[0].Device.Device != "eth1" || len(got[0].Pods) != 1 || got[0].Pods[0].Name != "here" {
		t.Errorf("%+v", got)
	}
	if got := Interfaces(s, "n3"); len(got) != 0 {
		t.Errorf("of no node: %+v", got)
	}
}
