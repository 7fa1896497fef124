package allocator

import (
	"fmt"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Names of capacities. Since 1.38 a name without a domain has that of the driver; see rules.oneCapacityName.
// Here the bare name stands for both, because most names are bare.

// bareName is a name without the domain of the driver.
func bareName(name resourcev1.QualifiedName, driver string) resourcev1.QualifiedName {
	if bare, ok := strings.CutPrefix(string(name), driver+"/"); ok && !strings.Contains(bare, "/") {
		return resourcev1.QualifiedName(bare)
	}
	return name
}

// capacityName is the name that counts instead of one of those in a map. It says whether another one in the
// map hides it: the same with the domain of the driver.
func (c *Cluster) capacityName(in map[resourcev1.QualifiedName]resource.Quantity, name resourcev1.QualifiedName, driver string) (counts resourcev1.QualifiedName, hidden bool) {
	if !c.rules.oneCapacityName {
		return name, false
	}
	_, hidden = in[resourcev1.QualifiedName(driver)+"/"+name]
	return bareName(name, driver), hidden
}

// named are capacities of a device by the names that count.
func (c *Cluster) named(capacities map[resourcev1.QualifiedName]resourcev1.DeviceCapacity, driver string) map[resourcev1.QualifiedName]resourcev1.DeviceCapacity {
	own := false
	if c.rules.oneCapacityName {
		for name := range capacities {
			own = own || bareName(name, driver) != name
		}
	}
	if !own {
		return capacities
	}
	out := make(map[resourcev1.QualifiedName]resourcev1.DeviceCapacity, len(capacities))
	for name, capacity := range capacities {
		if bare := bareName(name, driver); bare != name {
			out[bare] = capacity
		} else if _, hidden := capacities[resourcev1.QualifiedName(driver)+"/"+name]; !hidden {
			out[name] = capacity
		}
	}
	return out
}

// publishedName is how the slice of a device spells the name of a capacity, which is how results spell it.
func (c *Cluster) publishedName(device *resourcev1.Device, driver string, name resourcev1.QualifiedName) resourcev1.QualifiedName {
	if c.rules.oneCapacityName {
		qualified := resourcev1.QualifiedName(driver) + "/" + name
		if _, ok := device.Capacity[qualified]; ok {
			return qualified
		}
	}
	return name
}

// askedName is how a request spells the name of a capacity, or the device if the request does not name it.
func (c *Cluster) askedName(request *resourcev1.CapacityRequirements, of *candidate, name resourcev1.QualifiedName) resourcev1.QualifiedName {
	published := c.publishedName(of.device, of.id.Driver, name)
	if request == nil || !c.rules.oneCapacityName {
		return published
	}
	for _, spelling := range []resourcev1.QualifiedName{name, resourcev1.QualifiedName(of.id.Driver) + "/" + name} {
		if _, ok := request.Requests[spelling]; ok {
			return spelling
		}
	}
	return published
}

// asAsked is the device of a candidate with its capacities named as a request names them.
func (c *Cluster) asAsked(request *resourcev1.CapacityRequirements, of *candidate) *resourcev1.Device {
	out := *of.device
	out.Capacity = make(map[resourcev1.QualifiedName]resourcev1.DeviceCapacity, len(of.capacity))
	same := true
	for name, capacity := range of.capacity {
		asked := c.askedName(request, of, name)
		out.Capacity[asked] = capacity
		_, published := of.device.Capacity[asked]
		same = same && published
	}
	if same {
		return of.device
	}
	return &out
}

// consume computes what a request takes from a candidate. Where a request has a capacity by two names and
// another one that the device lacks, the scheduler aborts or passes the device over as chance has it; here it
// aborts.
func (c *Cluster) consume(request *resourcev1.CapacityRequirements, of *candidate) *consumption {
	if request == nil || !c.rules.oneCapacityName {
		return consume(request, of.capacity, c.arithmetic())
	}
	wanted := make(map[resourcev1.QualifiedName]resource.Quantity, len(request.Requests))
	for name, amount := range request.Requests {
		bare := bareName(name, of.id.Driver)
		_, twice := wanted[bare]
		if _, ok := of.capacity[bare]; ok && twice {
			return &consumption{err: fmt.Errorf("capacity %q is requested twice, with the domain of the driver and without", bare)}
		}
		wanted[bare] = amount
	}
	return consume(&resourcev1.CapacityRequirements{Requests: wanted}, of.capacity, c.arithmetic())
}
