package triage

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/cycle"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// asks are the kinds of requirements by which a subject says what it wants. Where a conflict has others too,
// those are its cause: that somebody wants four devices is none as long as there are four, which others hold.
var asks = map[explain.RequirementKind]bool{
	explain.ClassTermRequired: true, explain.TermRequired: true, explain.ConstraintRequired: true, explain.CountRequired: true,
	explain.RequestRequired: true, explain.CapacityRequired: true, explain.CountersRequired: true,
}

// blocker is one of the things that make a cause.
type blocker struct {
	// kind is what it is about, and of tells blockers of a kind apart.
	kind, of string
	message  string
}

// asked is the kind of blocker that requests are which ask for too much.
const asked = "Asked"

// driverAbsent is the kind of blocker that a driver is which publishes nothing.
const driverAbsent = "DriverAbsent"

// name is how the key of a cause spells the blocker.
func (b blocker) name() string {
	if b.of == "" {
		return b.kind
	}
	return b.kind + " " + b.of
}

// blockersOf are what keeps a subject from being scheduled, by its explanation, sorted. There is one at
// least.
func blockersOf(e *explain.Explanation) []blocker {
	var out []blocker
	switch {
	case e.Verdict == explain.Unknown:
		return []blocker{{kind: string(explain.Unknown), message: "it is not known whether these can be scheduled"}}
	case len(explain.AbsentClasses(e.Advice)) > 0 && !heldBack(e):
		for i := range e.Advice {
			if a := &e.Advice[i]; len(a.Classes) > 0 {
				out = append(out, blocker{driverAbsent, a.Driver, explain.NothingPublished(a.Classes)})
			}
		}
	case e.Failure != nil:
		out = append(out, blocker{string(allocator.SelectorError), e.Failure.Term, "a selector makes the scheduler give up: " + e.Failure.Term})
	case e.Conflict != nil && !heldBack(e):
		out = blockersIn(e.Conflict)
	}
	if len(out) == 0 {
		out = nearestReasons(e)
	}
	if len(out) == 0 {
		out = append(out, blocker{kind: "Missing", message: "what they refer to does not exist, so that the scheduler does not try them"})
	}
	slices.SortFunc(out, func(a, b blocker) int { return cmp.Or(strings.Compare(a.kind, b.kind), strings.Compare(a.of, b.of)) })
	return slices.CompactFunc(out, func(a, b blocker) bool { return a.kind == b.kind && a.of == b.of })
}

// heldBack reports whether scheduling gates hold a subject back.
func heldBack(e *explain.Explanation) bool {
	return slices.ContainsFunc(e.Groups, func(g explain.Group) bool {
		return slices.ContainsFunc(g.Reasons, func(r explain.Reason) bool { return r.Code == allocator.SchedulingGated })
	})
}

// blockersIn are what stands against what a subject asks for, or else what it asks for.
func blockersIn(c *explain.Conflict) []blocker {
	var against []blocker
	for i := range c.Requirements {
		if r := &c.Requirements[i]; !asks[r.Kind] {
			against = append(against, blocker{string(r.Kind), detail(r), standing(r)})
		}
	}
	if len(against) > 0 || len(c.Requirements) == 0 {
		return against
	}
	return []blocker{askedToo(c)}
}

// askedToo is the blocker of those who ask for what nobody has. It does not depend on how much it is: that
// devices are to be of one model is one cause, and that several are to be together is another. What it says
// depends on all who have the cause.
func askedToo(c *explain.Conflict) blocker {
	var kinds, terms []string
	for i := range c.Requirements {
		r := &c.Requirements[i]
		if kinds = append(kinds, string(r.Kind)); r.Term != "" {
			terms = append(terms, r.Term)
		}
	}
	slices.Sort(kinds)
	return blocker{kind: asked, of: strings.Join(append(slices.Compact(kinds), terms...), " ")}
}

// detail tells requirements of a kind apart, as far as that makes another cause.
func detail(r *explain.Requirement) string {
	switch r.Kind {
	case explain.HeldRequired:
		return driverOf(r)
	case explain.TaintRequired, explain.NodeTaintRequired:
		return r.Taint
	case explain.PoolRequired:
		return r.Pool.Driver
	case explain.ResourceRequired:
		return string(r.Resource)
	case explain.FeatureRequired, explain.DeclaredFeatureRequired:
		return r.Path
	}
	return ""
}

