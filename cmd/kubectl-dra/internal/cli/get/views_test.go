package get

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/node"
	use "github.com/kubectl-dra/kubectl-dra/inspect/usage"
	"github.com/kubectl-dra/kubectl-dra/internal/demo"
	"github.com/kubectl-dra/kubectl-dra/tui"
)

// TestViewsAgree holds what all views say of how many devices there are, used, free, blocked, tainted,
// unreachable and gone against what get devices lists and what claims hold, on every cluster there is, also
// when drivers and pools are gone. Each view is counted by its own output, so none can count by itself.
func TestViewsAgree(t *testing.T) { all(t, viewsAgree) }

// sums are counts of devices by what they are in or of.
type sums map[string]inspect.DeviceCount

func (s sums) add(key string, c inspect.DeviceCount) {
	sum := s[key]
	sum.Total, sum.Used, sum.Free = sum.Total+c.Total, sum.Used+c.Used, sum.Free+c.Free
	sum.Blocked, sum.Tainted, sum.Unreachable, sum.Gone = sum.Blocked+c.Blocked, sum.Tainted+c.Tainted, sum.Unreachable+c.Unreachable, sum.Gone+c.Gone
	s[key] = sum
}

// truth is what the test counts: by pool, driver and node, and of the devices that claims hold by namespace.
type truth struct {
	pools, drivers, nodes, namespaces sums
	all                               inspect.DeviceCount
	// held are the claims with the devices that they hold, by the node to which these are tied.
	held map[string][]string
}

// one is how a device that is listed counts.
func one(d *output.Device) inspect.DeviceCount {
	c := inspect.DeviceCount{Total: 1}
	switch {
	case len(d.Claims) > len(d.AdminClaims):
		c.Used = 1
	case d.State == "Free":
		c.Free = 1
	case d.State == "Blocked":
		c.Blocked = 1
	case d.State == "Tainted":
		c.Tainted = 1
	case d.State == "Unreachable":
		c.Unreachable = 1
	}
	return c
}

// truthOf counts what get devices lists, and what claims hold that it does not list.
func truthOf(s *inspect.Snapshot) *truth {
	u := &truth{pools: sums{}, drivers: sums{}, nodes: sums{}, namespaces: sums{}, held: map[string][]string{}}
	all, listed := sums{}, map[string]bool{}
	users := map[string]map[string]bool{} // namespaces of devices
	for _, item := range output.Devices(s).Items {
		d := item.(*output.Device)
		c, name := one(d), d.Meta().Name
		listed[name] = true
		u.pools.add(d.Driver+"/"+d.Pool, c)
		u.drivers.add(d.Driver, c)
		u.nodes.add(d.Node, c)
		all.add("", c)
		for _, claim := range d.Claims {
			u.held[d.Node] = append(u.held[d.Node], claim+" "+name)
		}
	}
	gone := map[string]bool{}
	for _, claim := range s.Objects().Claims {
		if claim.Status.Allocation == nil {
			continue
		}
		for i := range claim.Status.Allocation.Devices.Results {
			r := &claim.Status.Allocation.Devices.Results[i]
			id, where := inspect.DeviceOf(r), string(inspect.AllocationNode(claim.Status.Allocation))
			if admin(r) || listed[id.String()] && users[claim.Namespace][id.String()] {
				continue
			}
			if users[claim.Namespace] == nil {
				users[claim.Namespace] = map[string]bool{}
			}
			c := inspect.DeviceCount{Total: 1, Used: 1}
			if !listed[id.String()] {
				c = inspect.DeviceCount{Gone: 1}
			}
			if !users[claim.Namespace][id.String()] {
				u.namespaces.add(claim.Namespace, c)
			}
			users[claim.Namespace][id.String()] = true
			if !listed[id.String()] && !gone[id.String()] {
				gone[id.String()] = true
				u.drivers.add(id.Driver, c)
				u.nodes.add(where, c)
				all.add("", c)
				if p := id.Driver + "/" + id.Pool; s.Inventory().Pool(id.PoolID()) != nil {
					u.pools.add(p, c)
				}
			}
		}
	}
	u.all = all[""]
	return u
}

func admin(r *resourcev1.DeviceRequestAllocationResult) bool {
	return r.AdminAccess != nil && *r.AdminAccess
}

