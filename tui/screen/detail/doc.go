// Package detail is the page that shows an object with what belongs to it: a claim with its devices and
// pods, a device with its holders, a node with its devices.
package detail
