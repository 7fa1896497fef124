package manifest

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest/validate"
	"github.com/kubectl-dra/kubectl-dra/inspect/sharing"
)

// Decoding and validating are most of the work of reading a large cluster, and need nothing but the object.
// So objects are gathered until there are many, prepared on all cores, and then kept in the order in which
// they were given: results, warnings and the first error do not depend on how many cores there are.

// maxPending bounds how many objects are gathered, so that cancelling and errors do not come late.
const maxPending = 2048

// pending is an object that was found in a text, or what else is to be told at that place.
type pending struct {
	text  *text
	at    extent
	head  head
	kind  kind
	known bool // kind is one that is read
	// notes are warnings that come before the object; there may be no object (text is nil).
	notes []Warning

	// What prepare finds out.
	object    metav1.Object
	workloads []workload // of a kind that is not known otherwise
	event     *event
	access    metav1.Object // of RBAC
	findings
	finished bool
	err      error
}

// findings are what the API server would refuse in an object.
type findings struct {
	complaints []error // of the decoder
	// newer says that fields are not known because they are newer than this program: they are kept.
	newer   bool
	invalid []validate.Problem
}

// flush keeps everything that is pending. The error is that of the first object which is broken.
func (c *collector) flush(ctx context.Context) error {
	batch := c.pending
	c.pending = nil
	c.prepareAll(ctx, batch)
	if err := ctx.Err(); err != nil {
		return err
	}
	for i := range batch {
		if err := c.keep(&batch[i]); err != nil && !c.failures.survive(err, batch[i].kind.Resource) {
			return err
		}
	}
	return nil
}

// prepareAll prepares a batch on all cores; not all of it once ctx has ended.
func (c *collector) prepareAll(ctx context.Context, batch []pending) {
	var next atomic.Int64
	work := func() {
		for i := int(next.Add(1)) - 1; i < len(batch) && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
			c.prepare(&batch[i])
		}
	}
	var group sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(batch)) - 1 {
		group.Go(work)
	}
	work()
	group.Wait()
}

// prepare decodes an object. It only reads the collector.
func (c *collector) prepare(p *pending) {
	if !p.known {
		if p.text != nil {
			p.workloads, p.event, p.access = c.workloadsIn(p), c.eventIn(p), c.accessIn(p)
		}
		return
	}
	if p.kind.Resource == inspect.KueueWorkloads { // an object, and what has pod templates
		p.workloads = c.workloadsIn(p)
	}
	p.object, p.complaints, p.err = decodeGuarded(p.text.data[p.at.from:p.at.to], p.kind.decode)
	p.newer = p.err == nil && len(p.complaints) > 0 && (p.object.GetUID() != "" || c.opts.NewerServer) && p.kind.sameShape() && isNewer(p.complaints, p.head, c.opts.NewerServer)
	if p.newer {
		inspect.KeepNewer(p.object, p.text.data[p.at.from:p.at.to])
	}
	if p.err == nil && p.object.GetName() != "" {
		c.finish(p)
	}
}

// finish completes an object, which needs its turn when it has no name: then one is made.
func (c *collector) finish(p *pending) {
	c.complete(p.object, p.head, p.kind)
	if slice, ok := p.object.(*resourcev1.ResourceSlice); ok {
		sharing.New().Share(slice)
	}
	p.invalid = validate.Object(p.object)
	p.finished = true
}

// keep adds an object to those that were read, or counts it as skipped.
func (c *collector) keep(p *pending) error {
	for _, w := range p.notes {
		c.warn(w)
	}
	switch {
	case p.text == nil:
		return nil
	case !p.known && (c.keepWorkloads(p) || c.keepEvent(p) || c.keepAccess(p)):
		return nil
	case !p.known:
		c.skip(p.text, p.at, p.head)
		return nil
	case p.err != nil:
		return c.decodeError(p.text, p.at, p.head, p.kind, p.err)
	case !p.finished:
		c.finish(p)
	}
	if c.keepWorkloads(p) {
		p.findings = findings{} // those of the templates have been told
	}
	where := place(p.text.source, p.text.line(p.at.from))
	name := objectName(p.head.kind, p.kind, p.object)
	if p.object.GetName() == "" {
		c.warn(Warning{Source: where, Object: name, Path: "metadata.name", Message: "left out: an object needs a name"})
		return nil
	}
	if !c.isDuplicate(where, identity{p.kind.Resource, p.object.GetNamespace(), p.object.GetName()}, p.object, name) {
		c.objects.Add(p.object)
	}
	unchanged := func(path string) string { return path } // the decoder speaks of what is in the file
	c.report(warningsOf(where, name, p.findings, p.head, unchanged, p.kind.userPath))
	if versions := c.versions[p.kind.Resource]; !slices.Contains(versions, p.head.apiVersion) && len(versions) < maxVersionsTracked {
		c.versions[p.kind.Resource] = append(versions, p.head.apiVersion)
	}
	return nil
}
