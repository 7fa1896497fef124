// Package devices is the view of devices: which are free, taken, shared, blocked by others, tainted or out of
// reach, and who holds them. Grouped by counters, it shows the partitions of a device beneath what is left of
// it.
package devices
