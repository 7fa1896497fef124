package places

import (
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/spell"
	"github.com/kubectl-dra/kubectl-dra/tui/record"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// Place is where ":" can go.
type Place struct {
	Text string // as typed
	Note string // what it is, in a few words
	View string
	Ref  screen.Ref
	// Namespace is the one to which the view is narrowed, or AllNamespaces. If it is empty, that stays as it
	// is.
	Namespace string
	Page      screen.Page // about what would be; "" for other places
	Quit      bool
	Context   string // of Index.Contexts
	Choose    bool   // among these
}

// Index is where one can go whatever the cluster has.
type Index struct {
	Views []View
	// Contexts are the names of clusters, of which Context is the one that is shown.
	Contexts []string
	Context  string
	// World is what notes of objects tell of. It may be nil.
	World *screen.World
	// Plans are the pages about what would be, and the kinds of what they are about.
	Plans map[screen.Page][]screen.Kind
}

// View is a view, and the key that leads there, if one does.
type View struct{ Name, Key string }

// Found are the places that a text may mean, or, if there are none, those that are spelt like it.
type Found struct {
	Text       string
	Hits, Like []Place
}

// Find looks for the places that a text may mean.
func (x *Index) Find(all []Place, text string) Found {
	f := Found{Text: text, Hits: x.search(all, text)}
	if len(f.Hits) == 0 {
		f.Like = likePlaces(all, text)
	}
	if len(f.Hits)+len(f.Like) == 0 {
		f.Hits = loosely(all, text)
	}
	for i := range f.Hits[:min(len(f.Hits), mostNotes)] {
		if p := &f.Hits[i]; p.Note == "" && x.World != nil {
			p.Note = note(x.World, p.Ref)
		}
	}
	return f
}

// mostNotes is how many objects something is told of beside their names.
const mostNotes = 30

// loosely are the objects that have the characters of the last word in their names, in order: b3/3 may mean
// gpu-b-03/gpu-3. Words before it are the kind.
func loosely(all []Place, text string) (out []Place) {
	text = strings.ToLower(asPlace(text))
	name := text[strings.LastIndexByte(text, ' ')+1:]
	for _, p := range all {
		if p.Ref.Kind != screen.None && spell.Loosely(strings.ToLower(p.Ref.String()), name) && HasWords(p.Text, text[:len(text)-len(name)]) {
			out = append(out, p)
		}
	}
	return out
}

// note tells of a pod where it is, and of a device who has it and since when.
func note(w *screen.World, ref screen.Ref) string {
	switch ref.Kind {
	case screen.Pod:
		pod, ok := w.Snapshot.Pod(inspect.PodRef{Namespace: ref.Namespace, Name: ref.Name})
		switch {
		case !ok || inspect.Ended(pod):
		case pod.Spec.NodeName != "":
			return "on " + pod.Spec.NodeName
		default:
			return "waits for a node"
		}
	case screen.Device:
		d, _ := screen.FindDevice(w, ref)
		for _, h := range d.Holders {
			if !h.Admin() {
				return "held by " + h.Claim.String() + screen.HeldFor(w, h.Claim)
			}
		}
	case screen.Claim:
		if claim, ok := w.Snapshot.Claim(inspect.ClaimRef{Namespace: ref.Namespace, Name: ref.Name}); ok {
			if node := inspect.AllocationNode(claim.Status.Allocation); node != "" {
				return "on " + string(node)
			}
		}
	}
	return ""
}

// likePlaces are places that are spelt like a text, of the kind that it names if it does.
func likePlaces(all []Place, text string) (out []Place) {
	typed := strings.Fields(asPlace(text))
	if len(typed) == 0 {
		return nil
	}
	wanted := typed[len(typed)-1]
	names := map[string][]Place{}
	for _, p := range all {
		kind, _, _ := strings.Cut(p.Text, " ")
		name := p.Text
		if p.Ref.Kind != screen.None {
			name = p.Ref.Name[strings.LastIndexByte(p.Ref.Name, '/')+1:] // of a device, and of a pool
		}
		if len(typed) == 1 || kind == typed[0] {
			names[name] = append(names[name], p)
		}
	}
	for _, name := range spell.Meant(wanted, slices.Sorted(maps.Keys(names))) {
		out = append(out, names[name][0])
	}
	return out
}

// narrowed are the views of which a text names one and a Namespace: pods infer.
func (x *Index) narrowed(all []Place, text string) (out []Place) {
	typed := strings.Fields(asPlace(text))
	if len(typed) != 2 {
		return nil
	}
	for _, v := range x.Views {
		singular := slices.Contains(kindWords, typed[0]) && slices.Contains([]string{typed[0] + "s", typed[0] + "es"}, v.Name)
		if v.Name != typed[0] && !singular {
			continue
		}
		for _, p := range all {
			if p.Ref.Kind == screen.Namespace && (p.Ref.Name == typed[1] || !singular && strings.HasPrefix(p.Ref.Name, typed[1])) {
				out = append(out, Place{Text: v.Name + " " + p.Ref.Name, Note: "view, in one namespace", View: v.Name, Namespace: p.Ref.Name})
			}
		}
	}
	return out
}

// aliases are other words for what places begin with, as kubectl and others use them.
var aliases = map[string]string{
	"po": "pod", "no": "node", "rc": "claim", "resourceclaim": "claim", "resourceclaims": "claims",
	"resourceclaimtemplate": "template", "resourceclaimtemplates": "templates", "rct": "template",
	"deviceclass": "class", "deviceclasses": "classes", "devicetaintrule": "rule", "devicetaintrules": "rules", "taints": "rules",
	"resourceslice": "pool", "resourceslices": "pools", "slices": "pools",
	"ns": "namespace", "namespaces": "namespaces", "why": "causes", "apf": "priority", "csc": "storage", "exit": "quit", "quit!": "quit", "q!": "quit", "q": "quit",
	"ctx": ContextWord, "contexts": ContextWord,
}

// asPlace is a text in the words of places: claim/train-0 and rc train-0 mean claim train-0.
func asPlace(text string) string {
	named := strings.HasSuffix(text, " ") || strings.HasSuffix(text, "/") // the kind is, and a name is to come
	text = strings.TrimSpace(text)
	word, rest, spaced := strings.Cut(text, " ")
	if !spaced {
		if kind, name, ok := strings.Cut(text, "/"); ok && (slices.Contains(kindWords, kind) || aliases[kind] != "") {
			word, rest = kind, name
		}
	}
	if plain := aliases[word]; plain != "" && (rest == "" || plain == ContextWord || slices.Contains(kindWords, plain)) {
		word = plain
	}
	if rest == "" && word == "namespace" && !named {
		word = "namespaces"
	}
	return strings.TrimSpace(word + " " + strings.TrimSpace(rest))
}

// kindWords are what places that are objects begin with.
var kindWords = []string{"claim", "pod", "node", "device", "class", "template", "rule", "driver", "pool", "namespace", "queue", "workload"}

// Commands are the places that are there whatever the cluster has.
func (x *Index) Commands() []Place {
	all := words.Each(x.Views, func(v View) Place {
		if v.Key == "" {
			return Place{Text: v.Name, Note: "view", View: v.Name}
		}
		return Place{Text: v.Name, Note: "view, also key " + v.Key, View: v.Name}
	})
	all = append(all, Place{Text: "namespace " + AllNamespaces, Note: "show all namespaces", Ref: screen.Ref{Kind: screen.Namespace, Name: AllNamespaces}})
	if len(x.Contexts) > 0 {
		all = append(all, Place{Text: ContextWord, Note: "go to another cluster", Choose: true})
	}
	return append(all, Place{Text: "quit", Note: "leave", Quit: true})
}

const (
	// ContextWord is what places that are contexts begin with.
	ContextWord = "context"
	// AllNamespaces is how all of them are asked for.
	AllNamespaces = "all"
)

// Others are the contexts.
func (x *Index) Others() []Place {
	return words.Each(x.Contexts, func(name string) Place {
		p := Place{Text: ContextWord + " " + name, Note: "another cluster", Context: name}
		if name == x.Context {
			p.Note = "the cluster that is shown"
		}
		return p
	})
}

// In lists where one can go in a world, views first. It takes time.
func (x *Index) In(w *screen.World) []Place {
	all := append(x.Commands(), x.Others()...)
	if w.Snapshot == nil {
		return all
	}
	add := func(word, view string, refs []screen.Ref) {
		for _, ref := range refs {
			all = append(all, Place{Text: word + " " + ref.String(), View: view, Ref: ref})
		}
	}
	o := w.Snapshot.Objects()
	add("claim", "claims", screen.RefsOf(screen.Claim, o.Claims))
	add("node", "nodes", slices.DeleteFunc(screen.RefsOf(screen.Node, w.Snapshot.Nodes()), func(r screen.Ref) bool { return r.Name == string(inspect.PseudoNode) }))
	add("pod", "", screen.RefsOf(screen.Pod, o.Pods))
	add("template", "", screen.RefsOf(screen.Template, o.Templates))
	add("class", "", screen.RefsOf(screen.Class, o.Classes))
	add("queue", "queues", screen.RefsOf(screen.ClusterQueue, o.ClusterQueues))
	add("workload", "", screen.RefsOf(screen.QueuedWorkload, o.KueueWorkloads))
	add("rule", "", screen.RefsOf(screen.TaintRule, o.TaintRules))
	add("driver", "", words.Each(w.Inventory().Drivers, func(d inspect.DriverStatus) screen.Ref { return screen.Ref{Kind: screen.Driver, Name: d.Driver} }))
	add("pool", "", words.Each(w.Inventory().Stocks, func(s *inspect.Stock) screen.Ref { return screen.PoolRef(s.Pool.ID) }))
	add("device", "devices", words.Each(w.Devices(), func(d inspect.DeviceStatus) screen.Ref { return screen.DeviceRef(d.ID) }))
	add("namespace", "", words.Each(record.Namespaces(o), func(name string) screen.Ref { return screen.Ref{Kind: screen.Namespace, Name: name} }))
	return all
}

// search returns the places that a text may mean, the best first.
func (x *Index) search(all []Place, text string) []Place {
	if plans := x.planned(all, text); len(plans) > 0 {
		return plans
	}
	text = asPlace(text)
	var hits []Place
	for _, p := range all {
		if HasWords(strings.ToLower(p.Text), strings.ToLower(text)) {
			hits = append(hits, p)
		}
	}
	slices.SortStableFunc(hits, func(a, b Place) int { return closeness(b, text) - closeness(a, text) })
	if len(hits) > 0 && closeness(hits[0], text) >= named {
		return append(hits, x.narrowed(all, text)...)
	}
	return append(x.narrowed(all, text), hits...)
}

// named is the closeness of a place of which the name was typed in full.
const named = 3

// closeness is how well a place fits to what was typed, of which the last word is the name.
func closeness(p Place, text string) int {
	typed := strings.Fields(text)
	if len(typed) == 0 {
		return 0
	}
	name := typed[len(typed)-1]
	kind, _, _ := strings.Cut(p.Text, " ")
	switch {
	case p.Text == text:
		return 4
	case len(typed) > 1 && kind != typed[0]:
		return 0 // the kind was named, and it is another one
	case p.Ref.Name == name, p.Ref.String() == name, strings.HasSuffix(p.Ref.Name, "/"+name):
		return named
	case strings.HasPrefix(p.Text, text) && p.Ref.Kind == screen.None:
		return 2
	case strings.HasPrefix(p.Text, text), p.Ref.Name != "" && strings.HasPrefix(p.Ref.Name, name):
		return 1
	}
	return 0
}

// planned are the pages about what would be that a text names, in the words of kubectl dra plan: drain NODE,
// plan lose device NAME.
func (x *Index) planned(all []Place, text string) (out []Place) {
	typed := strings.Fields(text)
	if len(typed) > 0 && typed[0] == "plan" {
		typed = typed[1:]
	}
	if len(typed) < 2 {
		return nil
	}
	page := screen.Page(typed[0])
	wanted := asPlace(strings.Join(typed[1:], " "))
	for _, p := range all {
		if p.Ref.Name != AllNamespaces && slices.Contains(x.Plans[page], p.Ref.Kind) && HasWords(p.Text, wanted) {
			out = append(out, p)
		}
	}
	slices.SortStableFunc(out, func(a, b Place) int { return closeness(b, wanted) - closeness(a, wanted) })
	for i, p := range out {
		out[i] = Place{Text: string(page) + " " + p.Text, Note: "what would be; nothing is written", Ref: p.Ref, Page: page}
	}
	return out
}

// HasWords reports whether a text has all of some words.
func HasWords(text, words string) bool {
	return !slices.ContainsFunc(strings.Fields(words), func(word string) bool { return !strings.Contains(text, word) })
}
