// Package quota is the quota of cohorts and ClusterQueues, and who is evicted so that another one gets some.
//
// A [Node] is a ClusterQueue or a Cohort: what it has, borrows and lends, and who holds it. A [Tree] of them
// says how well a request fits that needs evictions ([Tree.FitEvicting]), whose ([Tree.Victims]), and who
// comes next by fair sharing ([Tree.Fairest]). It knows neither queues nor what workloads count for: that is
// package kueue.
package quota
