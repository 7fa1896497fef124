package nodeview

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/node"
)

// PrintNodeView prints a node for people, in lines of so many columns. verbose shows claims and sources that
// are as they should be.
func PrintNodeView(w io.Writer, v *NodeView, width int, verbose bool) error {
	p := &nodePrinter{NodeView: v, Page: output.NewPage(width), verbose: verbose}
	p.headline()
	p.containers()
	p.claims()
	p.health()
	p.resources()
	p.cpus()
	p.plugins()
	p.sources()
	for _, note := range v.Notes {
		p.Field("Note", "%s", note)
	}
	for _, partial := range v.Partial {
		p.Field("Partial", "%s", partial)
	}
	_, err := io.WriteString(w, p.String())
	return err
}

type nodePrinter struct {
	*NodeView
	*output.Page

	verbose bool
}

// headline says how the node is, and what is wrong.
func (p *nodePrinter) headline() {
	text := fmt.Sprintf("Node %s: %s", p.Node, words.Count(len(p.Claims), "claim"))
	switch {
	case p.Pod != "":
		text = fmt.Sprintf("Pod %s on node %s: %s", p.Pod, p.Node, words.Count(len(p.Claims), "claim"))
	case p.Kubelet:
		text += ", " + words.Count(len(p.Plugins), "plugin")
	}
	p.Paragraph("", "  ", text)
	switch {
	case len(p.Problems) > 0:
		for _, problem := range p.Problems {
			p.Paragraph("! ", "  ", problem.Message)
		}
	case p.Kubelet && len(p.Partial) == 0 && p.whole():
		p.Paragraph("→ ", "  ", "its kubelet and the API server agree")
	case p.Kubelet:
		p.Paragraph("→ ", "  ", "nothing is seen that its kubelet and the API server disagree about, but not all could be read")
	default:
		p.Paragraph("→ ", "  ", "what the API server knows of it; its kubelet was not asked")
	}
	p.WriteString("\n")
}

// numaText says on which NUMA nodes something is.
func numaText(numa []int64) string {
	if len(numa) == 0 {
		return ""
	}
	return " (NUMA " + node.FormatCPUSet(numa) + ")"
}

func (p *nodePrinter) containers() {
	if !p.Kubelet {
		return
	}
	rows := words.Each(p.Containers, func(c NodeContainer) []string {
		return []string{c.Namespace + "/" + c.Pod, c.Container, strings.Join(c.parts(p.verbose), ", ")}
	})
	switch {
	case len(rows) == 0 && !p.listed():
		p.Field("Containers", "not known: the kubelet has not listed them (see Sources)")
		return
	case len(rows) == 0:
		p.Field("Containers", "the kubelet lists none that has devices, claims or CPUs of its own")
		return
	}
	p.Field("Containers", "with devices, claims, or CPUs and memory of their own:")
	p.Rows(rows)
}

// listed reports whether the kubelet has told of all containers.
func (p *nodePrinter) listed() bool {
	return slices.ContainsFunc(p.Sources, func(s NodeSource) bool {
		return s.Name == string(node.PodResources) && s.State == string(inspect.Synced)
	})
}

// whole reports whether the kubelet has told of all containers, and nothing that is there failed to be read.
// What is not there need not be: which files a kubelet keeps depends on its release and its policies.
func (p *nodePrinter) whole() bool {
	return p.listed() && !slices.ContainsFunc(p.Sources, func(s NodeSource) bool {
		return s.State != string(inspect.Synced) && s.State != string(inspect.NotServed)
	})
}

// parts says what a container has.
func (c *NodeContainer) parts(verbose bool) []string {
	var parts []string
	for _, d := range c.Devices {
		parts = append(parts, d.Resource+"="+d.ID+numaText(d.NUMA))
	}
	for i := range c.Claims {
		claim := &c.Claims[i]
		var own, others []string
		for _, d := range claim.Devices {
			if d.OtherContainer {
				others = append(others, d.text(verbose))
			} else {
				own = append(own, d.text(verbose))
			}
		}
		text := "claim " + claim.Name + ": " + strings.Join(own, ", ")
		switch {
		case len(claim.Devices) == 0:
			text = "claim " + claim.Name + " without devices yet"
		case len(others) > 0:
			text += " (not for this container: " + strings.Join(others, ", ") + ")"
		}
		parts = append(parts, text)
	}
	if c.CPUs != "" {
		parts = append(parts, "CPUs "+c.CPUs+numaText(c.CPUNUMA))
	}
	for _, m := range c.Memory {
		parts = append(parts, m.Type+" "+binaryBytes(m.Size)+numaText(m.NUMA))
	}
	return parts
}

// binaryBytes is an amount as Kubernetes writes it.
func binaryBytes(n uint64) string {
	return resource.NewQuantity(int64(min(n, 1<<62)), resource.BinarySI).String() //nolint:gosec // bounded
}

// text names a device. Which share of it is meant is for those who want to know everything.
func (d *NodeDevice) text(verbose bool) string {
	text := d.Driver + "/" + d.Pool + "/" + d.Device
	if d.ShareID != "" && verbose {
		text += " (share " + d.ShareID + ")"
	}
	return text
}

func (p *nodePrinter) claims() {
	if len(p.Claims) == 0 {
		p.Field("Claims", "none is used here, as far as is known")
		return
	}
	if p.Kubelet {
		p.Field("Claims", "with devices here, of pods here, or prepared here:")
	} else {
		p.Field("Claims", "with devices here, or of pods here:")
	}
	p.Rows(words.Each(p.Claims, func(c NodeClaim) []string {
		return []string{c.Namespace + "/" + c.Name, c.stateText(p.Kubelet), c.devicesText(p.verbose)}
	}))
}

