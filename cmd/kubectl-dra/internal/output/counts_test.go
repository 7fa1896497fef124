package output

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-dra/kubectl-dra/explain/fit"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/clusters"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// TestCountsAgree holds the numbers of get nodes, get pools and get devices against each other, for the demo
// cluster and every scenario.
func TestCountsAgree(t *testing.T) { clusters.Each(t, agree) }

// tallied is what the state and the claims of the devices that are printed come to; AtOnce is not seen there.
type tallied struct{ Total, Used, Blocked, Tainted, Unreachable, Free int }

func of(c inspect.DeviceCount) tallied {
	return tallied{c.Total, c.Used, c.Blocked, c.Tainted, c.Unreachable, c.Free}
}

func (c tallied) with(d *Device) tallied {
	c.Total++
	switch {
	case len(d.Claims) > len(d.AdminClaims):
		c.Used++
	case d.State == "Free":
		c.Free++
	case d.State == "Blocked":
		c.Blocked++
	case d.State == "Tainted":
		c.Tainted++
	case d.State == "Unreachable":
		c.Unreachable++
	}
	return c
}

func agree(t *testing.T, s *inspect.Snapshot) {
	t.Helper()
	pools, tied := map[string]tallied{}, map[string]tallied{}
	for _, item := range Devices(s).Items {
		d := item.(*Device)
		pools[d.Driver+"/"+d.Pool] = pools[d.Driver+"/"+d.Pool].with(d)
		tied[d.Node+" "+d.Driver] = tied[d.Node+" "+d.Driver].with(d)
	}
	got := map[string]tallied{}
	for _, item := range Pools(s).Items {
		p := item.(*Pool)
		if p.Devices.Total > 0 { // a pool may have nothing but counters
			got[p.Driver+"/"+p.Pool] = of(p.Devices)
		}
		agreeInside(t, p)
	}
	if diff := cmp.Diff(pools, got); diff != "" {
		t.Error("get pools counts other devices than get devices lists (-devices +pools):\n" + diff)
	}
	for _, item := range Nodes(s).Items {
		n := item.(*Node)
		var sum inspect.DeviceCount
		for driver, c := range n.Drivers {
			sum = inspect.DeviceCount{
				Total: sum.Total + c.Total, Used: sum.Used + c.Used, Blocked: sum.Blocked + c.Blocked, Tainted: sum.Tainted + c.Tainted,
				Unreachable: sum.Unreachable + c.Unreachable, Free: sum.Free + c.Free, AtOnce: sum.AtOnce + c.AtOnce, Gone: sum.Gone + c.Gone,
			}
			if own := tied[n.Name+" "+driver]; c.Total < own.Total || c.Used < own.Used || c.Blocked < own.Blocked || c.Tainted < own.Tainted || c.Free < own.Free {
				t.Errorf("node %s: %v of %s, but %v are tied to it", n.Name, c, driver, own)
			}
		}
		if whole := (inspect.DeviceCount{
			Total: n.Devices, Used: n.Used, Blocked: n.Blocked, Tainted: n.Tainted, Unreachable: n.Unreachable,
			Free: n.Free, AtOnce: n.FreeAtOnce, Gone: n.Gone,
		}); sum != whole {
			t.Errorf("node %s: its drivers have %v, it has %v", n.Name, sum, whole)
		}
	}
}

// agreeInside holds the numbers of one pool against each other and against those of Kubernetes.
func agreeInside(t *testing.T, p *Pool) {
	t.Helper()
	c := p.Devices
	if c.Total != c.Used+c.Blocked+c.Tainted+c.Unreachable+c.Free || c.AtOnce > c.Free || (c.AtOnce == 0) != (c.Free == 0) {
		t.Errorf("pool %s: %+v", p.Pool, c)
	}
	most := 0
	for _, k := range p.Fits {
		most = max(most, k.Fits)
		if k.Fits > c.AtOnce {
			t.Errorf("pool %s: %d of kind %s fit, but only %d devices at once", p.Pool, k.Fits, k.Kind, c.AtOnce)
		}
	}
	if p.Total == nil || *p.Total != c.Total { // slices are missing, or there are obsolete ones
		return
	}
	if *p.Allocated < c.Used || c.Free > *p.Total-*p.Allocated {
		t.Errorf("pool %s: %+v, Kubernetes says %d allocated of %d", p.Pool, c, *p.Allocated, *p.Total)
	}
}

// TestPartitionsThatFit holds what get pools and get nodes say of partitions against how many copies of a
// claim for the smallest of them the allocator places.
func TestPartitionsThatFit(t *testing.T) {
	s := clusters.Demo(t)
	claim, ok := s.Claim(inspect.ClaimRef{Namespace: "infer", Name: "whisper-tiny"})
	if !ok {
		t.Fatal("the demo has no claim infer/whisper-tiny")
	}
	fit, err := fit.Claim(t.Context(), scheduler.NewCluster(s, scheduler.Options{}), claim, question.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int{}
	for _, n := range fit.Nodes {
		if n.Copies > 0 {
			want[string(n.Node)] = n.Copies
		}
	}
	if !slices.Equal(slices.Sorted(maps.Keys(want)), []string{"mig-01", "mig-02"}) {
		t.Fatalf("copies fit on %v", want)
	}
	inPools, ofKind, onNodes := map[string]int{}, map[string]int{}, map[string]int{}
	for _, item := range Pools(s).Items {
		if p := item.(*Pool); p.Counters != nil {
			inPools[p.Pool] = p.Devices.AtOnce
			ofKind[p.Pool] = p.Fits[slices.IndexFunc(p.Fits, func(k inspect.KindFit) bool { return k.Kind == "1g.10gb" })].Fits
		}
	}
	for _, item := range Nodes(s).Items {
		if n := item.(*Node); n.Drivers["mig.example.com"].Total > 0 {
			onNodes[n.Name] = n.Drivers["mig.example.com"].AtOnce
		}
	}
	for name, got := range map[string]map[string]int{"pools": inPools, "kinds": ofKind, "nodes": onNodes} {
		if !maps.Equal(got, want) {
			t.Errorf("%s: %v fit at once, the allocator places %v", name, got, want)
		}
	}
}
