package explain

import "time"

// Admission is what Kueue does about a pod, or the object that makes it, before kube-scheduler sees it.
// Amounts are as Kueue writes them.
type Admission struct {
	// Workload is that of Kueue. It is nil if Kueue has not made one yet; then it is decided as if it had.
	Workload     *Subject `json:"workload,omitempty"`
	LocalQueue   string   `json:"localQueue"`
	ClusterQueue string   `json:"clusterQueue,omitempty"`
	// Outcome is what Kueue does, as a kueue.Outcome.
	Outcome string `json:"outcome" enum:"kueue.Outcome"`
	// Stages are what the pod has to pass, in this order: queue, checks, scheduler. Those after the first
	// that refuses are decided as if it had passed.
	Stages []AdmissionStage `json:"stages"`
	// Flavors are what refuses if the pods ask for the nodes of one flavor, for each flavor that they could
	// get. There are none where there is no choice, or where nothing refuses.
	Flavors []FlavorAnswer `json:"flavors,omitempty"`
	// PodSets are what the pods of the workload count for.
	PodSets []QueuedPods `json:"podSets,omitempty"`
	// Reasons say why Kueue does not admit it, or what is not known.
	Reasons []QueueReason `json:"reasons,omitempty"`
	// Holders hold the quota that is missing, the largest first.
	Holders []QuotaHolder `json:"holders,omitempty"`
	// Ahead are those before it in its ClusterQueue, in their order.
	Ahead []Ahead `json:"ahead,omitempty"`
	// Evicts are the workloads that Kueue evicts for it.
	Evicts []Subject `json:"evicts,omitempty"`
	// Borrows says that it takes quota of others in the cohort.
	Borrows bool `json:"borrows,omitempty"`
	// NotBefore is when Kueue considers it again after an eviction. It is zero if it does at once.
	NotBefore time.Time `json:"notBefore,omitzero"`
	// Configuration says where Kueue's configuration was found. It is "" if its defaults are assumed.
	Configuration string `json:"configuration,omitempty"`
}

// StageName names a stage.
type StageName string

// The stages.
const (
	QueueStage     StageName = "queue"
	ChecksStage    StageName = "checks"
	SchedulerStage StageName = "scheduler"
)

// StageResult is what becomes of a pod at a stage.
type StageResult string

// The results.
const (
	Passes       StageResult = "Passes"
	Refuses      StageResult = "Refuses"
	StageUnknown StageResult = "Unknown"
)

// AdmissionStage is one of what a pod has to pass before it runs.
type AdmissionStage struct {
	Stage  StageName   `json:"stage"`
	Result StageResult `json:"result"`
	// Supposed says that it was decided as if the stages before it had passed.
	Supposed bool   `json:"supposed,omitempty"`
	Message  string `json:"message"`
}

// FlavorAnswer is what becomes of a pod on the nodes of a flavor of its queue.
type FlavorAnswer struct {
	Flavor string `json:"flavor"`
	// Queue says whether there is quota of the flavor, and Scheduler whether its nodes have the devices.
	Queue            StageResult `json:"queue"`
	QueueMessage     string      `json:"queueMessage"`
	Scheduler        StageResult `json:"scheduler"`
	SchedulerMessage string      `json:"schedulerMessage"`
}

// QueuedPods are pods of a workload that are alike.
type QueuedPods struct {
	Name string `json:"name"`
	// Asked is how many there are to be, Count how many are admitted, or would be.
	Asked int32 `json:"asked"`
	Count int32 `json:"count"`
	// Requests are what all of them count for, and Flavors the flavor that each resource gets.
	Requests map[string]string `json:"requests,omitempty"`
	Flavors  map[string]string `json:"flavors,omitempty"`
}

// QueueReason is one thing because of which Kueue does not admit a workload.
type QueueReason struct {
	Code     string `json:"code" enum:"kueue.Code"`
	PodSet   string `json:"podSet,omitempty"`
	Flavor   string `json:"flavor,omitempty"`
	Resource string `json:"resource,omitempty"`
	// Needed is how much more would be needed.
	Needed  string `json:"needed,omitempty"`
	Message string `json:"message"`
}

// QuotaHolder is a workload that holds quota.
type QuotaHolder struct {
	Workload Subject `json:"workload"`
	// Of is what Kueue made the workload for, as a Job.
	Of           *Subject `json:"of,omitempty"`
	ClusterQueue string   `json:"clusterQueue"`
	Flavor       string   `json:"flavor"`
	Resource     string   `json:"resource"`
	Amount       string   `json:"amount"`
	// Runs says that it is admitted. Otherwise it waits for admission checks.
	Runs bool `json:"runs"`
}

// Ahead is a workload whose turn is before another one's.
type Ahead struct {
	Workload Subject  `json:"workload"`
	Of       *Subject `json:"of,omitempty"`
	Priority int32    `json:"priority"`
	Outcome  string   `json:"outcome" enum:"kueue.Outcome"`
	// Message says why it does not go. It is "" if it does.
	Message string `json:"message,omitempty"`
	// Blocks says that nobody behind it is considered while it stays.
	Blocks bool `json:"blocks,omitempty"`
}

// QueueState is a LocalQueue or ClusterQueue: what it has, who holds it, and who waits.
type QueueState struct {
	// Kind is LocalQueue or ClusterQueue. A LocalQueue has the quota of its ClusterQueue.
	Kind         string `json:"type"`
	Namespace    string `json:"namespace,omitempty"`
	Name         string `json:"name"`
	ClusterQueue string `json:"clusterQueue,omitempty"`
	Cohort       string `json:"cohort,omitempty"`
	Strategy     string `json:"strategy,omitempty"`
	// Inactive says why it admits nothing. It is "" if it may.
	Inactive string        `json:"inactive,omitempty"`
	Quotas   []Quota       `json:"quotas"`
	Holders  []QuotaHolder `json:"holders"`
	// Waiting are those that wait, in the order of the ClusterQueue, of a LocalQueue with those of others.
	Waiting []Ahead `json:"waiting"`
	// Message says in a sentence what becomes of the first one.
	Message string   `json:"message"`
	Partial []string `json:"partial"`
}

// Quota is how much a queue has of a resource in a flavor.
type Quota struct {
	Flavor   string `json:"flavor"`
	Resource string `json:"resource"`
	// Nominal is, of a Cohort, its own quota and that of all below it.
	Nominal string `json:"nominal"`
	Used    string `json:"used"`
	// Borrowed is how much of Used is of others in the cohort, and Lent how much of its own others have.
	Borrowed string `json:"borrowed"`
	Lent     string `json:"lent"`
	// BorrowingLimit and LendingLimit are "" where there is no limit.
	BorrowingLimit string `json:"borrowingLimit,omitempty"`
	LendingLimit   string `json:"lendingLimit,omitempty"`
	// Available is how much more could be had without anybody leaving, borrowing included.
	Available string `json:"available"`
}