func countOf(c inspect.DeviceCount) inspect.DeviceCount {
	return inspect.DeviceCount{Total: c.Total, Used: c.Used, Free: c.Free, Blocked: c.Blocked, Tainted: c.Tainted, Unreachable: c.Unreachable, Gone: c.Gone}
}

// same reports what differs; what there is nothing of may be left out.
func (s sums) same(t *testing.T, view string, got sums) {
	t.Helper()
	for _, m := range []sums{s, got} {
		maps.DeleteFunc(m, func(_ string, c inspect.DeviceCount) bool { return c == inspect.DeviceCount{} })
	}
	if diff := gocmp.Diff(s, got); diff != "" {
		t.Errorf("%s counts otherwise than devices and claims say (-devices +view):\n%s", view, diff)
	}
}

func viewsAgree(t *testing.T, s *inspect.Snapshot) {
	t.Helper()
	if s.Health(inspect.Slices).Partial() && len(s.Objects().Slices) == 0 {
		return // what is not read is not gone
	}
	u := truthOf(s)
	pools, drivers := sums{}, sums{}
	for _, item := range output.Pools(s).Items {
		p := item.(*output.Pool)
		pools.add(p.Driver+"/"+p.Pool, countOf(p.Devices))
	}
	u.pools.same(t, "get pools", pools)
	for _, item := range output.Drivers(s).Items {
		d := item.(*output.Driver)
		drivers.add(d.Name, countOf(d.Devices))
	}
	u.drivers.same(t, "get drivers", drivers)
	u.usage(t, s)
	u.onNodes(t, s)
	u.top(t, s)
}

// usage checks get usage, whatever the rows are about.
func (u *truth) usage(t *testing.T, s *inspect.Snapshot) {
	t.Helper()
	for _, by := range append(use.Groupings(), use.Queue, use.Cohort) {
		list, err := (&getOptions{by: by, selector: labels.Everything()}).usage(t.Context(), s, "")
		if err != nil {
			t.Fatal(err)
		}
		if got, want := countOf(list.Usage.Cluster), u.all; got != want {
			t.Errorf("get usage --by %s: the cluster has %+v, want %+v", by, got, want)
		}
		if got := list.Usage; got.Devices != u.all.Used || got.Gone != u.all.Gone {
			t.Errorf("get usage --by %s: %d held and %d gone in all, want %d and %d", by, got.Devices, got.Gone, u.all.Used, u.all.Gone)
		}
		if by != use.Namespace {
			continue
		}
		rows := sums{}
		for _, item := range list.Items {
			r := item.(*output.Usage)
			rows.add(r.Namespace, inspect.DeviceCount{Total: r.Devices, Used: r.Devices, Gone: r.Gone})
		}
		u.namespaces.same(t, "get usage", rows)
	}
}

