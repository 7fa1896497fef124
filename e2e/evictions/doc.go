// Package evictions asks the handler of evictions of the API server, as it is in Kubernetes, and the library
// whether pods are evicted.
package evictions
