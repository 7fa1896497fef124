// Package defaults fills in what the API server would have filled in, as documented in k8s.io/api for each
// field. What no question looks at (most of a Pod) is left out, and so is the time of a taint, which only the
// server can know.
package defaults
