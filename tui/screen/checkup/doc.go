// Package checkup is the view of what is wrong in the cluster, whether or not anybody waits for it.
package checkup