// driverOf is the driver of the devices that a claim holds.
func driverOf(r *explain.Requirement) string {
	if r.Holder == nil || len(r.Holder.Devices) == 0 {
		return ""
	}
	return r.Holder.Devices[0].Driver
}

// standing says what a requirement of others, or of the cluster, is to those who are stuck.
func standing(r *explain.Requirement) string {
	switch r.Kind {
	case explain.HeldRequired:
		return "devices of " + driverOf(r) + " are in use"
	case explain.TaintRequired:
		return "devices are tainted with " + r.Taint
	case explain.NodeTaintRequired:
		return "nodes are tainted with " + r.Taint
	case explain.PoolRequired:
		return "pools of " + r.Pool.Driver + " are not complete, or contradict themselves"
	case explain.ResourceRequired:
		return "nodes have too little " + string(r.Resource) + " left"
	case explain.PodsRequired:
		return "nodes run as many pods as they may"
	case explain.CordonRequired:
		return "nodes are cordoned"
	case explain.NodeAffinityRequired:
		return "few nodes match the node selectors of the pods"
	case explain.PodAffinityRequired:
		return "the pods want to be with others, or away from them"
	case explain.RepelledBy:
		return "other pods keep the pods away"
	case explain.SpreadRequired:
		return "the pods have to be spread"
	case explain.PortRequired:
		return "ports of nodes are in use"
	case explain.VolumeRequired:
		return "volumes cannot be had on the nodes"
	}
	return r.Sentence()
}

// nearestReasons is the first reason of the nodes that come nearest.
func nearestReasons(e *explain.Explanation) []blocker {
	var nearest *explain.Group
	for i := range e.Groups {
		if g := &e.Groups[i]; len(g.Reasons) > 0 && (nearest == nil || g.Score > nearest.Score) {
			nearest = g
		}
	}
	if nearest == nil {
		return nil
	}
	r := &nearest.Reasons[0]
	return []blocker{{kind: string(r.Code), of: r.Key, message: cmp.Or(r.Brief, r.Message)}}
}

// collection collects causes.
type collection struct {
	s      *inspect.Snapshot
	node   inspect.NodeName // the only one that was asked, or ""
	causes map[string]*explain.Cause
	// alike are the numbers of the subjects of each cause that ask for different things, and whether the
	// messages of these say what the cause is.
	alike map[string]map[int]bool
	// unlike is the number of subjects that are like no others.
	unlike int
	// of are the keys of the causes of subjects.
	of map[explain.Subject]string
	// asks are what the subjects of each cause ask for, where only that is in the way, each text once; lacks
	// are the same in numbers, nil where there are none.
	asks  map[string][]string
	lacks map[string][]*explain.Lack
	// sayings are the numbers of those of whom the same is said that wait for Kueue, by what is said.
	sayings map[string]int
	// left are, by cause, the numbers of pods with devices of a driver that publishes nothing any more.
	left map[string]int
}

func newCollection(s *inspect.Snapshot, node inspect.NodeName) *collection {
	return &collection{
		s: s, node: node, causes: map[string]*explain.Cause{}, alike: map[string]map[int]bool{}, of: map[explain.Subject]string{}, asks: map[string][]string{},
		lacks: map[string][]*explain.Lack{}, left: map[string]int{}, sayings: map[string]int{},
	}
}

// add puts a subject to its cause, which newCause makes if there is none with the key yet.
// tells says that the message of the subject is all that there is to say about the cause.
func (c *collection) add(key string, subject explain.StuckSubject, tells bool, newCause func() *explain.Cause) {
	subject.Owner = c.ownerOf(subject.Subject)
	cause, ok := c.causes[key]
	if !ok {
		cause = newCause()
		cause.Key = key
		c.causes[key], c.alike[key] = cause, map[int]bool{}
	}
	cause.Subjects = append(cause.Subjects, subject)
	cause.Since = earliest(cause.Since, subject.Since)
	c.alike[key][subject.Alike] = tells
	c.of[subject.Subject] = key
}

