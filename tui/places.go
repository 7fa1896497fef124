package tui

import (
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/explain/admission"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/spell"
	"github.com/kubectl-dra/kubectl-dra/tui/record"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// place is where ":" can go.
type place struct {
	text string // as typed
	note string // what it is, in a few words
	view string
	ref  screen.Ref
	// namespace is the one to which the view is narrowed, or allNamespaces. If it is empty, that stays as it
	// is.
	namespace string
	page      screen.Page // about what would be; "" for other places
	quit      bool
	context   string // of Options.Contexts
	choose    bool   // among these
}

// found are the places that a text may mean, or, if there are none, those that are spelt like it.
type found struct {
	text string
	hits []place
	like []place
}

// find looks for the places that a text may mean.
func find(all []place, text string) found {
	f := found{text: text, hits: search(all, text)}
	if len(f.hits) == 0 {
		f.like = likePlaces(all, text)
	}
	return f
}

// likePlaces are places that are spelt like a text, of the kind that it names if it does.
func likePlaces(all []place, text string) (out []place) {
	words := strings.Fields(asPlace(text))
	if len(words) == 0 {
		return nil
	}
	wanted := words[len(words)-1]
	names := map[string][]place{}
	for _, p := range all {
		kind, _, _ := strings.Cut(p.text, " ")
		name := p.text
		if p.ref.Kind != screen.None {
			name = p.ref.Name[strings.LastIndexByte(p.ref.Name, '/')+1:] // of a device, and of a pool
		}
		if len(words) == 1 || kind == words[0] {
			names[name] = append(names[name], p)
		}
	}
	for _, name := range spell.Meant(wanted, slices.Sorted(maps.Keys(names))) {
		out = append(out, names[name][0])
	}
	return out
}

// narrowed are the views of which a text names one and a namespace: pods infer.
func narrowed(all []place, text string) (out []place) {
	words := strings.Fields(asPlace(text))
	if len(words) != 2 {
		return nil
	}
	for _, v := range viewTable {
		singular := slices.Contains(kindWords, words[0]) && slices.Contains([]string{words[0] + "s", words[0] + "es"}, v.name)
		if v.name != words[0] && !singular {
			continue
		}
		for _, p := range all {
			if p.ref.Kind == screen.Namespace && (p.ref.Name == words[1] || !singular && strings.HasPrefix(p.ref.Name, words[1])) {
				out = append(out, place{text: v.name + " " + p.ref.Name, note: "view, in one namespace", view: v.name, namespace: p.ref.Name})
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
	"ctx": contextWord, "contexts": contextWord,
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
	if plain := aliases[word]; plain != "" && (rest == "" || plain == contextWord || slices.Contains(kindWords, plain)) {
		word = plain
	}
	if rest == "" && word == "namespace" && !named {
		word = "namespaces"
	}
	return strings.TrimSpace(word + " " + strings.TrimSpace(rest))
}

// kindWords are what places that are objects begin with.
var kindWords = []string{"claim", "pod", "node", "device", "class", "template", "rule", "driver", "pool", "namespace", "queue", "workload"}

// commands are the places that are there whatever the cluster has; queued says that it has Kueue.
func commands(o *Options, queued bool) []place {
	var all []place
	for i, v := range viewTable {
		note := "view"
		switch {
		case i == numbered && !queued:
			continue
		case i <= numbered:
			note = "view, also key " + viewKey(i)
		}
		all = append(all, place{text: v.name, note: note, view: v.name})
	}
	all = append(all, place{text: "namespace " + allNamespaces, note: "show all namespaces", ref: screen.Ref{Kind: screen.Namespace, Name: allNamespaces}})
	if len(o.Contexts) > 0 {
		all = append(all, place{text: contextWord, note: "go to another cluster", choose: true})
	}
	return append(all, place{text: "quit", note: "leave", quit: true})
}

// contextWord is what places that are contexts begin with.
const contextWord = "context"

// contexts are the clusters of the kubeconfig, as places.
func contexts(o *Options) []place {
	var all []place
	for _, name := range o.Contexts {
		p := place{text: contextWord + " " + name, note: "another cluster", context: name}
		if name == o.Context {
			p.note = "the cluster that is shown"
		}
		all = append(all, p)
	}
	return all
}

// places lists where one can go in a world, views first. It takes time.
func places(o *Options, w *screen.World) []place {
	all := append(commands(o, w.Snapshot != nil && admission.Here(w.Snapshot)), contexts(o)...)
	if w.Snapshot == nil {
		return all
	}
	objects := w.Snapshot.Objects()
	add := func(kind screen.Kind, word, view, namespace, name string) {
		ref := screen.Ref{Kind: kind, Namespace: namespace, Name: name}
		all = append(all, place{text: word + " " + ref.String(), view: view, ref: ref})
	}
	for _, c := range objects.Claims {
		add(screen.Claim, "claim", "claims", c.Namespace, c.Name)
	}
	for _, n := range w.Snapshot.Nodes() {
		if n.Name != string(inspect.PseudoNode) {
			add(screen.Node, "node", "nodes", "", n.Name)
		}
	}
	for _, p := range objects.Pods {
		add(screen.Pod, "pod", "", p.Namespace, p.Name)
	}
	for _, t := range objects.Templates {
		add(screen.Template, "template", "", t.Namespace, t.Name)
	}
	for _, c := range objects.Classes {
		add(screen.Class, "class", "", "", c.Name)
	}
	for _, q := range objects.ClusterQueues {
		add(screen.ClusterQueue, "queue", "queues", "", q.Name)
	}
	for _, q := range objects.KueueWorkloads {
		add(screen.QueuedWorkload, "workload", "", q.Namespace, q.Name)
	}
	for _, r := range objects.TaintRules {
		add(screen.TaintRule, "rule", "", "", r.Name)
	}
	for _, d := range w.Inventory().Drivers {
		add(screen.Driver, "driver", "", "", d.Driver)
	}
	for _, stock := range w.Inventory().Stocks {
		id := stock.Pool.ID
		add(screen.Pool, "pool", "", "", id.Driver+"/"+id.Pool)
	}
	devices := w.Devices()
	for i := range devices {
		add(screen.Device, "device", "devices", "", devices[i].ID.String())
	}
	for _, name := range record.Namespaces(objects) {
		add(screen.Namespace, "namespace", "", "", name)
	}
	return all
}

// search returns the places that a text may mean, the best first.
func search(all []place, text string) []place {
	if plans := planned(all, text); len(plans) > 0 {
		return plans
	}
	text = asPlace(text)
	var hits []place
	for _, p := range all {
		if hasWords(strings.ToLower(p.text), strings.ToLower(text)) {
			hits = append(hits, p)
		}
	}
	slices.SortStableFunc(hits, func(a, b place) int { return closeness(b, text) - closeness(a, text) })
	if len(hits) > 0 && closeness(hits[0], text) >= named {
		return append(hits, narrowed(all, text)...)
	}
	return append(narrowed(all, text), hits...)
}

// named is the closeness of a place of which the name was typed in full.
const named = 3

// closeness is how well a place fits to what was typed, of which the last word is the name.
func closeness(p place, text string) int {
	words := strings.Fields(text)
	if len(words) == 0 {
		return 0
	}
	name := words[len(words)-1]
	kind, _, _ := strings.Cut(p.text, " ")
	switch {
	case p.text == text:
		return 4
	case len(words) > 1 && kind != words[0]:
		return 0 // the kind was named, and it is another one
	case p.ref.Name == name, p.ref.String() == name, strings.HasSuffix(p.ref.Name, "/"+name):
		return named
	case strings.HasPrefix(p.text, text) && p.ref.Kind == screen.None:
		return 2
	case strings.HasPrefix(p.text, text), p.ref.Name != "" && strings.HasPrefix(p.ref.Name, name):
		return 1
	}
	return 0
}

// planned are the pages about what would be that a text names, in the words of kubectl dra plan: drain NODE,
// plan lose device NAME.
func planned(all []place, text string) (out []place) {
	words := strings.Fields(text)
	if len(words) > 0 && words[0] == "plan" {
		words = words[1:]
	}
	if len(words) < 2 || !disruptive(screen.Page(words[0])) {
		return nil
	}
	page := screen.Page(words[0])
	wanted := asPlace(strings.Join(words[1:], " "))
	for _, p := range all {
		if p.ref.Name != allNamespaces && slices.Contains(pageTable[page].kinds, p.ref.Kind) && hasWords(p.text, wanted) {
			out = append(out, p)
		}
	}
	slices.SortStableFunc(out, func(a, b place) int { return closeness(b, wanted) - closeness(a, wanted) })
	for i, p := range out {
		out[i] = place{text: string(page) + " " + p.text, note: "what would be; nothing is written", ref: p.ref, page: page}
	}
	return out
}
