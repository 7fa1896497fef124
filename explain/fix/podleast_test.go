package fix_test

import (
	"fmt"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-dra/kubectl-dra/explain"
)

// least checks that a fix changes no more than it must.
func (c *podChecks) least(f *explain.Fix) {
	switch {
	case strings.Contains(f.Key, "\n"):
		c.needed(f)
	case f.Kind == explain.ReduceRequest:
		c.largest(f)
	case f.Kind == explain.ReduceCount:
		c.oneMore(f)
	case f.Kind == explain.MovePod:
		c.fewest(f)
	case f.Kind == explain.ReleaseClaim:
		for i := range f.Claims {
			less := *f
			less.Claims = slices.Delete(slices.Clone(f.Claims), i, i+1)
			if after, _ := c.problem.carriedOut(c.T, &less); after.fits(c.T, string(f.Node)) {
				c.wrong("to release claims it need not release %s: %s", f.Claims[i].Claim, f.Message)
			}
		}
	}
}

// needed checks that no change of several can be left out.
func (c *podChecks) needed(f *explain.Fix) {
	for i := range f.Changes {
		for j, op := range f.Changes[i].Patch {
			if strings.Contains(op.Path, "/limits/") || strings.HasSuffix(op.Path, "/minDomains") {
				continue // it goes with that of the request, or of the constraint
			}
			less := *f
			less.Changes = slices.Clone(f.Changes)
			less.Changes[i].Patch = slices.Delete(slices.Clone(f.Changes[i].Patch), j, j+1)
			less.Changes[i].Patch = slices.DeleteFunc(less.Changes[i].Patch, func(o explain.PatchOperation) bool {
				return o.Path == strings.Replace(op.Path, "/requests/", "/limits/", 1) || o.Path == strings.Replace(op.Path, "/whenUnsatisfiable", "/minDomains", 1)
			})
			if slices.ContainsFunc(less.Changes[i].Patch, func(o explain.PatchOperation) bool { return strings.HasSuffix(o.Path, "/-") }) {
				continue // to what would not be there
			}
			c.tally["parts of fixes left out"]++
			if after, _ := c.problem.carriedOut(c.T, &less); after.fits(c.T, string(f.Node)) {
				c.wrong("%s: %s %s is not needed", f.Message, op.Op, op.Path)
			}
		}
		more := *f
		more.Changes = slices.Clone(f.Changes)
		if more.Changes[i].Patch = raised(f.Changes[i].Patch); slices.ContainsFunc(more.Changes[i].Patch, isRequest) {
			c.tally["largest requests of several changes"]++
			if after, _ := c.problem.carriedOut(c.T, &more); after.fits(c.T, string(f.Node)) {
				c.wrong("%s: %v would do", f.Message, more.Changes[i].Patch)
			}
		}
	}
	for i := range f.Claims {
		less := *f
		less.Claims = slices.Delete(slices.Clone(f.Claims), i, i+1)
		c.tally["parts of fixes left out"]++
		if after, _ := c.problem.carriedOut(c.T, &less); after.fits(c.T, string(f.Node)) {
			c.wrong("%s: claim %s is not needed", f.Message, f.Claims[i].Claim)
		}
	}
}

// isRequest reports whether an operation is about what a container asks for of a resource.
func isRequest(op explain.PatchOperation) bool { return strings.Contains(op.Path, "/resources/") }

// raised returns operations that ask for the smallest amount more of each resource that they change.
func raised(patch []explain.PatchOperation) []explain.PatchOperation {
	var out []explain.PatchOperation
	for _, op := range patch {
		if isRequest(op) {
			q := resource.MustParse(fmt.Sprint(op.Value))
			step := resource.MustParse("1")
			if strings.HasSuffix(op.Path, "/cpu") {
				step = resource.MustParse("1m")
			}
			q.Add(step)
			op.Value = q.String()
		}
		out = append(out, op)
	}
	return out
}

// largest checks that with the smallest amount more of a resource the pod fits nowhere.
func (c *podChecks) largest(f *explain.Fix) {
	if !slices.ContainsFunc(f.Changes[0].Patch, isRequest) {
		return // a port
	}
	if slices.ContainsFunc(f.Changes[0].Patch, func(op explain.PatchOperation) bool { return op.Op == "remove" }) {
		return // a last resort, which asks for nothing
	}
	more := *f
	more.Changes = slices.Clone(f.Changes)
	more.Changes[0].Patch = raised(f.Changes[0].Patch)
	c.tally["largest requests"]++
	after, _ := c.problem.carriedOut(c.T, &more)
	if node := after.fitsSomewhere(c.T); node != "" {
		c.wrong("%s: %v would do on %s", f.Message, more.Changes[0].Patch, node)
	}
}