// ownerOf is the kind and name of what made a pod, directly or not, or "".
func (c *collection) ownerOf(subject explain.Subject) string {
	pod, ok := c.s.Pod(inspect.PodRef{Namespace: subject.Namespace, Name: subject.Name})
	if !ok || subject.Kind != "Pod" {
		return ""
	}
	chain := inspect.Controllers(pod, nil)
	if len(chain) == 0 {
		return ""
	}
	return chain[len(chain)-1].Kind + " " + chain[len(chain)-1].Name
}

// unlikeOthers is the number of another subject that is like no others.
func (c *collection) unlikeOthers() int {
	c.unlike++
	return -c.unlike
}

// addWaiting adds a subject that cannot be scheduled.
func (c *collection) addWaiting(object metav1.Object, a *answer) {
	blockers := blockersOf(a.e)
	var names, texts []string
	for _, b := range blockers {
		names, texts = append(names, b.name()), append(texts, b.message)
	}
	subject := explain.StuckSubject{Subject: cycle.SubjectOf(object), Since: since(object), Message: whyOf(a.e), Brief: a.e.Brief, Alike: a.number, Behind: a.behind}
	tells := a.e.Verdict != explain.Unknown && (a.e.Brief != "" || a.e.Conflict == nil)
	key := strings.Join(names, ", ")
	_, known := c.alike[key][a.number]
	c.add(key, subject, tells, func() *explain.Cause {
		return &explain.Cause{
			Message: strings.Join(texts, ", and "), Verdict: a.e.Verdict, OnPurpose: heldBack(a.e), Actor: actorOf(a.e),
		}
	})
	c.causes[key].Advise(a.e.Advice)
	if blockers[0].kind == asked && !known {
		c.lacks[key] = append(c.lacks[key], a.e.Lack)
		if text := askedBy(a.e.Conflict); !slices.Contains(c.asks[key], text) {
			c.asks[key] = append(c.asks[key], text)
		}
	}
}

// whyOf is why a subject is stuck, without its name.
func whyOf(e *explain.Explanation) string {
	if e.Verdict == explain.Unknown && len(e.Partial) > 0 {
		return e.Predicate + ": " + e.Partial[len(e.Partial)-1]
	}
	return e.Predicate
}

// actorOf is who has to act for a subject: who makes the first of the fixes, who has to see to something, or
// else who can mend what is in the way.
func actorOf(e *explain.Explanation) explain.Actor {
	switch {
	case len(e.Fixes) > 0:
		return e.Fixes[0].Actor(e.Subject)
	case len(e.Advice) > 0:
		return e.Advice[0].Actor
	}
	for i := range e.Groups {
		for j := range e.Groups[i].Reasons {
			if actor := e.Groups[i].Reasons[j].Actor(); actor != "" {
				return actor
			}
		}
	}
	if e.Conflict != nil && len(e.Conflict.Requirements) > 0 {
		return e.Conflict.Requirements[0].Actor(e.Subject)
	}
	return explain.User
}

// sorted are the causes, the worst first: what cannot be scheduled or does not run, the more subjects the
// worse; then what is not known, and what is held back on purpose. Where all subjects of a cause ask for the
// same, it is told in their words.
func (c *collection) sorted() []explain.Cause {
	var out []explain.Cause
	for key, cause := range c.causes {
		first := &cause.Subjects[0]
		switch absent := explain.AbsentClasses(cause.Advice); {
		case len(c.alike[key]) == 1 && c.alike[key][first.Alike]:
			cause.Message, cause.Told = first.Message, true
		case len(c.asks[key]) > 0:
			c.sayWanted(key)
		case len(absent) > 0:
			cause.Message = explain.NothingPublished(absent) + " (is it running?)"
			if n := c.left[key]; n > 0 {
				cause.Message += fmt.Sprintf("; %s %s some that it published", words.Count(n, "pod"), words.Plural(n, "uses", "use"))
			}
		}
		out = append(out, *cause)
	}
	slices.SortFunc(out, func(a, b explain.Cause) int {
		return cmp.Or(
			boolOrder(a.OnPurpose, b.OnPurpose), boolOrder(a.Verdict == explain.Unknown, b.Verdict == explain.Unknown),
			len(b.Subjects)-len(a.Subjects), compareSince(a.Since, b.Since), strings.Compare(a.Key, b.Key),
		)
	})
	return out
}
