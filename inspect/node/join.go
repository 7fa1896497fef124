package node

import (
	"cmp"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// joining is a Join that is being made.
type joining struct {
	*Report

	view     *View
	snapshot *inspect.Snapshot
	node     *corev1.Node                   // nil if it is not known
	pods     map[inspect.PodRef]*corev1.Pod // of the node
	// kubeletPods are those that the kubelet told of.
	kubeletPods map[inspect.PodRef]*corev1.Pod
	users       map[inspect.ClaimRef][]*corev1.Pod // that have not ended, sorted
	holders     map[inspect.ClaimRef]bool          // claims that have devices of the node, whoever uses them
	devices     func(inspect.DeviceID) bool        // whether a slice publishes it
}

// Join says of a node what its kubelet and the API server say together. view is empty if no kubelet was
// asked. The snapshot is empty if no server was. The two are of different moments: a problem that is there
// again with a view from after the snapshot is one (see [Report.KeepCommon]).
func Join(view *View, s *inspect.Snapshot, name inspect.NodeName) *Report {
	j := &joining{Report: &Report{Node: name}, view: view, snapshot: s, pods: map[inspect.PodRef]*corev1.Pod{},
		kubeletPods: map[inspect.PodRef]*corev1.Pod{}, users: map[inspect.ClaimRef][]*corev1.Pod{}, holders: map[inspect.ClaimRef]bool{}}
	if n, ok := s.Node(name); ok && !s.NodesAssumed() {
		j.node = n
	}
	j.gatherPods()
	inventory := s.Inventory()
	j.noteHolders(inventory)
	j.devices = func(id inspect.DeviceID) bool { return inventory.Device(id) != nil }
	j.containers()
	j.claims()
	j.resources()
	j.cpus()
	j.plugins()
	j.missing()
	j.healths()
	j.offeredTwice()
	j.restrict(view.Only)
	slices.SortStableFunc(j.Problems, compareProblems)
	return j.Report
}

// read reports whether all objects of a resource are known.
func (j *joining) read(r inspect.Resource) bool { return j.snapshot.Health(r).State == inspect.Synced }

// addUses writes down which claims a pod uses that has not ended.
func (j *joining) addUses(pod *corev1.Pod) {
	if inspect.Ended(pod) {
		return
	}
	add := func(name string) {
		ref := inspect.ClaimRef{Namespace: pod.Namespace, Name: name}
		if name != "" && !slices.Contains(j.users[ref], pod) {
			j.users[ref] = append(j.users[ref], pod)
		}
	}
	for i := range pod.Spec.ResourceClaims {
		if name, ok := inspect.ClaimNameFor(pod, &pod.Spec.ResourceClaims[i]); ok {
			add(name)
		}
	}
	if ext := pod.Status.ExtendedResourceClaimStatus; ext != nil {
		add(ext.ResourceClaimName)
	}
}

// containers reports what the kubelet lists.
func (j *joining) containers() {
	for _, pod := range j.view.Pods {
		for _, c := range pod.Containers {
			if len(c.Devices)+len(c.Claims)+len(c.CPUs)+len(c.Memory) == 0 {
				continue
			}
			r := ContainerReport{Pod: pod.Ref, Container: c, Others: map[Device]bool{}}
			for _, d := range c.Devices {
				r.NUMA = append(r.NUMA, d.NUMA...)
			}
			for _, m := range c.Memory {
				r.NUMA = append(r.NUMA, m.NUMA...)
			}
			r.CPUNUMA = j.view.numaOfCPUs(c.CPUs)
			r.NUMA = unique(slices.Concat(r.NUMA, r.CPUNUMA))
			for _, use := range c.Claims {
				j.findOthers(&r, use)
			}
			if len(r.NUMA) > 1 {
				j.Problems = append(j.Problems, Problem{Code: NUMASpread, Pod: pod.Ref, Container: c.Name, Detail: FormatCPUSet(r.NUMA)})
			}
			j.Containers = append(j.Containers, r)
		}
	}
}

// findOthers finds the devices of a claim that are for other containers, as far as pod and claim are known.
func (j *joining) findOthers(r *ContainerReport, use ClaimUse) {
	pod, claim := j.pods[r.Pod], j.allocated(use.Claim)
	if pod == nil || claim == nil {
		return
	}
	asked, all := requestsOf(pod, r.Name, use.Claim.Name)
	if all || len(asked) == 0 {
		return
	}
	for _, d := range use.Devices {
		own := slices.ContainsFunc(claim, func(a allocatedDevice) bool {
			return a.Device == d && slices.Contains(asked, a.request)
		})
		if !own {
			r.Others[d] = true
		}
	}
}

// requestsOf are the requests of a claim that a container asks for. all is whether it asks for the whole
// claim.
func requestsOf(pod *corev1.Pod, container, claim string) (requests []string, all bool) {
	for _, c := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		if c.Name != container {
			continue
		}
		for _, asked := range c.Resources.Claims {
			at := slices.IndexFunc(pod.Spec.ResourceClaims, func(e corev1.PodResourceClaim) bool { return e.Name == asked.Name })
			if at < 0 {
				continue
			}
			if name, ok := inspect.ClaimNameFor(pod, &pod.Spec.ResourceClaims[at]); !ok || name != claim {
				continue
			}
			if asked.Request == "" {
				return nil, true
			}
			requests = append(requests, asked.Request)
		}
	}
	return requests, false
}

