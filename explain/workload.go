package explain

// Workload is the object whose controller makes the pod that was asked about. The pod was asked about alone:
// whether all pods of the object fit together is another question.
type Workload struct {
	APIVersion, Kind, Namespace, Name string
	// Path is where in the object the pod template stands, such as "spec.template".
	Path string
	// Pods is how many such pods there are to be at a time. It is nil if that is not known.
	Pods *int64
	// EachNode means that there is to be one on each node. Pods is nil then.
	EachNode bool
	// Held says why its controller makes no pods, such as "Job train makes no pods: it is suspended
	// (spec.suspend)". It is "" if it does.
	Held string
}
