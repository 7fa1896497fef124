package filters

// prepareNodeName is the plugin NodeName: a pod that names its node runs there.
func prepareNodeName(p *Prepared) (check, Outcome) {
	if p.Pod.Spec.NodeName == "" {
		return nil, Outcome{}
	}
	return nodeName(p.Pod.Spec.NodeName), Outcome{}
}

// nodeName is the node that a pod names.
type nodeName string

func (name nodeName) on(n *nodeInfo) Outcome {
	if n.Name == string(name) {
		return Outcome{}
	}
	return refuse(Refusal{Plugin: NodeName, Code: NodeMismatch, Unresolvable: true, Key: string(name), Message: "the pod is bound to node " + string(name)})
}
