// Package scheduler runs kube-scheduler's own framework, with the plugins of its default profile, inside a test: it says
// which plugins refuse which node for a pod. It is what this project's answers are compared with.
//
// A [Scheduler] is the real one (k8s.io/kubernetes/pkg/scheduler) with its cache, its queue and its informers, which
// read from a client that serves the objects of a test. It is never run: nothing is taken off the queue and nothing is written.
package scheduler
