package nodes

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// meaning is what colours and marks of used devices tell.
type meaning int

// The meanings, in the order in which a key goes through them.
const (
	byState meaning = iota
	byNamespace
	byOwner
	meanings
)

func (m meaning) String() string { return [...]string{"state", "namespace", "owner"}[m] }

// tag is what marks the devices of a namespace, or of an owner.
type tag struct {
	name   string
	letter string
	role   styled.Role
	count  int // of devices
}

const (
	// several marks a device that is shared by more than one of them.
	severalMark = "*"
	// others marks those that have too few devices for a letter of their own.
	othersMark = "+"
	mostTags   = 40
)

// tagRoles are the colours of tags, in turn. Letters tell them apart where colours repeat, or are none.
var tagRoles = []styled.Role{styled.Used, styled.Accent, styled.Warn, styled.Name, styled.Good, styled.Supposed}

// tagger finds out whose each device is.
type tagger struct {
	by     meaning
	s      *inspect.Snapshot
	owners map[inspect.ClaimRef]string
	tags   map[string]*tag
}

// mark gives every used device of the rows the tag of whom it is, and returns the tags, those with most
// devices first.
func mark(rows []row, by meaning, w *screen.World) []*tag {
	if by == byState {
		return nil
	}
	t := &tagger{by: by, s: w.Snapshot, owners: map[inspect.ClaimRef]string{}, tags: map[string]*tag{}}
	for i := range rows {
		for j := range rows[i].drivers {
			p := &rows[i].drivers[j]
			for k, d := range p.devices {
				name := t.of(d)
				if name == "" {
					continue
				}
				if t.tags[name] == nil {
					t.tags[name] = &tag{name: name}
				}
				t.tags[name].count++
				p.tags[k] = t.tags[name]
			}
		}
	}
	all := t.letters()
	for _, one := range all {
		if role, ok := w.Owners[one.name]; ok {
			one.role = role
		}
	}
	return all
}

// of names whom a device is taken by, several of them as severalMark; it is empty if nobody has taken it.
func (t *tagger) of(d *inspect.DeviceStatus) string {
	name := ""
	for _, h := range d.Holders {
		if h.Admin() {
			continue
		}
		next := t.name(h.Claim)
		if name != "" && name != next {
			return severalMark
		}
		name = next
	}
	return name
}

func (t *tagger) name(claim inspect.ClaimRef) string {
	if t.by == byNamespace {
		return claim.Namespace
	}
	name, known := t.owners[claim]
	if !known {
		name = ownerOf(t.s, claim).String()
		t.owners[claim] = name
	}
	return name
}

// ownerOf is the top controller of the first pod of a claim, the pod itself if nothing controls it, and the
// claim if there is no pod.
func ownerOf(s *inspect.Snapshot, claim inspect.ClaimRef) screen.Ref {
	pods := s.PodsOf(claim)
	if len(pods) == 0 {
		return screen.Ref{Namespace: claim.Namespace, Name: claim.Name}
	}
	if top, ok := screen.ControllerOf(s, pods[0]); ok {
		return top
	}
	return screen.Ref{Kind: screen.Pod, Namespace: pods[0].Namespace, Name: pods[0].Name}
}

// letters gives tags their marks: a letter of the name, if it is not taken. They go by name, so that a mark
// stays while there are the same names, whatever they have.
func (t *tagger) letters() []*tag {
	all := slices.SortedFunc(maps.Values(t.tags), func(a, b *tag) int { return cmp.Or(cmp.Compare(b.count, a.count), strings.Compare(a.name, b.name)) })
	own := slices.Clone(all[:min(len(all), mostTags)])
	slices.SortFunc(own, func(a, b *tag) int { return strings.Compare(a.name, b.name) })
	taken := map[string]bool{}
	for i, one := range own {
		one.role = tagRoles[i%len(tagRoles)]
		if one.name == severalMark {
			one.name, one.letter = "several", severalMark
			continue
		}
		one.letter = letterFor(one.name, taken)
		taken[one.letter] = true
	}
	for _, one := range all[len(own):] {
		one.letter, one.role = othersMark, styled.Plain
	}
	return all
}

// letterFor returns a letter that nobody has: the first of the name that is free, as it is or as a capital,
// or any other.
func letterFor(name string, taken map[string]bool) string {
	own := strings.ToLower(name[strings.LastIndexByte(name, '/')+1:])
	for _, text := range []string{own, "abcdefghijklmnopqrstuvwxyz", "0123456789"} {
		for _, r := range text {
			for _, letter := range []string{string(r), strings.ToUpper(string(r))} {
				if r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) && !taken[letter] {
					return letter
				}
			}
		}
	}
	return othersMark
}

// legend explains the cells, in at most so many columns if that is not 0: whose devices are on the row comes
// first.
func (c *chart) legend(r *row, width int, how *spot) styled.Line {
	line := styled.Line{{Text: "  "}}
	add := func(mark, name string, role styled.Role) {
		line = append(line, styled.Span{Text: mark, Role: role}, styled.Span{Text: " " + name + "   ", Role: styled.Dim})
	}
	rest := legendRest
	if width < 2*legendRest {
		rest = legendLeast
	}
	wide := how != nil && len(how.scale) > 0
	var tags []*tag
	if c.picked || wide {
		tags = c.tagsFor(r)
	}
	if c.aim != nil {
		add(usable, fmt.Sprintf("%s could use %d", inspect.Sanitize(c.aim.ref.Name), c.usable), styled.Accent)
	}
	for i, t := range tags {
		text := fmt.Sprintf("%s %d", inspect.Sanitize(t.name), t.count)
		more := len(tags) - i
		if t.letter == othersMark || width > 0 && line.Width()+styled.Width(text)+rest > width {
			add("…", fmt.Sprintf("%d more", more), styled.Dim)
			break
		}
		role := t.role
		if wide {
			role = styled.Filled(role)
		}
		add(t.letter, text, role)
	}
	for _, k := range screen.Looks {
		if len(tags) > 0 && (k.State == inspect.DeviceAllocated || k.State == inspect.DevicePartial) {
			continue
		}
		mark, name := k.Mark, k.Name
		if wide {
			mark, name = hatch(k), fmt.Sprintf("%s %d", name, c.states[k.State])
		}
		if c.states[k.State] > 0 || !wide {
			add(mark, name, k.Role)
		}
	}
	return line
}

// tagsFor are the tags, those on a row first.
func (c *chart) tagsFor(r *row) []*tag {
	if r == nil || len(c.tags) == 0 {
		return c.tags
	}
	here := map[*tag]bool{}
	for i := range r.drivers {
		for _, t := range r.drivers[i].tags {
			here[t] = true
		}
	}
	tags := slices.Clone(c.tags)
	slices.SortStableFunc(tags, func(a, b *tag) int { return words.Btoi(here[b]) - words.Btoi(here[a]) })
	return tags
}

// legendRest is what a legend of names leaves to the states, legendLeast what it does where there is little
// room.
const legendRest, legendLeast = 60, 22
