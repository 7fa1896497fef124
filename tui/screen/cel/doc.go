// Package cel is the lab for device selectors: an editor whose text is tried on all devices as it is typed.
//
// Above is the selector (text.go), under it what is wrong with it. Then the devices, those that it matches
// first (list.go), and what becomes of the device under the cursor term by term (panes.go). Nothing
// waits: after every key the selector is tried in the background, and a run that is overtaken by a key is
// given up (run.go). Devices are read once for as long as they are the same objects (lab.go), so that a run
// takes as long as there are different devices, not devices.
package cel
