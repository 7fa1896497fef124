// Package usage is the view of who uses how much: namespaces, device classes, workloads, or drivers and
// models, with the devices that they hold, what of it is idle and since when, and what the scheduler has
// refused.
package usage