// plugins finds the sockets at which nothing answers.
func (j *joining) plugins() {
	for _, p := range j.view.Plugins {
		if p.Health.State != inspect.Synced {
			j.Problems = append(j.Problems, Problem{Code: PluginSilent, Socket: p.Socket, Detail: p.Health.Message})
		}
	}
}

// resources counts the devices of device plugins.
func (j *joining) resources() {
	rows := map[string]*ResourceReport{}
	row := func(name string) *ResourceReport {
		if rows[name] == nil {
			rows[name] = &ResourceReport{Resource: name}
		}
		return rows[name]
	}
	if j.node != nil {
		for name, q := range j.node.Status.Capacity {
			if inspect.IsExtendedResource(name) {
				n := q.Value()
				row(string(name)).Capacity = &n
			}
		}
		for name, q := range j.node.Status.Allocatable {
			if inspect.IsExtendedResource(name) {
				n := q.Value()
				row(string(name)).Allocatable = &n
			}
		}
	}
	healthy, registered, used := map[string]int64{}, map[string]int64{}, map[string]int64{}
	for _, d := range j.view.Allocatable.Devices {
		healthy[d.Resource]++
	}
	for _, r := range j.view.Registered {
		registered[r.Resource] = int64(len(r.IDs))
	}
	for _, c := range j.Containers {
		for _, d := range c.Devices {
			used[d.Resource]++
		}
	}
	sources := []struct {
		from  Source
		count map[string]int64
		to    func(*ResourceReport) **int64
	}{
		{Allocatables, healthy, func(r *ResourceReport) **int64 { return &r.Healthy }},
		{DeviceCheckpoint, registered, func(r *ResourceReport) **int64 { return &r.Registered }},
		{PodResources, used, func(r *ResourceReport) **int64 { return &r.Used }},
	}
	for _, s := range sources {
		for name := range s.count {
			row(name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		for _, s := range sources {
			if j.view.Read(s.from) {
				n := s.count[name]
				*s.to(rows[name]) = &n
			}
		}
		j.Resources = append(j.Resources, *rows[name])
		if used[name] > 0 && j.view.Read(Allocatables) && healthy[name] == 0 {
			j.Problems = append(j.Problems, Problem{Code: ResourceGone, Resource: name})
		}
	}
}

// cpus says who has which CPUs.
func (j *joining) cpus() {
	if !j.view.Read(PodResources) && j.view.CPUs == nil {
		return
	}
	r := &CPUReport{Allocatable: j.view.Allocatable.CPUs}
	for _, pod := range j.view.Pods {
		r.Exclusive = append(r.Exclusive, pod.CPUs...)
		for _, c := range pod.Containers {
			r.Exclusive = append(r.Exclusive, c.CPUs...)
		}
	}
	if j.view.CPUs != nil {
		r.Policy = j.view.CPUs.Policy
		if !j.view.Read(PodResources) {
			r.Exclusive = append(r.Exclusive, j.view.CPUs.Exclusive...)
		}
	}
	r.Exclusive = unique(r.Exclusive)
	for _, cpu := range r.Allocatable {
		if _, taken := slices.BinarySearch(r.Exclusive, cpu); !taken {
			r.Shared = append(r.Shared, cpu)
		}
	}
	if j.view.CPUs != nil && len(j.view.CPUs.Shared) > 0 {
		r.Shared = j.view.CPUs.Shared
	}
	j.CPUs = r
}

func compareProblems(a, b Problem) int {
	return cmp.Or(cmp.Compare(a.Code, b.Code), a.Claim.Compare(b.Claim), a.Pod.Compare(b.Pod),
		cmp.Compare(a.Container, b.Container),
		a.Device.Compare(b.Device), cmp.Compare(a.Driver, b.Driver), cmp.Compare(a.Resource, b.Resource), cmp.Compare(a.Unit, b.Unit),
		cmp.Compare(a.Socket, b.Socket))
}

// KeepCommon keeps the problems that another report has too. What was only on its way is in one of them.
func (r *Report) KeepCommon(other *Report) {
	r.Problems = slices.DeleteFunc(r.Problems, func(p Problem) bool {
		return !slices.ContainsFunc(other.Problems, func(q Problem) bool { return compareProblems(p, q) == 0 })
	})
}
