package checkup

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Code names what a rule looks for. Codes are stable.
type Code string

// Severity says how bad a finding is.
type Severity string

// The severities, the worst first.
const (
	// Error is for what does not work now: devices that cannot be had, pods that cannot start, the scheduler
	// giving up.
	Error Severity = "error"
	// Warning is for what works and should not be so: devices kept for nobody, what will fail soon.
	Warning Severity = "warning"
	// Note is for what somebody who looks after the cluster should know, and that may well be wanted.
	Note Severity = "note"
)

// Severities returns all of them, the worst first.
func Severities() []Severity { return []Severity{Error, Warning, Note} }

// AtLeast reports whether a severity is as bad as another, or worse.
func (s Severity) AtLeast(other Severity) bool {
	return slices.Index(Severities(), s) <= slices.Index(Severities(), other)
}

// Finding is one thing that is wrong.
type Finding struct {
	Code     Code
	Severity Severity
	// Subject is what is wrong, in words: "pool gpu.example.com/n1".
	Subject string
	// Name, if set, stands for the subject where findings of several runs are compared.
	Name string
	// Group is what findings of the same code have in common, such as their driver. They may be told
	// together.
	Group string
	// Objects are those at fault, in an order that says which comes first. They are of the API; there is at
	// least one.
	Objects []inspect.ObjectRef
	// Path is the field of the first object at fault, or "" if it is no single one.
	Path string
	// Detail says what is wrong with the subject, in a clause without the subject. It quotes the cluster: it
	// is unsafe to print as it is.
	Detail string
	// Evidence is what was seen, a line each, if the detail does not say all of it. It is as unsafe.
	Evidence []string
	// Remedy says what to do.
	Remedy string

	rule *Rule
}

// Message is the finding in one sentence.
func (f *Finding) Message() string { return f.Subject + ": " + f.Detail }

// Key tells findings apart across runs: what it is about, and not what was seen, which changes all the time.
func (f *Finding) Key() string {
	var b strings.Builder
	b.WriteString(string(f.Code))
	if f.Name == "" {
		b.WriteString("|" + pathOf(f.Objects[0]))
	}
	b.WriteString("|" + f.Path + "|" + cmp.Or(f.Name, f.Subject))
	return b.String()
}

// compare is the order in which findings are told: the worst first, then in the order of the rules, by group
// and by subject.
func compare(a, b *Finding) int {
	severities := Severities()
	return cmp.Or(
		cmp.Compare(slices.Index(severities, a.Severity), slices.Index(severities, b.Severity)),
		cmp.Compare(a.rule.index, b.rule.index),
		cmp.Compare(a.Group, b.Group), cmp.Compare(a.Subject, b.Subject), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Detail, b.Detail),
	)
}

// object names an object of the API.
func object(kind, namespace, name string) inspect.ObjectRef {
	return inspect.ObjectRef{Kind: kind, Namespace: namespace, Name: name}
}

// about is a finding about an object of the API, which comes before others that have to do with it.
func about(o inspect.ObjectRef, path, detail string, others ...inspect.ObjectRef) Finding {
	return Finding{Subject: subjectOf(o), Group: o.Namespace,
		Objects: append([]inspect.ObjectRef{o}, others...), Path: path, Detail: detail}
}

// subjectOf names an object in a sentence.
func subjectOf(o inspect.ObjectRef) string {
	if o.Namespace == "" {
		return o.Kind + " " + o.Name
	}
	return o.Kind + " " + o.Namespace + "/" + o.Name
}

// pathOf returns the name of an object as people write it: "ResourceClaim/ml/train-0".
func pathOf(o inspect.ObjectRef) string {
	if o.Namespace == "" {
		return o.Kind + "/" + o.Name
	}
	return o.Kind + "/" + o.Namespace + "/" + o.Name
}

// Names returns the objects of a finding as people write them.
func (f *Finding) Names() []string {
	out := make([]string, len(f.Objects))
	for i, o := range f.Objects {
		out[i] = pathOf(o)
	}
	return out
}