// stateText says what is known of a claim.
func (c *NodeClaim) stateText(kubelet bool) string {
	state := map[string][3]string{
		"Yes":     {"allocated", "prepared"},
		"No":      {"not allocated", "not prepared"},
		"Unknown": {"allocation unknown", "preparation unknown"},
	}
	switch {
	case !kubelet:
		return state[c.Allocated][0]
	case c.Known == string(node.No):
		return "no such claim, " + state[c.Prepared][1]
	}
	return state[c.Allocated][0] + ", " + state[c.Prepared][1]
}

// devicesText names the devices of a claim, those of a pool together, and for whom they are.
func (c *NodeClaim) devicesText(verbose bool) string {
	var parts []string
	for i := range c.Devices {
		d := &c.Devices[i]
		text, before := d.text(verbose), &NodeDevice{}
		if i > 0 {
			before = &c.Devices[i-1].NodeDevice
		}
		together := i > 0 && !verbose && d.Driver == before.Driver && d.Pool == before.Pool && d.Published == c.Devices[i-1].Published
		if together {
			parts[len(parts)-1] += ", " + d.Device
			continue
		}
		if i > 0 && c.Devices[i-1].Published == string(node.No) {
			parts[len(parts)-1] += unpublished
		}
		if verbose && len(d.CDI) > 0 {
			text += " as " + strings.Join(d.CDI, ", ")
		}
		parts = append(parts, text)
	}
	if n := len(c.Devices); n > 0 && c.Devices[n-1].Published == string(node.No) {
		parts[len(parts)-1] += unpublished
	}
	if len(c.Pods) > 0 {
		parts = append(parts, "for pod "+strings.Join(c.Pods, ", "))
	} else if len(c.Devices) > 0 {
		parts = append(parts, "no pod here is known to use it")
	}
	return strings.Join(parts, "; ")
}

// unpublished is said of devices that are gone.
const unpublished = ", which nothing publishes"

// health shows what is not healthy, or with verbose all that is known.
func (p *nodePrinter) health() {
	rows := [][]string{}
	for i := range p.Health {
		h := &p.Health[i]
		if h.Health != string(corev1.ResourceHealthStatusUnhealthy) && !p.verbose {
			continue
		}
		what := h.Resource + "=" + h.ID
		switch {
		case h.Device != nil:
			what = "claim " + h.Claim + ": " + h.Device.text(false)
		case h.Claim != "":
			what = "claim " + h.Claim + ": " + h.ID
		}
		state := strings.ToLower(h.Health)
		if h.Message != "" {
			state += ": " + h.Message
		}
		rows = append(rows, []string{h.Namespace + "/" + h.Pod, h.Container, what, state})
	}
	if len(rows) > 0 {
		p.Field("Health", "of devices of containers:")
		p.Rows(rows)
	}
}

func (p *nodePrinter) resources() {
	if len(p.Resources) == 0 {
		return
	}
	p.Field("Resources", "of device plugins:")
	p.Rows(words.Each(p.Resources, func(r NodeResource) []string { return []string{r.Name, r.text()} }))
}

// text says what is known of the numbers.
func (r *NodeResource) text() string {
	var parts []string
	for _, n := range []struct {
		value *int64
		name  string
	}{{r.Capacity, "capacity"}, {r.Allocatable, "allocatable"}, {r.Healthy, "healthy now"}, {r.Registered, "in the checkpoint"}, {r.Used, "in use"}} {
		if n.value != nil {
			parts = append(parts, fmt.Sprintf("%d %s", *n.value, n.name))
		}
	}
	return strings.Join(parts, ", ")
}

func (p *nodePrinter) cpus() {
	c := p.CPUs
	if c == nil {
		return
	}
	text := "all are shared: no container has some of its own"
	if c.Allocatable != "" || c.Exclusive != "" {
		text = fmt.Sprintf("%s shared, %s exclusive, of %s that can be", output.OrNone(c.Shared), output.OrNone(c.Exclusive), output.OrNone(c.Allocatable))
	}
	if c.Policy != "" {
		text += " (CPU manager policy " + c.Policy + ")"
	}
	p.Field("CPUs", "%s", text)
}

func (p *nodePrinter) plugins() {
	if len(p.Plugins)+len(p.Missing) == 0 {
		return
	}
	head := "at their sockets:"
	if p.KubeletStarted != nil {
		head = "at their sockets; the kubelet has run since " + timeText(*p.KubeletStarted) + ":"
	}
	p.Field("Plugins", "%s", head)
	rows := [][]string{}
	for _, plugin := range p.Plugins {
		what := strings.TrimSpace(plugin.Type + " " + plugin.Name)
		if what == "" {
			what = "unknown"
		}
		state := strings.Join(append(plugin.Versions, plugin.Options...), ", ")
		if !plugin.Answers {
			state = "does not answer"
		}
		if plugin.Since != nil {
			state += ", since " + timeText(*plugin.Since)
		}
		rows = append(rows, []string{what, plugin.Socket, strings.TrimPrefix(state, ", ")})
	}
	for _, m := range p.Missing {
		rows = append(rows, []string{m.Type + " " + m.Name, "missing", m.Message})
	}
	p.Rows(rows)
}

func timeText(t time.Time) string { return t.Format("2006-01-02 15:04:05 MST") }

// sources says what of the node could not be read.
func (p *nodePrinter) sources() {
	if !p.Kubelet {
		return
	}
	rows := [][]string{}
	for _, s := range p.Sources {
		switch {
		case s.Message != "":
			rows = append(rows, []string{s.Name, s.Message})
		case p.verbose:
			rows = append(rows, []string{s.Name, "read"})
		}
	}
	if len(rows) > 0 {
		p.Field("Sources", "of the node:")
		p.Rows(rows)
	}
}
