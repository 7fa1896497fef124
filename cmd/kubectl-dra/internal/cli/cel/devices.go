package cel

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/inquiry"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// deviceFilter chooses devices; an empty field chooses all.
type deviceFilter struct{ driver, pool, node, device string }

// devices returns the devices that are chosen, in the order of driver, pool and name. Of a pool only those
// of the newest generation count: the scheduler sees no others.
func (f *deviceFilter) devices(s *inspect.Snapshot) ([]inspect.DeviceStatus, error) {
	onNode, err := f.devicesOfNode(s)
	if err != nil {
		return nil, err
	}
	drivers, pools, names := map[string]bool{}, map[string]bool{}, map[string]bool{}
	driver, pool, device := false, false, false
	var out []inspect.DeviceStatus
	for d := range s.Inventory().Newest() {
		id := d.ID
		drivers[id.Driver], pools[id.Pool], names[id.Device] = true, true, true
		isDriver, isPool, isDevice := f.driver == "" || f.driver == id.Driver, matchesPath(f.pool, id.Driver, id.Pool), matchesPath(f.device, id.Driver, id.Pool, id.Device)
		driver, pool, device = driver || isDriver, pool || isPool, device || isDevice
		if isDriver && isPool && isDevice && (onNode == nil || onNode[id]) {
			out = append(out, *d)
		}
	}
	switch {
	case f.driver != "" && !driver:
		return nil, notAmong("driver", f.driver, slices.Sorted(maps.Keys(drivers)))
	case f.pool != "" && !pool:
		return nil, notAmong("pool", f.pool, slices.Sorted(maps.Keys(pools)))
	case f.device != "" && !device:
		return nil, notAmong("device", f.device, slices.Sorted(maps.Keys(names)))
	}
	return out, nil
}

// matchesPath reports whether a name is the last of the parts, alone or after those before it.
func matchesPath(name string, parts ...string) bool {
	if name == "" {
		return true
	}
	for i := range parts {
		if name == strings.Join(parts[i:], "/") {
			return true
		}
	}
	return false
}

// devicesOfNode returns the devices that the node can use, or nil if no node was named.
func (f *deviceFilter) devicesOfNode(s *inspect.Snapshot) (map[inspect.DeviceID]bool, error) {
	if f.node == "" {
		return nil, nil
	}
	node, ok := s.Node(inspect.NodeName(f.node))
	if !ok {
		return nil, inquiry.NotFound(s, inquiry.Node, "", f.node)
	}
	pools, err := s.PoolsOn(node)
	if err != nil {
		return nil, fmt.Errorf("finding the devices of node %s: %w", f.node, err)
	}
	out := map[inspect.DeviceID]bool{}
	for _, pool := range pools {
		for _, slice := range pool.Slices {
			for i := range slice.Spec.Devices {
				if ok, err := slice.DeviceReaches(node, i); err == nil && ok {
					out[inspect.DeviceIDOf(slice.ResourceSlice, i)] = true
				}
			}
		}
	}
	return out, nil
}

// scope says in words which devices are chosen, as "of class gpu on node n1".
func (f *deviceFilter) scope(class string) string {
	var parts []string
	for _, part := range []struct{ words, name string }{{"of class", class}, {"of driver", f.driver}, {"of pool", f.pool}, {"that node", f.node}, {"named", f.device}} {
		if part.name != "" {
			parts = append(parts, part.words+" "+part.name)
		}
		if part.words == "that node" && part.name != "" {
			parts[len(parts)-1] += " can use"
		}
	}
	return strings.Join(parts, " ")
}

// notAmong says that a name does not exist, and what exists instead.
func notAmong(what, name string, names []string) error {
	return fmt.Errorf("%s %q not found%s", what, name, console.WhatExists(name, "", names, nil))
}
