package remedy

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Asked is how an explanation was asked for, so that commands can ask for it again.
type Asked struct {
	// Args are the arguments of "kubectl dra explain" as they were given, with the flags that say what was
	// read.
	Args []string
	// Flags are those of kubectl that say which cluster it is and who asks.
	Flags []string
	// Files are the files that were asked about. There are none if names were.
	Files []string
	// Several says that there were several subjects. A fix is then named with its subject.
	Several bool
	// Once says that it cannot be asked again, since it was read from standard input.
	Once bool
	// Demo says that the objects are those of the demo cluster, which kubectl cannot reach.
	Demo bool
}

// immutable are the kinds whose objects cannot be changed in what fixes change of them. They are replaced.
var immutable = map[string]bool{"ResourceClaim": true, "ResourceClaimTemplate": true, "Pod": true, "Job": true, "PersistentVolumeClaim": true}

// Add adds to the fixes of an explanation the commands that carry them out, and what has to be known of them.
// The snapshot is the one that was asked about.
func Add(s *inspect.Snapshot, e *explain.Explanation, asked Asked) {
	for i := range e.Fixes {
		add(s, e, i, asked, nil)
	}
}

// AddToAll writes the commands of a fix anew that is made to other subjects as well.
func AddToAll(s *inspect.Snapshot, f *explain.CauseFix, asked Asked) {
	e := &explain.Explanation{Subject: f.Of, Fixes: []explain.Fix{f.Fix}}
	switch {
	case len(f.Alike) == 0 || len(f.Commands) == 0:
		return
	case slices.ContainsFunc(f.Changes, func(c explain.ObjectChange) bool { return !eachHas(s, c) }):
		f.Remarks = append(slices.Clip(f.Remarks), fmt.Sprintf("The commands are those for %s; the others take the same with their own names.", f.Of.FullName()))
		return
	}
	add(s, e, 0, asked, f.Alike)
	f.Fix = e.Fixes[0]
}

// add adds commands to the i-th fix of an explanation, which is made to others too.
func add(s *inspect.Snapshot, e *explain.Explanation, i int, asked Asked, alike []explain.Subject) {
	f := &e.Fixes[i]
	b := &builder{
		writer: writer{flags: asked.Flags}, s: s, asked: asked, fix: Selector(e, i, asked.Several), subject: e.Subject, alike: alike,
	}
	if e.Subject.Kind == "Pod" && e.Workload == nil {
		b.asking = inspect.PodRef{Namespace: e.Subject.Namespace, Name: e.Subject.Name}
	}
	f.Replaces = slices.ContainsFunc(f.Changes, b.replaces)
	b.change(f.Changes)
	b.release(f.Claims)
	b.end(f.Pods)
	for _, one := range f.Ends {
		b.add(b.kubectl("delete", b.of(one.Kind, one.Name), "-n", b.name(one.Namespace)))
	}
	for _, kind := range append([]explain.FixKind{f.Kind}, f.Also...) {
		b.act(kind, f, e)
	}
	if f.Recounts != nil {
		b.countAnew(f)
	}
	f.Commands, f.Remarks = b.written()
}

// act writes what a fix of a kind, or the part of a fix that is of the kind, does besides changing objects
// and ending pods.
func (b *builder) act(kind explain.FixKind, f *explain.Fix, e *explain.Explanation) {
	switch kind {
	case explain.UncordonNode:
		b.add(b.kubectl("uncordon", b.name(string(f.Node))))
	case explain.LabelNamespace:
		b.add(b.kubectl("label", "namespace", b.name(e.Subject.Namespace), resourcev1.DRAAdminNamespaceLabelKey+"=true", "--overwrite"))
	case explain.UseNode:
		b.admit(f.Node)
	case explain.RemoveTaint:
		b.deleteRules(f.TaintRules)
	case explain.WaitFor:
		b.resume(e.Workload, f.Patch)
	}
}

