package mcpserver

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
)

// Question is a command line, without the flags that say where the cluster is, and what it reads from stdin.
type Question struct {
	Args  []string
	Input string
	// Alone: it is about the input only, and not about a cluster.
	Alone bool
}

// asked names objects, or has them.
type asked struct {
	Type      string `json:"type,omitempty" jsonschema:"what kind of object the name is of"`
	Name      string `json:"name,omitempty" jsonschema:"the name of the object"`
	Namespace string `json:"namespace,omitempty" jsonschema:"the namespace; by default that of the server's kubeconfig context"`
	Manifest  string `json:"manifest,omitempty" jsonschema:"instead of a type and name: objects as YAML or JSON, which need not exist in the cluster; errors call it standard input, or -"`
}

var errNoSubject = errors.New("give type and name, or a manifest")

// arguments are a command's. Flags come before the names, which nothing takes for flags then.
func (a *asked) arguments(command []string, flags ...string) (Question, error) {
	q := Question{Args: append(slices.Clone(command), "--output=json")}
	if a.Namespace != "" {
		q.Args = append(q.Args, "--namespace="+a.Namespace)
	}
	q.Args = append(q.Args, flags...)
	switch {
	case a.Manifest != "" && a.Type+a.Name != "":
		return q, errNoSubject
	case a.Manifest != "":
		q.Args, q.Input = append(q.Args, "--filename=-"), a.Manifest
	case a.Type != "" && a.Name != "":
		q.Args = append(q.Args, "--", a.Type, a.Name)
	case a.Type+a.Name != "":
		return q, errNoSubject
	}
	return q, nil
}

// flag is a flag with its value, or nothing if that is empty.
func flag(name, value string) []string {
	if value == "" {
		return nil
	}
	return []string{"--" + name + "=" + value}
}

type explainInput struct {
	asked
	Node string `json:"node,omitempty" jsonschema:"ask about this node only"`
}

func (in *explainInput) question() (Question, error) {
	q, err := in.arguments([]string{"explain"}, flag("node", in.Node)...)
	if err == nil && in.Node != "" && in.Name == "" && in.Manifest == "" {
		err = errNoSubject
	}
	return q, err
}

type fitInput struct {
	asked
	Node string `json:"node,omitempty" jsonschema:"count on this node only"`
}

func (in *fitInput) question() (Question, error) {
	q, err := in.arguments([]string{"fit"}, flag("node", in.Node)...)
	if err == nil && in.Name == "" && in.Manifest == "" {
		err = errNoSubject
	}
	return q, err
}

type planInput struct {
	What string `json:"what" jsonschema:"pending: where all pods go that wait; place: where the pods of an object or a manifest go; drain: who is evicted when nodes are drained; lose: what breaks when nodes are lost; delete: what goes with a namespace; taint: whom the DeviceTaintRules of a manifest evict; make-room: the fewest pods to move so that a claim or pod fits; nodes: which nodes to add so that pods fit; defragment: how many more claims of a class fit after some moves"`
	asked
	Copies int      `json:"copies,omitempty" jsonschema:"for place: so many pods of each"`
	Nodes  []string `json:"nodes,omitempty" jsonschema:"for drain and lose: the nodes"`
	Class  string   `json:"class,omitempty" jsonschema:"for defragment: the device class"`
}

// plans are the questions that plan answers.
var plans = []string{"pending", "place", "drain", "lose", "delete", "taint", "make-room", "nodes", "defragment"}

func (in *planInput) question() (Question, error) {
	command := []string{"plan", in.What}
	need := func(ok bool, what string) error {
		if ok {
			return nil
		}
		return fmt.Errorf("%s needs %s", in.What, what)
	}
	subject := in.Name != "" || in.Manifest != ""
	switch in.What {
	case "pending":
		q, err := (&asked{Namespace: in.Namespace}).arguments([]string{"plan"})
		q.Args = append(q.Args, "--", "pending")
		return q, err
	case "place":
		var copies []string
		if in.Copies != 0 {
			copies = flag("copies", strconv.Itoa(in.Copies))
		}
		q, err := in.arguments([]string{"plan"}, copies...)
		return q, errors.Join(err, need(subject, "type and name, or a manifest"))
	case "drain", "lose":
		if in.What == "lose" {
			command = append(command, "node")
		}
		q := Question{Args: append(append(command, "--output=json", "--"), in.Nodes...)}
		return q, need(len(in.Nodes) > 0, "nodes")
	case "delete":
		return Question{Args: append(command, "--output=json", "--", in.Namespace)}, need(in.Namespace != "", "a namespace")
	case "taint":
		return Question{Args: append(command, "--output=json", "--filename=-"), Input: in.Manifest}, need(in.Manifest != "", "a manifest")
	case "make-room":
		q, err := in.arguments(command)
		return q, errors.Join(err, need(subject, "type and name, or a manifest"))
	case "nodes":
		q, err := in.arguments(command)
		if !subject {
			q.Args = append(q.Args, "--", "pending")
		}
		return q, err
	case "defragment":
		return Question{Args: append(command, "--output=json", "--", in.Class)}, need(in.Class != "", "a class")
	}
	return Question{}, fmt.Errorf("what is %q; it can be one of %q", in.What, plans)
}

type checkInput struct {
	Namespace string   `json:"namespace,omitempty" jsonschema:"look in this namespace only"`
	Severity  string   `json:"severity,omitempty" jsonschema:"the least severity that is told; warning by default"`
	Only      []string `json:"only,omitempty" jsonschema:"look only for these codes, such as PoolIncomplete"`
	Manifest  string   `json:"manifest,omitempty" jsonschema:"look at these objects, as YAML or JSON, instead of the cluster: the manifests of a driver, for instance"`
}

func (in *checkInput) question() (Question, error) {
	q := Question{Args: []string{"check", "--output=json"}, Input: in.Manifest}
	q.Args = slices.Concat(q.Args, flag("namespace", in.Namespace), flag("severity", in.Severity))
	for _, code := range in.Only {
		q.Args = append(q.Args, flag("only", code)...)
	}
	if in.Manifest != "" {
		q.Args, q.Alone = append(q.Args, "--filename=-"), true
	}
	return q, nil
}

type celInput struct {
	Expression string `json:"expression" jsonschema:"a CEL selector of devices, such as device.driver == \"gpu.example.com\""`
	Class      string `json:"class,omitempty" jsonschema:"test on the devices of this device class only"`
	Driver     string `json:"driver,omitempty" jsonschema:"test on the devices of this driver only"`
	Node       string `json:"node,omitempty" jsonschema:"test on the devices that this node can use only"`
}

func (in *celInput) question() (Question, error) {
	if in.Expression == "" {
		return Question{}, errors.New("give an expression")
	}
	q := Question{Args: slices.Concat([]string{"cel", "--output=json"}, flag("class", in.Class), flag("driver", in.Driver), flag("node", in.Node), []string{"--filename=-"})}
	q.Input = in.Expression
	return q, nil
}
