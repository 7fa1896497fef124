package nodeview

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/node"
)

// Hardware is the wire form of one piece of hardware as DRA and device plugins know it.
type Hardware struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Node is empty if devices of all nodes were looked at.
	Node string `json:"node"`
	// Names are PCI addresses and UUIDs of it; the first was asked for.
	Names []string `json:"names"`
	// Devices are those of DRA, and PluginDevices those of device plugins on the node.
	Devices       []HardwareDevice `json:"devices"`
	PluginDevices []HardwarePlugin `json:"pluginDevices"`
	// Machine is what Linux says of it. It is there only if the command ran on its machine.
	Machine []HardwareMachine `json:"machine,omitempty"`
	// PossibleDevices and PossiblePluginDevices may be the hardware: they are of the same vendor and name
	// neither a PCI address nor a UUID.
	PossibleDevices       []NodeDevice   `json:"possibleDevices,omitempty"`
	PossiblePluginDevices []PluginDevice `json:"possiblePluginDevices,omitempty"`
	// HeldTwice: a claim and a container with a device of a device plugin have it at once.
	HeldTwice bool     `json:"heldTwice"`
	Partial   []string `json:"partial"`
}

// HardwareDevice is a device of DRA that is the hardware.
type HardwareDevice struct {
	NodeDevice

	Node  string `json:"node"`
	State string `json:"state"`
	// Attribute proves it. PartOf: the device is a part of the hardware, which the attribute names.
	Attribute string `json:"attribute"`
	PartOf    bool   `json:"partOf,omitempty"`
	NUMA      string `json:"numa,omitempty"`
	Interface string `json:"interface,omitempty"`
	// Claims hold it according to the API server, Prepared according to the kubelet, with the ids of CDI
	// devices.
	Claims   []string       `json:"claims"`
	Pods     []string       `json:"pods"`
	Prepared []PreparedWith `json:"prepared"`
	Taints   []string       `json:"taints,omitempty"`
	// Networks are what drivers say of the interfaces that they have made of it, and Health what containers'
	// statuses say.
	Networks []HardwareNetwork  `json:"networks,omitempty"`
	Health   []NodeDeviceHealth `json:"health,omitempty"`
}

// HardwareNetwork is a network interface that a driver has made of a device for a claim.
type HardwareNetwork struct {
	Claim     string   `json:"claim"`
	Interface string   `json:"interface,omitempty"`
	Addresses []string `json:"addresses"`
	Hardware  string   `json:"hardware,omitempty"`
}

// HardwareMachine is what Linux says of a PCI device.
type HardwareMachine struct {
	Address    string   `json:"address"`
	NUMA       *int64   `json:"numa,omitempty"`
	Interfaces []string `json:"interfaces"`
	Driver     string   `json:"driver,omitempty"`
}

// PreparedWith is a claim that is prepared, with the ids of its CDI devices for one device.
type PreparedWith struct {
	Namespace string   `json:"namespace"`
	Name      string   `json:"name"`
	CDI       []string `json:"cdi"`
}

// HardwarePlugin is a device of a device plugin. Healthy is Yes, No or Unknown.
type HardwarePlugin struct {
	PluginDevice

	Healthy    string   `json:"healthy"`
	Containers []string `json:"containers"` // namespace/pod container
	// Health is what containers' statuses say of it.
	Health []NodeDeviceHealth `json:"health,omitempty"`
}