// countAnew writes what makes Kueue count the devices of a workload that waits anew: it does so when the
// workload changes, and not when a template does.
func (b *builder) countAnew(f *explain.Fix) {
	if len(b.asked.Files) > 0 || b.asked.Once {
		return
	}
	for _, c := range f.Changes {
		if template, ok := b.s.Template(c.Namespace, c.Name); ok && c.Kind == "ResourceClaimTemplate" {
			b.add(b.kubectl("label", b.of("workload.kueue.x-k8s.io", f.Recounts.Name), "-n", b.name(f.Recounts.Namespace), "--overwrite",
				"kubectl-dra.dev/replaced-template="+b.name(string(template.UID))))
			b.remark("Kueue counts devices anew when its Workload changes, not when a template does. So this changes a label of the Workload.")
		}
	}
}

// written are the commands and remarks that were collected. There are no commands if one of them could not be
// written safely.
func (b *builder) written() (commands, remarks []string) {
	if b.refused {
		b.lines = nil
	}
	if b.asked.Demo && len(b.lines) > 0 {
		b.remark("The demo has no API server: if you paste this, it goes to the cluster that your kubectl is set to.")
	}
	return b.lines, b.remarks
}

// Selector is the value of --fix for the i-th fix of an explanation, which may be one of several.
func Selector(e *explain.Explanation, i int, several bool) string {
	number := fmt.Sprint(i + 1)
	if !several {
		return number
	}
	kind, name := e.Subject.Kind, e.Subject.Name
	if e.Workload != nil {
		kind, name = e.Workload.Kind, e.Workload.Name
	}
	kind = strings.ToLower(kind)
	switch kind {
	case "resourceclaim":
		kind = "claim"
	case "resourceclaimtemplate":
		kind = "template"
	}
	return kind + "/" + name + ":" + number
}

// builder collects the commands of a fix.
type builder struct {
	writer
	s     *inspect.Snapshot
	asked Asked
	fix   string // the value of --fix
	// asking is the pod that was asked about. It is not ended to make room for itself.
	asking inspect.PodRef
	// alike are others than the subject that are changed in the same way.
	subject explain.Subject
	alike   []explain.Subject
	lines   []string
	remarks []string
}

// add adds a command, once.
func (b *builder) add(line string) { b.lines = words.AppendNew(b.lines, line) }

func (b *builder) remark(text string) { b.remarks = words.AppendNew(b.remarks, text) }

// resume writes what makes the controller of a workload make pods.
func (b *builder) resume(w *explain.Workload, patch []explain.PatchOperation) {
	if w == nil || len(patch) == 0 || len(b.asked.Files) > 0 || b.asked.Once {
		return
	}
	if text, err := json.Marshal(patch); err == nil {
		b.add(b.kubectl("patch", b.of(w.Kind, w.Name), "-n", w.Namespace, "--type=json", "-p", string(text)))
	}
}

// deleteRules writes what deletes DeviceTaintRules.
func (b *builder) deleteRules(rules []explain.TaintRule) {
	names := words.Each(rules, func(r explain.TaintRule) string { return b.name(r.Name) })
	b.add(b.kubectl(append([]string{"delete", "devicetaintrule"}, names...)...))
}

// manifests is the command that prints the changed objects.
func (b *builder) manifests() string {
	return b.command(append(append([]string{"kubectl", "dra", "explain"}, b.asked.Args...), "--fix", b.fix, "-o", "yaml")...)
}

// change writes what changes objects.
func (b *builder) change(changes []explain.ObjectChange) {
	var written, inPlace []explain.ObjectChange
	for _, c := range changes {
		if c.InPlace && (c.Kind == "ClusterQueue" || len(b.asked.Files) == 0 && !b.asked.Once) { // which is in no file
			inPlace = append(inPlace, c)
			continue
		}
		var names []string
		for _, own := range b.each(c) {
			if made := b.controllerOf(own); made != nil {
				b.changeController(own, *made)
			} else if !slices.Contains(names, own.Name) {
				names = append(names, b.name(own.Name))
			}
		}
		switch {
		case len(names) > 0 && len(b.alike) > 0:
			b.changeEach(c, names)
		case len(names) > 0:
			written = append(written, c)
		}
	}
	b.write(written)
	for _, c := range inPlace { // at the end: the commands above ask again
		b.patch(c)
	}
}

