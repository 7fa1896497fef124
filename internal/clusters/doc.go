// Package clusters has the clusters that tests check everything on: that of the demo, and that of every
// scenario.
package clusters
