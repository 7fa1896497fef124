// Package cluster runs a real Kubernetes control plane for tests: etcd, kube-apiserver, kube-scheduler
// and, on demand, kube-controller-manager, compiled from their Go modules and started on free loopback
// ports. It needs Go and nothing else: no container, no root, no kubelet. Nodes are objects that a test
// creates; pods are scheduled, and nothing runs. Where the kernel allows mount namespaces,
// [Cluster.StartKubelets] adds real kubelets, in which pods run as far as a node goes without executing
// anything; what surrounds them is in package node.
//
// [Start] starts a cluster that ends with the test. On Linux its processes end even when the test
// process is killed.
package cluster