// write writes what changes objects, or makes them anew.
func (b *builder) write(written []explain.ObjectChange) {
	switch {
	case len(written) == 0:
		return
	case b.asked.Once:
		b.remark("The same question with --fix " + b.fix + " -o yaml prints what is to be applied.")
		b.replaced(written)
	case len(b.asked.Files) > 0:
		b.changeFile(written)
	default:
		b.changeObjects(written)
	}
	for _, c := range written {
		if c.Kind == "ResourceClaimTemplate" {
			b.remake(c, written)
		}
	}
}

// replaces reports whether a change replaces an object: its own, or that of the controller that makes the
// pod.
func (b *builder) replaces(c explain.ObjectChange) bool {
	if made := b.controllerOf(c); made != nil {
		return immutable[made.Kind]
	}
	return immutable[c.Kind] && !c.Creates && !c.InPlace
}

// patch writes what changes an object in place.
func (b *builder) patch(c explain.ObjectChange) {
	text, err := json.Marshal(c.Patch)
	if err != nil {
		return
	}
	command := []string{"patch", b.of(c.Kind, c.Name), "--type=json", "-p", string(text)}
	if c.Namespace != "" {
		command = append(command, "-n", b.name(c.Namespace))
	}
	b.add(b.kubectl(command...))
}

// changeObjects writes what changes objects of the cluster.
func (b *builder) changeObjects(changes []explain.ObjectChange) {
	creates := slices.ContainsFunc(changes, func(c explain.ObjectChange) bool { return c.Creates })
	replaced := b.replaced(changes)
	switch {
	case creates:
		file := "fix-" + strings.NewReplacer("/", "-", ":", "-").Replace(b.fix) + ".yaml"
		b.add(b.manifests() + " > " + b.command(file))
		b.delete(replaced)
		b.add(b.kubectl("apply", "-f", file))
		b.remark("Say in spec.selectors what a new class selects before you create it: as it is printed, it selects every device.")
	case len(replaced) == len(changes):
		b.add(b.manifests() + " | " + b.kubectl("replace", "--force", "-f", "-"))
	case len(replaced) == 0:
		b.add(b.manifests() + " | " + b.kubectl("replace", "-f", "-"))
	default:
		b.delete(replaced)
		b.add(b.manifests() + " | " + b.kubectl("apply", "-f", "-"))
	}
}

// changeFile writes what changes a file and then the objects in it.
func (b *builder) changeFile(changes []explain.ObjectChange) {
	file := "changed.yaml"
	if len(b.asked.Files) == 1 {
		file = changedFile(b.asked.Files[0])
	}
	b.add(b.manifests() + " > " + b.command(file))
	b.delete(b.replaced(changes))
	b.add(b.kubectl("apply", "-f", file))
}

// changedFile is where the changed content of a file is put.
func changedFile(file string) string {
	extension := filepath.Ext(file)
	return strings.TrimSuffix(file, extension) + ".changed" + extension
}

// replaced are the objects that have to be deleted and created anew. It says so.
func (b *builder) replaced(changes []explain.ObjectChange) []explain.ObjectChange {
	var out []explain.ObjectChange
	for _, c := range changes {
		if immutable[c.Kind] && !c.Creates && !c.InPlace {
			out = append(out, c)
			b.remark(fmt.Sprintf("The spec of a %s is immutable, so this deletes and recreates it.", c.Kind))
		}
	}
	return out
}

// delete writes what deletes objects, which need not exist.
func (b *builder) delete(objects []explain.ObjectChange) {
	for _, c := range objects {
		b.add(b.kubectl("delete", b.of(c.Kind, c.Name), "-n", c.Namespace, "--ignore-not-found"))
	}
}
