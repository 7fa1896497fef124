// Package flowcontrol computes what API Priority and Fairness (APF) makes of a server's
// PriorityLevelConfigurations, and reads what its priority levels are doing now.
//
// [Compute] is a function of the objects and of one number, the server concurrency limit: how many
// seats the API server has for requests that are not exempt. It does what the controller in
// k8s.io/apiserver/pkg/util/flowcontrol does, rounding included:
//
//	nominal   = ceil(server · shares / all shares)
//	lendable  = round(nominal · lendablePercent / 100)
//	borrowing = round(nominal · borrowingLimitPercent / 100), or the whole server when there is no limit
//	lower     = nominal − lendable
//	upper     = nominal + borrowing
//
// For example, a server with 600 seats and the default configuration, whose shares sum up to 245, gives
// the level system with 30 shares and 33 lendable percent ceil(73.47) = 74 seats, of which it may lend
// round(24.42) = 24: it has between 50 and 74 + 600.
//
// [Classify] says where a request goes, [Hand] in which queues its flow may wait, [WidthOf] how many seats it
// takes, and [Metrics.CurrentLimits] why a level has its current limit. In three points the server's code is
// other than its documentation: a FlowSchema's path covers the paths below it, with or without a star; a
// level with one queue does not tell flows apart; and what the levels that are not exempt get is shared out
// of the nominal limits of all levels, whatever exempt requests take. [DRAActors] says where those ask on
// whom devices depend, and [Moves] what a change of levels or FlowSchemas does.
//
// A [Reader] asks a server for its metrics and, where permitted, for the dump of the requests that it has.
// Both are of one API server: behind a load balancer, each read may reach another one. What may not be
// read is recorded as health, not as an error.
//
// The server concurrency limit is the sum of --max-requests-inflight and --max-mutating-requests-inflight.
// No API or metric gives it, but [Metrics.ServerConcurrency] derives it from metrics that every server
// with APF has.
package flowcontrol
