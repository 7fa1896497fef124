// Package programs finds out how kube-scheduler and Kueue run in a cluster, from the commands of their
// pods and from the ConfigMaps that these read.
package programs
