// Package filters has only tests: they compare what scheduler/filters says of random pods on random clusters
// with what the plugins of kube-scheduler say, plugin by plugin and node by node. They do the same with what
// scheduler/scores says of the nodes that fit: the points that each plugin gives, and which node is chosen.
//
// kube-scheduler's own framework, with the plugins of its default profile, runs inside the tests
// (kube_scheduler_test.go): the real one (k8s.io/kubernetes/pkg/scheduler) with its cache, its queue and its
// informers, which read from a client that serves the objects of a test. It is never run: nothing is taken
// off the queue and nothing is written.
//
// A disagreement is made as small as it gets and printed as YAML.
package filters
