// Package filters decides whether a pod can run on a node as the filter plugins of kube-scheduler's profile
// for it do, by default those of the default profile, all but the allocation of devices (plugin
// DynamicResources), which is [allocator]'s. It is a pure function of a snapshot.
//
// An [Index] is what the filters know of all nodes of a snapshot: which pods are on them and what these take.
// Prepare makes of a pod what the plugins' PreFilter does, and On asks about one node. Where the scheduler
// stops at the first plugin that refuses a node, On asks all of them, in the scheduler's order: callers that
// explain need every reason.
//
// Each plugin is a file under its own name, with a line in the table plugins. What a plugin cannot decide,
// because it was not read or is not known from here, is a [Doubt], never a pass.
//
// The rules are those of Kubernetes 1.37 (pkg/scheduler/framework/plugins), and by feature gate and release
// those of 1.34 to 1.36.
//
// # How to add a plugin
//
// It is a file here and a line in plugins, with codes in outcome.go and in allocator/code.go. What it reads
// of a pod must survive [inspect.ReducePod]; inspect/testdata/reducedpod.golden has the fields. Its refusals
// become requirements in explain/requirement (see site.refusals) and words in explain/headline/pod.go.
// e2e/filters compares it with kube-scheduler's own, and scenarios in testdata/pods show it.
//
// [allocator]: https://pkg.go.dev/github.com/kubectl-dra/kubectl-dra/allocator
package filters
