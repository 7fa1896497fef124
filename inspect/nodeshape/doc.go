// Package nodeshape describes nodes that could be added to a cluster: copies of those that there are, and
// nodes that files describe.
//
// [Read] reads files: manifests of a Node and its ResourceSlices, objects of the Cluster API with the
// annotations by which Cluster Autoscaler knows a node before there is one, and lists of instance types with
// the NodePools and NodeOverlays of Karpenter.
package nodeshape
