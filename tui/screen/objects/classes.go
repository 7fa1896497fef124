package objects

import (
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/listing"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// class is a DeviceClass and who names it.
type class struct {
	ref               screen.Ref
	selects, extended string
	claims, templates int
	age               screen.Age
}

// NewClasses makes the list of device classes.
func NewClasses(about About) screen.Screen {
	return newList(about, listing.Config[class]{
		Noun: "classes", Resources: []inspect.Resource{inspect.Classes}, Build: buildClasses,
		Ref: func(c *class) screen.Ref { return c.ref },
		Columns: []listing.Column[class]{
			name("NAME", func(c *class) string { return c.ref.Name }),
			plainNumber("CLAIMS", func(c *class) int { return c.claims }),
			ranked(1, plainNumber("TEMPLATES", func(c *class) int { return c.templates })),
			ranked(3, text("EXTENDED RESOURCE", func(c *class) string { return c.extended })),
			spare(text("SELECTS", func(c *class) string { return c.selects })),
			ranked(2, age(func(c *class) screen.Age { return c.age })),
		},
	})
}

func buildClasses(_ context.Context, w *screen.World) ([]class, error) {
	o := w.Snapshot.Objects()
	claims, templates := map[string]int{}, map[string]int{}
	for _, c := range o.Claims {
		countClasses(claims, &c.Spec)
	}
	for _, t := range o.Templates {
		countClasses(templates, &t.Spec.Spec)
	}
	rows := make([]class, 0, len(o.Classes))
	for _, c := range o.Classes {
		row := class{
			ref:    screen.Ref{Kind: screen.Class, Name: c.Name},
			claims: claims[c.Name], templates: templates[c.Name], extended: ptr.Deref(c.Spec.ExtendedResourceName, ""),
			selects: "every device", age: w.Age(c.CreationTimestamp.Time),
		}
		if len(c.Spec.Selectors) > 0 {
			row.selects = strings.Join(words.Each(screen.Expressions(c.Spec.Selectors), words.OneLine), " && ")
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// countClasses counts a spec once for each class that it names.
func countClasses(counts map[string]int, spec *resourcev1.ResourceClaimSpec) {
	for _, name := range screen.ClassesOf(spec) {
		counts[name]++
	}
}

// template is a ResourceClaimTemplate and who uses it.
type template struct {
	ref  screen.Ref
	asks string
	pods int
	age  screen.Age
}

// NewTemplates makes the list of claim templates.
func NewTemplates(about About) screen.Screen {
	return newList(about, listing.Config[template]{
		Noun: "templates", Resources: []inspect.Resource{inspect.Templates}, Build: buildTemplates,
		Ref: func(t *template) screen.Ref { return t.ref },
		Columns: []listing.Column[template]{
			ranked(2, text("NAMESPACE", func(t *template) string { return t.ref.Namespace })),
			name("NAME", func(t *template) string { return t.ref.Name }),
			text("ASKS FOR", func(t *template) string { return t.asks }),
			plainNumber("PODS", func(t *template) int { return t.pods }),
			ranked(1, age(func(t *template) screen.Age { return t.age })),
		},
		Groupings: []listing.Grouping[template]{{Name: "namespace", Of: func(t *template) string { return inspect.Sanitize(t.ref.Namespace) }}},
	})
}

func buildTemplates(_ context.Context, w *screen.World) ([]template, error) {
	o := w.Snapshot.Objects()
	pods := map[screen.Ref]int{}
	for _, p := range o.Pods {
		for ref := range templatesOf(p) {
			pods[ref]++
		}
	}
	var rows []template
	for _, t := range o.Templates {
		if !w.InNamespace(t.Namespace) {
			continue
		}
		ref := screen.Ref{Kind: screen.Template, Namespace: t.Namespace, Name: t.Name}
		rows = append(rows, template{ref: ref, asks: screen.Asks(&t.Spec.Spec), pods: pods[ref], age: w.Age(t.CreationTimestamp.Time)})
	}
	return rows, nil
}

// templatesOf are the templates that a pod names.
func templatesOf(p *corev1.Pod) map[screen.Ref]bool {
	named := map[screen.Ref]bool{}
	for i := range p.Spec.ResourceClaims {
		if t := p.Spec.ResourceClaims[i].ResourceClaimTemplateName; t != nil {
			named[screen.Ref{Kind: screen.Template, Namespace: p.Namespace, Name: *t}] = true
		}
	}
	return named
}
