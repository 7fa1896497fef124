// Package objects has the lists of kinds that have no view of their own: pods, classes, templates, taint
// rules, drivers, pools and namespaces. Each leads to the pages about its objects, and shows that of the
// object under the cursor, which the root makes for it.
package objects
