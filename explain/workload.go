package explain

// Workload is the object whose controller makes the pod that was asked about. The pod was asked about alone:
// whether all pods of the object fit together is another question.
type Workload struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace"`
	Name       string `json:"name"`
	// Path is where in the object the pod template stands, such as "spec.template".
	Path string `json:"path"`
	// Pods is how many such pods there are to be at a time. It is nil if that is not known.
	Pods *int64 `json:"pods,omitempty"`
	// EachNode means that there is to be one on each node. Pods is nil then.
	EachNode bool `json:"eachNode,omitempty"`
	// Held says why its controller makes no pods, such as "Job train makes no pods: it is suspended
	// (spec.suspend)". It is "" if it does.
	Held string `json:"held,omitempty"`
}
