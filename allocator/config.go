package allocator

import (
	"slices"

	resourcev1 "k8s.io/api/resource/v1"
)

// configs collects the configuration that comes with an allocation: first that of the classes, each
// class once and in the order of the requests that use it; then that of the claim, as far as it is
// about a request or the subrequest that was chosen. An entry that turns out to cover every request
// names none, which means all. perRequest is rules.configPerRequest.
func (c *claimProblem) configs(perRequest bool) []resourcev1.DeviceAllocationConfiguration {
	var out []resourcev1.DeviceAllocationConfiguration
	ofClass := map[string][2]int{} // class -> range of its entries
	for _, request := range c.requests {
		a := request.chosen()
		span, seen := ofClass[a.class.Name]
		if seen {
			for i := span[0]; i < span[1]; i++ {
				out[i].Requests = append(out[i].Requests, a.name)
			}
			continue
		}
		first := len(out)
		for i := range a.class.Spec.Config {
			out = append(out, resourcev1.DeviceAllocationConfiguration{
				Source: resourcev1.AllocationConfigSourceClass, Requests: []string{a.name},
				DeviceConfiguration: a.class.Spec.Config[i].DeviceConfiguration,
			})
		}
		ofClass[a.class.Name] = [2]int{first, len(out)}
	}
	if perRequest {
		return append(out, c.configsPerRequest()...)
	}
	for i := range c.claim.Spec.Devices.Config {
		config := &c.claim.Spec.Devices.Config[i]
		if len(config.Requests) == 0 || c.anyNamedBy(config.Requests) {
			out = append(out, resourcev1.DeviceAllocationConfiguration{
				Source: resourcev1.AllocationConfigSourceClaim, Requests: config.Requests, DeviceConfiguration: config.DeviceConfiguration,
			})
		}
	}
	for i := range out {
		if len(out[i].Requests) > 0 && c.allNamedBy(out[i].Requests) {
			out[i].Requests = nil
		}
	}
	return out
}

// configsPerRequest collects the configuration of the claim where rules.configPerRequest.
func (c *claimProblem) configsPerRequest() []resourcev1.DeviceAllocationConfiguration {
	var out []resourcev1.DeviceAllocationConfiguration
	for i := range c.claim.Spec.Devices.Config {
		config := &c.claim.Spec.Devices.Config[i]
		entry := resourcev1.DeviceAllocationConfiguration{
			Source: resourcev1.AllocationConfigSourceClaim, Requests: config.Requests, DeviceConfiguration: config.DeviceConfiguration,
		}
		if len(config.Requests) == 0 {
			out = append(out, entry)
			continue
		}
		for _, request := range c.requests {
			if request.namedBy(config.Requests) {
				out = append(out, entry)
			}
		}
	}
	return out
}

func (r *requestProblem) namedBy(names []string) bool {
	return slices.Contains(names, r.name) || r.prioritized && slices.Contains(names, r.chosen().name)
}

func (c *claimProblem) anyNamedBy(names []string) bool {
	return slices.ContainsFunc(c.requests, func(r *requestProblem) bool { return r.namedBy(names) })
}

func (c *claimProblem) allNamedBy(names []string) bool {
	return !slices.ContainsFunc(c.requests, func(r *requestProblem) bool { return !r.namedBy(names) })
}