// NewHardware makes the wire form.
func NewHardware(h node.Hardware, on inspect.NodeName, s *inspect.Snapshot, partial []string) *Hardware {
	return &Hardware{APIVersion: output.APIVersion, Kind: "Hardware", Node: string(on), Names: h.Names, HeldTwice: h.Twice, Partial: output.OrEmpty(partial),
		Devices: output.Each(h.Devices, func(d node.HardwareDevice) HardwareDevice { return wireHardware(d, s) }),
		PluginDevices: output.Each(h.Plugins, func(p node.HardwarePlugin) HardwarePlugin {
			return HardwarePlugin{PluginDevice{p.Resource, p.ID, output.OrEmpty(p.NUMA)}, string(p.Healthy),
				output.Each(p.Containers, func(c node.ContainerReport) string { return c.Pod.String() + " " + c.Name }), output.Each(p.Health, wireHealth)}
		}),
		Machine: output.Each(h.Machine, func(m node.Machine) HardwareMachine {
			return HardwareMachine{m.Address, m.NUMA, output.OrEmpty(m.Interfaces), m.Driver}
		}),
		PossibleDevices: output.Each(h.PossibleDevices, func(d inspect.DeviceID) NodeDevice {
			return NodeDevice{Driver: d.Driver, Pool: d.Pool, Device: d.Device}
		}),
		PossiblePluginDevices: output.Each(h.PossiblePlugins, func(d node.PluginDevice) PluginDevice { return PluginDevice{d.Resource, d.ID, output.OrEmpty(d.NUMA)} })}
}

func wireHardware(d node.HardwareDevice, s *inspect.Snapshot) HardwareDevice {
	out := HardwareDevice{NodeDevice: NodeDevice{Driver: d.ID.Driver, Pool: d.ID.Pool, Device: d.ID.Device}, Node: string(d.Node), State: string(d.State),
		Attribute: d.Attribute, PartOf: d.Part, NUMA: d.NUMA, Interface: d.Interface, Claims: []string{}, Pods: []string{}}
	for _, h := range d.Holders {
		out.Claims = append(out.Claims, h.Claim.String())
		for _, pod := range s.PodsOf(h.Claim) {
			out.Pods = append(out.Pods, pod.String())
		}
	}
	for _, t := range d.Device.Taints {
		out.Taints = append(out.Taints, t.Key+":"+string(t.Effect))
	}
	out.Prepared = output.Each(d.Claims, func(c node.PreparedClaim) PreparedWith {
		return PreparedWith{c.Claim.Namespace, c.Claim.Name, output.OrEmpty(c.Devices[0].CDI)}
	})
	out.Networks = output.Each(d.Networks, func(n node.DeviceNetwork) HardwareNetwork {
		return HardwareNetwork{n.Claim.String(), n.Interface, output.OrEmpty(n.Addresses), n.Hardware}
	})
	out.Health = output.Each(d.Health, wireHealth)
	return out
}

// PrintHardware prints a piece of hardware for people, in lines of so many columns.
func PrintHardware(w io.Writer, h *Hardware, width int) error {
	p := output.NewPage(width)
	p.Paragraph("", "  ", "Hardware "+strings.Join(h.Names, ", "))
	switch {
	case h.HeldTwice:
		p.Paragraph("! ", "  ", "a claim and a container with a device of a device plugin have it at once")
	case len(h.Devices) > 0 && len(h.PluginDevices) > 0:
		p.Paragraph("! ", "  ", "DRA and a device plugin both offer it: either may give it to somebody who does not know of the other")
	}
	for _, text := range h.disagreements() {
		p.Paragraph("! ", "  ", text)
	}
	p.WriteString("\n")
	for i := range h.Machine {
		h.Machine[i].print(p)
	}
	for i := range h.Devices {
		h.Devices[i].print(p)
	}
	for _, d := range h.PluginDevices {
		p.Field("Plugin", "%s=%s%s", d.Resource, d.ID, numaText(d.NUMA))
		rows := [][]string{
			{"healthy", map[string]string{"Yes": "yes, the kubelet can give it to containers", "No": "no, the kubelet does not offer it", "Unknown": "unknown"}[d.Healthy]},
			{"in use", cmp.Or(strings.Join(d.Containers, ", "), "by no container")},
		}
		p.Rows(append(rows, healthRows(d.Health)...))
	}
	if text := h.possibleText(); text != "" {
		p.Field("Possibly", "%s", text)
	}
	for _, partial := range h.Partial {
		p.Field("Partial", "%s", partial)
	}
	_, err := io.WriteString(w, p.String())
	return err
}

