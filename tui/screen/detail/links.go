package detail

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

func claimLink(ref inspect.ClaimRef) styled.Span {
	return screen.LinkTo(screen.Ref{Kind: screen.Claim, Namespace: ref.Namespace, Name: ref.Name}, ref.String())
}

func podLink(ref inspect.PodRef) styled.Span {
	return screen.LinkTo(screen.Ref{Kind: screen.Pod, Namespace: ref.Namespace, Name: ref.Name}, ref.Name)
}

func nodeLink(name string) styled.Span { return plainLink(screen.Node, name) }

func deviceLink(id inspect.DeviceID) styled.Span {
	return screen.LinkTo(screen.DeviceRef(id), id.String())
}

func plainLink(kind screen.Kind, name string) styled.Span {
	return screen.LinkTo(screen.Ref{Kind: kind, Name: name}, name)
}

// linkField adds a field that leads somewhere. Without a text it adds none.
func (s *sheet) linkField(name string, link styled.Span) {
	if link.Text != "" {
		s.spans(name, link)
	}
}

// belongs adds the namespace of an object, as a link.
func (s *sheet) belongs(o screen.Object) {
	s.linkField("namespace", plainLink(screen.Namespace, o.GetNamespace()))
}

// mostListed is how many objects a page lists: more could not be read, and would make the page slow.
const mostListed = 200

// addList adds a section with some objects, if there are any, not more than are listed.
func addList[T any](s *sheet, title, what string, all []T, add func(T)) {
	if len(all) == 0 {
		return
	}
	s.section("%s", title)
	for _, one := range all[:min(len(all), mostListed)] {
		add(one)
	}
	s.rest(len(all), what)
}

// rest says how many more there are than were listed.
func (s *sheet) rest(n int, what string) {
	if n > mostListed {
		s.spans("", dim(fmt.Sprintf("… and %d more %s", n-mostListed, what)))
	}
}

// claimState is the state of a claim, in the colours of the list of claims.
func claimState(c *resourcev1.ResourceClaim) styled.Span {
	role := styled.Plain
	state := inspect.StateOf(c)
	switch state {
	case inspect.ClaimReserved:
		role = styled.Good
	case inspect.ClaimPending, inspect.ClaimDeleting:
		role = styled.Warn
	}
	return styled.Span{Text: "  " + strings.ToLower(string(state)), Role: role}
}

// stage is how far a pod is, in the word of the list of pods.
func stage(p *corev1.Pod) string {
	if _, refused := screen.Refused(p); refused {
		return "✗ refused"
	}
	return strings.ToLower(string(p.Status.Phase))
}

// phase is how far a pod is.
func phase(p *corev1.Pod) styled.Span {
	role := styled.Plain
	switch _, refused := screen.Refused(p); {
	case refused:
		role = styled.Bad
	case p.Status.Phase == corev1.PodPending:
		role = styled.Warn
	}
	return styled.Span{Text: "  " + stage(p), Role: role}
}
