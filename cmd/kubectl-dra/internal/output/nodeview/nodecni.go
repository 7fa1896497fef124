package nodeview

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/node/cni"
)

// NodeNetwork is the wire form of what a node has of network configurations.
type NodeNetwork struct {
	output.Head
	// Node is empty if only its files were read.
	Node      string `json:"node,omitempty"`
	Runtime   string `json:"runtime"`
	Directory string `json:"directory"`
	// Error is why pods get no network.
	Error   string     `json:"error,omitempty"`
	Files   []cni.File `json:"files"`
	Ignored []string   `json:"ignored"`
	// Needs are capabilities that pods ask for and no plugin in use declares.
	Needs []cni.Need `json:"needs"`
	// Interfaces are those that DRA drivers have put into pods of the node.
	Interfaces   []cni.Interface `json:"interfaces"`
	RemovedFlags []RemovedFlag   `json:"removedFlags"`
}

// RemovedFlag is a flag that the kubelet no longer knows.
type RemovedFlag struct {
	Flag      string `json:"flag"`
	Successor string `json:"successor"`
}

// NewNodeNetwork returns the wire form.
func NewNodeNetwork(node string, v *cni.View, needs []cni.Need, interfaces []cni.Interface, flags []cni.RemovedFlag) *NodeNetwork {
	runtime := string(v.Runtime)
	if v.Runtime == cni.Unknown {
		runtime = "unknown"
	}
	return &NodeNetwork{
		Head: output.HeadOf("NodeNetwork"), Node: node, Runtime: runtime, Directory: v.Dir, Error: v.Error, Ignored: output.OrEmpty(v.Ignored),
		Files: output.OrEmpty(v.Files), Needs: output.OrEmpty(needs), Interfaces: output.OrEmpty(interfaces),
		RemovedFlags: words.Each(flags, func(f cni.RemovedFlag) RemovedFlag { return RemovedFlag(f) }),
	}
}

// PrintNodeNetwork prints it for people, in tables of at most width columns, or of any if that is 0.
func PrintNodeNetwork(w io.Writer, n *NodeNetwork, width int) error {
	files, hidden := [][]string{}, 0
	for i, f := range n.Files {
		if i >= maxNetworkFiles && !f.Used {
			hidden++
			continue
		}
		mark := "-"
		if f.Used {
			mark = "used"
		}
		why := f.Why
		if f.Broken != "" {
			why += ": " + f.Broken
		}
		files = append(files, []string{f.Name, mark, f.Network, f.Version, chainText(f.Chain), why})
	}
	columns := []output.Column{{Header: "FILE"}, {Header: "USED"}, {Header: "NETWORK"}, {Header: "VERSION"}, {Header: "PLUGINS", Cut: output.CutText}, {Header: "WHY", Cut: output.CutText}}
	remarks := networkRemarks(n)
	if hidden > 0 {
		remarks = slices.Insert(remarks, 0, fmt.Sprintf("%s not shown, none of which the runtime uses; -o json has all", words.Plural(hidden, "1 more file is", fmt.Sprintf("%d more files are", hidden))))
	}
	return output.PrintPage(w, width, func(p *output.Page) {
		if n.Runtime == "unknown" {
			p.Line(n.Directory + ", as containerd reads it; --runtime says which runtime the node has")
		} else {
			p.Line(fmt.Sprintf("%s, as %s reads it", n.Directory, n.Runtime))
		}
		if n.Error != "" {
			p.Line("! " + n.Error)
		}
		p.WriteString("\n")
		p.Table(columns, files, width)
		p.Remarks(remarks)
	})
}

// What is shown of a directory that is full of other things. Those of real nodes have a few files.
const maxNetworkFiles, maxIgnoredFiles = 100, 20

// chainText is the chain of a network: the plugins with what they declare, and which are not installed.
func chainText(plugins []cni.Plugin) string {
	var parts []string
	for _, p := range plugins {
		text := p.Type
		if len(p.Capabilities) > 0 {
			text += " (" + strings.Join(p.Capabilities, ", ") + ")"
		}
		if p.Path == "" {
			text += " NOT INSTALLED"
		}
		if p.IPAM != "" {
			text += " with " + p.IPAM
			if p.IPAMPath == "" {
				text += " NOT INSTALLED"
			}
		}
		if len(p.Delegates) > 0 {
			text += " for " + strings.Join(p.Delegates, ", ")
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, " → ")
}

func networkRemarks(n *NodeNetwork) []string {
	var out []string
	if len(n.Ignored) > 0 {
		out = append(out, "Not looked at, for their names: "+words.Shorten(n.Ignored, maxIgnoredFiles))
	}
	for _, need := range n.Needs {
		out = append(out, fmt.Sprintf("! %s; wanted by %s", need.Message, podNames(need.Pods)))
	}
	for _, i := range n.Interfaces {
		what := strings.Join(slices.DeleteFunc([]string{i.Name, strings.Join(i.Addresses, ", "), i.Hardware}, func(s string) bool { return s == "" }), " ")
		out = append(out, fmt.Sprintf("DRA gave %s interface %s: device %s of claim %s", podNames(i.Pods), what, i.Device, i.Claim))
	}
	for _, f := range n.RemovedFlags {
		out = append(out, fmt.Sprintf("! The kubelet is started with %s, which it does not know: %s", f.Flag, f.Successor))
	}
	return out
}

func podNames(pods []inspect.PodRef) string {
	return strings.Join(words.Each(pods, inspect.PodRef.String), ", ")
}