// print prints a device of DRA.
func (d *HardwareDevice) print(p *output.Page) {
	p.Field("DRA", "%s", d.text(false))
	proof := "it has it as " + d.Attribute
	if d.PartOf {
		proof = "it is a part: " + d.Attribute + " names what it belongs to"
	}
	rows := [][]string{{"proof", proof}, {"node", cmp.Or(d.Node, "not of one by name")}, {"state", strings.Join(append([]string{d.State}, d.Taints...), ", ")}}
	if d.NUMA != "" {
		rows = append(rows, []string{"NUMA", d.NUMA})
	}
	if d.Interface != "" {
		rows = append(rows, []string{"interface", d.Interface})
	}
	held := "by no claim"
	if len(d.Claims) > 0 {
		held = fmt.Sprintf("by claim %s, for pod %s", strings.Join(d.Claims, ", "), cmp.Or(strings.Join(d.Pods, ", "), "none"))
	}
	rows = append(rows, []string{"held", held})
	for _, c := range d.Prepared {
		rows = append(rows, []string{"prepared", "for claim " + c.Namespace + "/" + c.Name + " as CDI device " + cmp.Or(strings.Join(c.CDI, ", "), "none")})
	}
	for _, n := range d.Networks {
		parts := slices.DeleteFunc([]string{n.Interface, strings.Join(n.Addresses, ", "), n.Hardware}, func(s string) bool { return s == "" })
		rows = append(rows, []string{"network", strings.Join(parts, " ") + " for claim " + n.Claim})
	}
	p.Rows(append(rows, healthRows(d.Health)...))
}

// healthRows say what containers' statuses say of a device.
func healthRows(health []NodeDeviceHealth) [][]string {
	rows := [][]string{}
	for i := range health {
		h := &health[i]
		rows = append(rows, []string{"health", strings.TrimSuffix(strings.ToLower(h.Health)+": "+h.Message, ": ") + ", says container " + h.Container + " of pod " + h.Namespace + "/" + h.Pod})
	}
	return rows
}

// print prints what Linux says.
func (m *HardwareMachine) print(p *output.Page) {
	p.Field("Machine", "PCI device %s", m.Address)
	numa := "none that Linux knows"
	if m.NUMA != nil {
		numa = strconv.FormatInt(*m.NUMA, 10)
	}
	rows := [][]string{{"NUMA", numa}, {"driver", cmp.Or(m.Driver, "none")}}
	if len(m.Interfaces) > 0 {
		rows = append(rows, []string{"interface", strings.Join(m.Interfaces, ", ")})
	}
	p.Rows(rows)
}

// disagreements are where Linux says something else than what is published.
func (h *Hardware) disagreements() []string {
	var out []string
	for _, m := range h.Machine {
		if m.NUMA == nil {
			continue
		}
		machine := strconv.FormatInt(*m.NUMA, 10)
		for i := range h.Devices {
			if d := &h.Devices[i]; d.NUMA != "" && d.NUMA != machine {
				out = append(out, fmt.Sprintf("%s is published with NUMA node %s, but Linux says %s", d.text(false), d.NUMA, machine))
			}
		}
		for _, d := range h.PluginDevices {
			if len(d.NUMA) > 0 && !slices.Contains(d.NUMA, *m.NUMA) {
				out = append(out, fmt.Sprintf("%s=%s is offered with NUMA node %s, but Linux says %s", d.Resource, d.ID, node.FormatCPUSet(d.NUMA), machine))
			}
		}
	}
	return out
}

// possibleText says what may be the hardware too.
func (h *Hardware) possibleText() string {
	var names []string
	for i := range h.PossibleDevices {
		names = append(names, h.PossibleDevices[i].text(false))
	}
	for _, d := range h.PossiblePluginDevices {
		names = append(names, d.Resource+"="+d.ID)
	}
	if len(names) == 0 {
		return ""
	}
	return "the same as " + words.Shorten(names, 8) + ": of this vendor, and without a PCI address or UUID that would tell"
}
