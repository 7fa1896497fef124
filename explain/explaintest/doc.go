// Package explaintest has the clusters and claims that tests of several packages below explain use.
//
// The smallest clusters are [NodesWithDevices] and [NodesWithAttributes], whose only class "any" selects
// every device. [DemoCluster] is the cluster of inspect/demo, and [BigCluster] one of any size. [GPUClaim] is
// a claim for any of them. Tests of plans have a [Farm], its pods a [Template] each, and read the answer by
// [Ends].
package explaintest
