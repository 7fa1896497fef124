package cel

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/inquiry"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// devices returns the devices of the driver that the node can use, in the order of driver, pool and name.
// Of a pool only those of the newest generation count: the scheduler sees no others.
func (o *celOptions) devices(s *inspect.Snapshot) ([]inspect.DeviceStatus, error) {
	onNode := map[inspect.DeviceID]bool{}
	if o.node != "" {
		node, ok := s.Node(inspect.NodeName(o.node))
		if !ok {
			return nil, inquiry.NotFound(s, inquiry.Node, "", o.node)
		}
		pools, err := s.PoolsOn(node)
		if err != nil {
			return nil, fmt.Errorf("finding the devices of node %s: %w", o.node, err)
		}
		for _, pool := range pools {
			for _, slice := range pool.Slices {
				for i := range slice.Spec.Devices {
					if ok, err := slice.DeviceReaches(node, i); err == nil && ok {
						onNode[inspect.DeviceIDOf(slice.ResourceSlice, i)] = true
					}
				}
			}
		}
	}
	var drivers []string
	var out []inspect.DeviceStatus
	for d := range s.Inventory().Newest() {
		drivers = append(drivers, d.ID.Driver)
		if (o.driver == "" || o.driver == d.ID.Driver) && (o.node == "" || onNode[d.ID]) {
			out = append(out, *d)
		}
	}
	if o.driver != "" && !slices.Contains(drivers, o.driver) {
		return nil, fmt.Errorf("driver %q not found%s", o.driver, console.WhatExists(o.driver, "", slices.Compact(drivers), nil))
	}
	return out, nil
}

// scope says in words which devices are tested, as "of class gpu that node n1 can use".
func (o *celOptions) scope(class string) string {
	var parts []string
	for _, part := range []struct{ format, name string }{
		{"of class %s", class}, {"of driver %s", o.driver}, {"that node %s can use", o.node},
	} {
		if part.name != "" {
			parts = append(parts, fmt.Sprintf(part.format, part.name))
		}
	}
	return strings.Join(parts, " ")
}