// oneMore checks that with one device more the pod fits nowhere.
func (c *podChecks) oneMore(f *explain.Fix) {
	more := *f
	more.Changes = slices.Clone(f.Changes)
	op := f.Changes[0].Patch[0]
	count, ok := op.Value.(int64)
	if !ok || len(f.Changes[0].Patch) != 1 {
		c.wrong("%s: %+v", f.Message, op)
		return
	}
	op.Value = count + 1
	more.Changes[0].Patch = []explain.PatchOperation{op}
	c.tally["largest counts"]++
	after, _ := c.problem.carriedOut(c.T, &more)
	if node := after.fitsSomewhere(c.T); node != "" {
		c.wrong("%s: %d would do on %s", f.Message, count+1, node)
	}
}

// fewest checks that every pod that is to end has to, and that none of a lower priority would do on any node.
func (c *podChecks) fewest(f *explain.Fix) {
	highest := int32(math.MinInt32)
	for i, ref := range f.Pods {
		less := *f
		less.Pods = slices.Delete(slices.Clone(f.Pods), i, i+1)
		if after, _ := c.problem.carriedOut(c.T, &less); len(less.Pods) > 0 && after.fits(c.T, string(f.Node)) {
			c.wrong("%s: %s need not end", f.Message, ref)
		}
		pod := c.podNamed(ref.Name)
		if len(pod.OwnerReferences) > 0 {
			c.wrong("%s: the daemon set makes %s again", f.Message, ref)
		}
		highest = max(highest, *pod.Spec.Priority)
	}
	c.tally["fewest pods"]++
	names, node := c.endable(func(p *corev1.Pod) bool { return *p.Spec.Priority < highest })
	releases := func(f explain.Fix) bool { return f.Kind == explain.ReleaseClaim } // where pods hold devices, that is said instead
	if names != nil && !slices.ContainsFunc(c.e.Fixes, releases) {
		c.wrong("%s: on %s less important pods are enough: %v", f.Message, node, names)
	}
}

func (c *podChecks) podNamed(name string) *corev1.Pod {
	return c.problem.Pods[slices.IndexFunc(c.problem.Pods, func(p *corev1.Pod) bool { return p.Name == name })]
}

// endable finds pods of a node, of those that a function is true for, whose end is enough. It tries all sets.
func (c *podChecks) endable(among func(*corev1.Pod) bool) (names []string, node string) {
	for _, n := range c.problem.Nodes {
		var pods []string
		for _, p := range c.problem.Pods {
			if p.Spec.NodeName == n.Name && len(p.OwnerReferences) == 0 && among(p) {
				pods = append(pods, p.Name)
			}
		}
		for bits := range 1 << len(pods) {
			var ending []string
			for i := range pods {
				if bits&(1<<i) != 0 {
					ending = append(ending, pods[i])
				}
			}
			after := c.problem.clone()
			after.end(ending...)
			if len(ending) > 0 && after.fits(c.T, n.Name) {
				return ending, n.Name
			}
		}
	}
	return nil, ""
}

// missed tries every single change, and checks that there is a fix of that kind if one helps.
func (c *podChecks) missed() {
	if len(c.e.Fixes) >= 8 {
		return // the rest was left out
	}
	has := func(match func(*explain.Fix) bool) bool {
		return slices.ContainsFunc(c.e.Fixes, func(f explain.Fix) bool { return len(f.Also) == 0 && match(&f) })
	}
	for _, n := range c.problem.Nodes {
		for _, w := range c.problem.wants(c.T, n.Name) {
			if w.fix == "" || !c.problem.given([]want{w}, func(string) bool { return true }).fits(c.T, n.Name) {
				continue
			}
			c.tally["helps: "+string(w.fix)]++
			if !has(func(f *explain.Fix) bool { return f.Kind == w.fix }) {
				c.wrong("no fix like giving up %q, which helps on %s", w.key, n.Name)
			}
		}
		after := c.problem.clone()
		if added := after.addCopy(n.Name); after.fits(c.T, added) && !has(func(f *explain.Fix) bool { return f.Kind == explain.AddNode }) {
			c.wrong("one more node like %s would help", n.Name)
		}
	}
	for i, container := range allContainers(c.problem.pod()) {
		for name := range container.Resources.Requests {
			after := c.problem.clone()
			least := allContainers(after.pod())[i]
			least.Resources.Requests[name] = resource.MustParse("1")
			if name == corev1.ResourceCPU {
				least.Resources.Requests[name] = resource.MustParse("1m")
			}
			node := after.fitsSomewhere(c.T)
			if node != "" && !has(func(f *explain.Fix) bool {
				return f.Kind == explain.ReduceRequest && strings.Contains(fmt.Sprint(f.Patch), "resources/requests/"+strings.ReplaceAll(string(name), "/", "~1"))
			}) {
				c.wrong("no fix that asks for less %s in %s, which helps on %s", name, container.Name, node)
			}
		}
	}
	names, node := c.endable(func(*corev1.Pod) bool { return true })
	if names != nil && !has(func(f *explain.Fix) bool { return f.Kind == explain.MovePod || f.Kind == explain.ReleaseClaim }) {
		c.wrong("to end %v on %s would help", names, node)
	}
}
