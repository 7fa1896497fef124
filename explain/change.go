package explain

// ObjectChange is what a fix changes of one object.
type ObjectChange struct {
	// APIVersion is the newest of the kind, in which the patch is written. Of the workload of
	// [Explanation.Workload] it is the one in which that was given.
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Namespace is empty for an object that has none.
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	// Creates says that the object does not exist and has to be created.
	Creates bool `json:"creates,omitempty"`
	// InPlace says that the API server takes the change of the object as it is: nothing is replaced.
	InPlace bool `json:"inPlace,omitempty"`
	// Patch is the change as RFC 6902 operations. It is empty if the object is created.
	Patch []PatchOperation `json:"patch,omitempty"`
}
