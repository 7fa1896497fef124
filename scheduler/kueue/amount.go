package kueue

import "github.com/kubectl-dra/kubectl-dra/scheduler/kueue/quota"

// Amount is how much of a resource: thousandths of cpu, whole units of anything else.
type Amount = quota.Amount

// Unlimited is a quota that is larger than any request. It stays what it is, whatever is added or taken away.
const Unlimited Amount = quota.Unlimited
