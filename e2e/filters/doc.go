// Package filters has only tests: they compare what scheduler/filters says of random pods on random clusters with what the
// plugins of kube-scheduler say, plugin by plugin and node by node.
// They do the same with what scheduler/scores says of the nodes that fit: the points that each plugin gives, and which node is
// chosen.
//
// A disagreement is made as small as it gets and printed as YAML.
package filters
