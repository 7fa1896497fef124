// Package checkup looks for what is wrong with the devices of a cluster, whether or not anybody waits for
// them: pools that contradict themselves, selectors that make the scheduler give up, devices that two claims
// hold, claims that keep devices for nobody.
//
// [Run] asks every [Rule] about a snapshot. A rule has a code, which is stable, a severity, and says what it
// needs to have been read: a rule that cannot be decided from what was read is not silently passed over but
// told as [Report.Skipped]. What a rule reports is a [Finding], one for each subject, which names the
// objects, the evidence and a remedy.
//
// A finding is a fact of the snapshot. What may well be, but is not certain (a class that matches nothing may
// be there before its driver), is a Warning or a Note and is worded so.
//
// The rules are in files by what they look at, and all of them in the table of rule.go. A rule has a fault in
// testdata/faults, which it must find in a cluster in which nothing else is wrong; the tests ask for it, and
// go test ./internal/checkup -update writes docs/check.md from the table.
package checkup
