// Package commit writes allocations to a cluster and clears them, beside a scheduler that is at work.
//
// # The difficulty
//
// Kubernetes has no transaction over several objects. A device is taken by writing it into the status of
// a claim, and nothing stops two claims from naming the same device: kube-scheduler relies on being the only
// one that allocates. What the API server does offer is that a write names the version of the object that it
// changes, and fails when that is not the newest one. The protocol is built on that alone; it never compares
// the clocks of two machines.
//
// # The protocol
//
// A run of [Committer.Allocate] has a random number and goes through these steps.
//
//  1. Decide on a fresh and complete snapshot; on a partial one the run ends. What other runs have announced
//     counts as held, if there is something else.
//  2. Announce: one write to each claim adds an [Announcement], which names the run and the devices, and the
//     finalizer that an allocated claim has to have. This is where the scheduler adds it too: before the
//     status.
//  3. Look again, at all claims as they are now. If a device is held meanwhile, withdraw and begin again. If
//     another run has announced it, the one with the smaller number goes first: the other withdraws, and the
//     first revokes the announcement of the other by removing it.
//  4. Write status.allocation, at the very version of the claim that the announcement created.
//  5. Watch for a while. If another claim turns out to hold one of the devices, take the allocation back.
//  6. Reserve the claims if that is wanted, and remove the announcements.
//
// # Why two runs never hold one device
//
// Let runs P and Q announce the same device, and let P's announcement be the earlier write. Q looks after its
// own announcement, so it sees what became of P's claim: an allocation, and Q begins again; or the
// announcement, and Q either begins again or removes it. When it is removed, the claim has another version
// than the one that P will name in step 4; so P's write fails and P begins again. Step 4 of P and the removal
// by Q are writes to one object: one of them is first, and the other one fails. Nothing of this depends on
// time. The order of the numbers only decides who goes on, so that the runs do not chase each other for ever.
//
// # Announcements that cannot be removed
//
// Anybody who may update a claim can announce something on it, for ever. So a run waits for others for a
// bounded time in total, and then tries to remove what they announced, whatever their numbers. Where it may
// not, or where the announcement changes faster than it can be removed, the run names it and ignores it from
// then on (see [Ignored]). The argument above then fails: Q, whose announcement P ignores, may be honest,
// only slow, and may write. Another argument takes its place. Every run lists all claims after its last write
// of an allocation, and takes its allocations back if another claim holds one of the devices (step 5). Let P
// and Q both write the same device, and let Q's write be the later one. Q's list is later than both writes;
// so it shows P's allocation, unless P has taken that back, and Q takes its own back, behind a fence like
// after a conflict with the scheduler. So two claims may name a device for the moment between Q's write and
// Q's list, but of two runs that are not killed at most one ends with it; when Q is killed in that moment,
// its announcement says so, and the next run that may update Q's claim clears it. What keeps this rare is
// time: an honest run writes within a second of its announcement, and is waited for at least as long as a run
// watches.
//
// Nobody believes an announcement more than who may write it can do anyhow: it is believed about the claim
// that carries it, and about other claims of a run only if their announcements name this claim in turn.
//
// # Crashes
//
// A run that dies leaves announcements. As long as one of its claims has an announcement and no allocation,
// the run was not complete: then all of it is undone, the allocations first. If all its claims are allocated,
// the run was only about to watch; then the allocations stay, unless somebody else holds a device. Every
// later run does this for every announcement that stays unchanged while that run watches (see run.recover).
// Should the announcer be alive after all, no harm is done: its next write fails, or it goes on watching on
// its own.
//
// # The scheduler
//
// kube-scheduler knows nothing of announcements. What it decided before it saw the allocation it may write
// after; step 5 is there for that. It sees our allocation within milliseconds, so that only a scheduler that
// takes longer than the settle time to write what it has decided leaves a device with two holders. When a run
// takes an allocation back, the scheduler forgets the devices that another claim holds too; fence.go says
// what is done about that. docs/allocate.md lists what remains possible.
package commit