// onNodes checks get nodes, get extended and node. A device that several nodes reach is on each of them, so
// what is tied to a node is the least that it has.
func (u *truth) onNodes(t *testing.T, s *inspect.Snapshot) {
	t.Helper()
	counts := map[string]*output.Node{}
	for _, item := range output.Nodes(s).Items {
		n := item.(*output.Node)
		counts[n.Name] = n
		got, own := inspect.DeviceCount{}, u.nodes[n.Name]
		for _, c := range n.Drivers {
			got = sums{"": got}.plus(countOf(c))
		}
		whole := countOf(inspect.DeviceCount{
			Total: n.Devices, Used: n.Used, Blocked: n.Blocked, Tainted: n.Tainted, Unreachable: n.Unreachable, Free: n.Free, Gone: n.Gone,
		})
		if got != whole || whole.Gone != own.Gone || less(whole, own) {
			t.Errorf("get nodes: %s has %+v, its drivers %+v, and %+v is tied to it", n.Name, whole, got, own)
		}
		var listed []string
		for _, c := range node.Join(&node.View{}, s, inspect.NodeName(n.Name)).Claims {
			for _, d := range c.Devices {
				listed = append(listed, c.Claim.String()+" "+d.String())
			}
		}
		for _, held := range u.held[n.Name] {
			if !slices.Contains(listed, held) {
				t.Errorf("node %s leaves out %s; it has %q", n.Name, held, listed)
			}
		}
	}
	resources, err := ofFiles().extendedResources(t.Context(), s, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range resources.Items {
		e := item.(*output.ExtendedResource)
		if e.Devices == nil || e.Node == "" {
			continue
		}
		if c := countOf(*e.Devices); counts[e.Node] == nil || c.Total != c.Used+c.Free+c.Unusable() || c.Used > counts[e.Node].Used ||
			c.Free > counts[e.Node].Free || c.Tainted > counts[e.Node].Tainted || c.Blocked > counts[e.Node].Blocked {
			t.Errorf("get extended: %s has %+v of %s, get nodes %+v", e.Node, c, e.Name, counts[e.Node])
		}
	}
}

// plus adds to the only sum.
func (s sums) plus(c inspect.DeviceCount) inspect.DeviceCount {
	s.add("", c)
	return s[""]
}

func less(a, b inspect.DeviceCount) bool {
	return a.Total < b.Total || a.Used < b.Used || a.Free < b.Free || a.Blocked < b.Blocked || a.Tainted < b.Tainted || a.Unreachable < b.Unreachable
}

// page is what a view of top shows, as words of lines.
func page(t *testing.T, s *inspect.Snapshot, view string) [][]string {
	t.Helper()
	var out bytes.Buffer
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	if err := tui.Once(ctx, &out, tui.Options{Source: tui.Static(s), View: view, Clock: demo.Now}); err != nil {
		t.Fatal(err)
	}
	var lines [][]string
	for line := range strings.Lines(out.String()) {
		lines = append(lines, strings.Fields(line))
	}
	return lines
}

// top checks the pages of top, in their own words.
func (u *truth) top(t *testing.T, s *inspect.Snapshot) {
	t.Helper()
	for view, counts := range map[string]sums{"drivers": u.drivers, "pools": u.pools} {
		lines := page(t, s, view)
		for _, key := range slices.Sorted(maps.Keys(counts)) {
			c := counts[key]
			want := fmt.Sprintf("%d %d %d %s", c.Total, c.Used, c.Free, cmp.Or(words.Unusable(c), "–"))
			name := key[strings.LastIndexByte(key, '/')+1:]
			if !slices.ContainsFunc(lines, func(line []string) bool {
				return slices.Contains(line, name) && strings.Contains(" "+strings.Join(line, " ")+" ", " "+want+" ")
			}) {
				t.Errorf("top %s does not say %q of %s: %v", view, want, key, lines)
			}
		}
	}
	text := func(view string) string {
		var all []string
		for _, line := range page(t, s, view) {
			all = append(all, strings.Join(line, " "))
		}
		return strings.Join(all, "\n")
	}
	if len(u.namespaces) > 0 {
		want := fmt.Sprintf("%s held of %d (%s", words.Count(u.all.Used, "device"), u.all.Total, strconv.Itoa(u.all.Free)+" of "+strconv.Itoa(u.all.Total)+" free")
		rest := words.Unusable(u.all)
		if got := text("usage"); !strings.Contains(got, want) || !strings.Contains(got, rest) || !strings.Contains(got, words.GoneToo(u.all.Gone)) {
			t.Errorf("top usage does not say %q, %q and %q:\n%s", want, rest, words.GoneToo(u.all.Gone), got)
		}
	}
	nodes := text("nodes")
	for _, item := range output.Nodes(s).Items {
		n := item.(*output.Node)
		if n.Devices+n.Gone == 0 {
			continue
		}
		line := ""
		for l := range strings.Lines(nodes) {
			if strings.HasPrefix(l, n.Name+" ") {
				line = strings.TrimSpace(l)
			}
		}
		if line != "" && !strings.Contains(" "+line+" ", fmt.Sprintf(" %d/%d ", n.Free, n.Devices)) {
			t.Errorf("top nodes: %q does not say %d/%d", line, n.Free, n.Devices)
		}
		if c := u.nodes[n.Name]; line != "" && len(n.Drivers) == 1 && (c.Tainted > 0 || c.Gone > 0) && c.Tainted == n.Tainted && c.Unreachable == n.Unreachable {
			if want := words.Unusable(inspect.DeviceCount{Tainted: c.Tainted, Unreachable: c.Unreachable, Gone: c.Gone}); !strings.Contains(line, want) {
				t.Errorf("top nodes: %q does not say %s", line, want)
			}
		}
	}
}
