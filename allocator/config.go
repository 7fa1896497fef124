package allocator

import (
	"slices"

	resourcev1 "k8s.io/api/resource/v1"
)

// configs collects the configuration that comes with an allocation: first that of the classes, each
// class once and in the order of the requests that use it; then that of the claim, as far as it is
// about a request or the subrequest that was chosen. An entry that turns out to cover every request
// names none, which means all. Older releases differ (rules.configPerRequest, rules.classConfigPerRequest).
func (c *claimProblem) configs(r *rules) []resourcev1.DeviceAllocationConfiguration {
	var out []resourcev1.DeviceAllocationConfiguration
	ofClass := map[string][2]int{} // class -> range of its entries
	for _, request := range c.requests {
		a := request.chosen()
		span, seen := ofClass[a.class.Name]
		if seen && !r.classConfigPerRequest {
			for i := span[0]; i < span[1]; i++ {
				out[i].Requests = append(out[i].Requests, a.name)
			}
			continue
		}
		first := len(out)
		for i := range a.class.Spec.Config {
			config := resourcev1.DeviceAllocationConfiguration{Source: resourcev1.AllocationConfigSourceClass, DeviceConfiguration: a.class.Spec.Config[i].DeviceConfiguration}
			if !r.classConfigPerRequest {
				config.Requests = []string{a.name}
			}
			out = append(out, config)
		}
		ofClass[a.class.Name] = [2]int{first, len(out)}
	}
	for i := range c.claim.Spec.Devices.Config {
		config := &c.claim.Spec.Devices.Config[i]
		times := 1
		if len(config.Requests) > 0 {
			times = c.namedBy(config.Requests)
		}
		if !r.configPerRequest {
			times = min(times, 1)
		}
		for range times {
			out = append(out, resourcev1.DeviceAllocationConfiguration{
				Source: resourcev1.AllocationConfigSourceClaim, Requests: config.Requests, DeviceConfiguration: config.DeviceConfiguration,
			})
		}
	}
	for i := range out {
		if !r.configPerRequest && len(out[i].Requests) > 0 && c.namedBy(out[i].Requests) == len(c.requests) {
			out[i].Requests = nil
		}
	}
	return out
}

// namedBy counts the requests that some names are those of, or of the subrequests that were chosen.
func (c *claimProblem) namedBy(names []string) int {
	n := 0
	for _, r := range c.requests {
		if slices.Contains(names, r.name) || r.prioritized && slices.Contains(names, r.chosen().name) {
			n++
		}
	}
	return n
}
