// Package suppose changes copies of what a cluster has: it takes devices from claims, completes pools, adds
// devices and nodes, and finds in pods what such changes are about. What is asked of a cluster that is
// changed so is a matter of package whatif and others.
package suppose
