package node

import (
	"cmp"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Machine is what Linux says of a PCI device.
type Machine struct {
	Address string
	// NUMA is its node, or nil if Linux knows none.
	NUMA *int64
	// Interfaces are its network interfaces in the namespace of the host, sorted.
	Interfaces []string
	// Driver is that of the kernel, or "". A driver such as vfio-pci hands the device to a virtual machine.
	Driver string
}

// maxInterfaces is how many network interfaces of one device are told.
const maxInterfaces = 64

// ReadMachine reads what Linux says of the PCI devices of this machine that have one of the names, as
// [HardwareName] writes them. sys is where Linux says it; "" stands for the default. What there is nothing of
// is left out.
func ReadMachine(sys string, names []string) []Machine {
	root, err := os.OpenRoot(cmp.Or(sys, DefaultSys))
	if err != nil {
		return nil
	}
	defer func() { _ = root.Close() }()
	var out []Machine
	for _, name := range names {
		if !pciAddress.MatchString(name) {
			continue
		}
		dir := path.Join("bus/pci/devices", name)
		if info, err := root.Stat(dir); err != nil || !info.IsDir() {
			continue
		}
		m := Machine{Address: name}
		if text, err := readCheckpoint(root, path.Join(dir, "numa_node")); err == nil {
			if numa, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 32); err == nil && numa >= 0 {
				m.NUMA = &numa
			}
		}
		if link, err := root.Readlink(path.Join(dir, "driver")); err == nil {
			m.Driver = path.Base(link)
		}
		m.Interfaces = namesIn(root, path.Join(dir, "net"))
		out = append(out, m)
	}
	return out
}

// namesIn are the names in a directory, sorted.
func namesIn(root *os.Root, dir string) []string {
	if info, err := root.Stat(dir); err != nil || !info.IsDir() {
		return nil // a pipe would be waited for
	}
	file, err := root.Open(dir)
	if err != nil {
		return nil
	}
	defer func() { _ = file.Close() }()
	entries, _ := file.ReadDir(maxInterfaces) // of a directory that shrinks, what could be read
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	slices.Sort(out)
	return out
}
