package node

import (
	"cmp"
	"os"
	"path"
	"strconv"
	"strings"
)

// DefaultSys is where Linux says how the machine is built.
const DefaultSys = "/sys"

// readTopology reads which CPUs are on which NUMA node.
func (r *reading) readTopology(sys string) {
	const nodes = "devices/system/node"
	root, err := os.OpenRoot(sys)
	if err != nil {
		r.health(Topology, err)
		return
	}
	defer func() { _ = root.Close() }()
	dir, err := root.Open(nodes)
	if err != nil {
		r.health(Topology, err)
		return
	}
	defer func() { _ = dir.Close() }()
	entries, err := dir.ReadDir(maxEntries)
	r.NUMAOfCPU = map[int64]int64{}
	for _, e := range entries {
		number, ok := strings.CutPrefix(e.Name(), "node")
		id, bad := strconv.ParseInt(number, 10, 64)
		if !ok || bad != nil || id < 0 {
			continue
		}
		text, failed := readCheckpoint(root, path.Join(nodes, e.Name(), "cpulist"))
		cpus, wrong := ParseCPUSet(strings.TrimSpace(string(text)))
		if failed != nil || wrong != nil {
			err = cmp.Or(failed, wrong)
			break
		}
		for _, cpu := range cpus {
			r.NUMAOfCPU[cpu] = id
		}
	}
	if err != nil {
		r.NUMAOfCPU = nil
	}
	r.health(Topology, err)
}

// numaOfCPUs are the NUMA nodes of CPUs, as far as they are known, sorted.
func (v *View) numaOfCPUs(cpus []int64) []int64 {
	var out []int64
	for _, cpu := range cpus {
		if id, ok := v.NUMAOfCPU[cpu]; ok {
			out = append(out, id)
		}
	}
	return unique(out)
}
