package checkup

import (
	"fmt"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

var poolRules = []Rule{
	{
		Code: "PoolIncomplete", Severity: Error, files: true, needs: []inspect.Resource{inspect.Slices},
		About:  "The newest generation of a pool lacks slices, so the scheduler takes no device of the pool.",
		Remedy: "While a driver is publishing, this lasts seconds. If it lasts longer, look at the driver's logs: it may have crashed half-way, or the API server refuses a slice.",
		find: func(v *visit) {
			v.eachPool(func(p *inspect.PoolStatus) string {
				if p.Slices >= p.SlicesWanted {
					return ""
				}
				return fmt.Sprintf("generation %d has %d of %d slices", p.Generation, p.Slices, p.SlicesWanted)
			})
		},
	},
	{
		Code: "PoolSurplus", Severity: Error, files: true, needs: []inspect.Resource{inspect.Slices},
		About:  "The newest generation of a pool has more slices than they announce, so the scheduler takes no device of the pool.",
		Remedy: "Have the driver publish the pool again, in a new generation, and delete slices that it no longer manages.",
		find: func(v *visit) {
			v.eachPool(func(p *inspect.PoolStatus) string {
				if p.Slices <= p.SlicesWanted {
					return ""
				}
				return fmt.Sprintf("generation %d has %s and announces %d", p.Generation, words.Count(int(p.Slices), "slice"), p.SlicesWanted)
			})
		},
	},
	{
		Code: "PoolDisagrees", Severity: Error, files: true, needs: []inspect.Resource{inspect.Slices},
		About:  "Slices of the same generation of a pool announce different numbers of slices. Which of them counts is chance: the scheduler goes by the one that it meets first.",
		Remedy: "A driver must raise the generation whenever the number of slices changes.",
		find:   findDisagreeing,
	},
	{
		Code: "PoolInvalid", Severity: Error, files: true, needs: []inspect.Resource{inspect.Slices},
		About:  "The slices of a pool contradict each other, so the scheduler takes no device of the pool.",
		Remedy: "Only the driver can correct what it publishes.",
		find: func(v *visit) {
			v.eachPool(func(p *inspect.PoolStatus) string {
				what, invalid := strings.CutPrefix(p.Error, "PoolInvalid: ")
				if !invalid {
					return ""
				}
				return what
			})
		},
	},
	{
		Code: "PoolPartitionTypes", Severity: Warning, files: true, needs: []inspect.Resource{inspect.Slices},
		About:  "The partition types of a pool cannot be counted, so the pool's status does not show them.",
		Remedy: "Every device that consumes counters needs the attribute that the slice names as its partition type, and devices of one type must consume the same counters.",
		find: func(v *visit) {
			v.eachPool(func(p *inspect.PoolStatus) string {
				code, what, _ := strings.Cut(p.Error, ": ")
				if !strings.HasPrefix(code, "Partition") {
					return ""
				}
				return what
			})
		},
	},
	{
		Code: "PoolStale", Severity: Warning, files: true, needs: []inspect.Resource{inspect.Slices},
		About:  "Slices of an older generation are left beside a complete newer one. Nobody uses them.",
		Remedy: "The driver deletes old slices when it publishes new ones. Those that stay were left by an instance that is gone: delete them.",
		find:   findStale,
	},
	{
		Code: "PoolShared", Severity: Error, files: true, needs: []inspect.Resource{inspect.Slices},
		About:  "Slices for different nodes name the same pool, and the pool is not complete: it seems that a driver publishes a pool of the same name on each of these nodes, so that they replace each other.",
		Remedy: "Pools of a node must have names that no other node uses, such as that of the node.",
		find:   findShared,
	},
	{
		Code: "PoolEmpty", Severity: Note, files: true, needs: []inspect.Resource{inspect.Slices},
		About:  "A pool is complete and has no device.",
		Remedy: "If there should be devices, the driver did not find them: look at its logs on that node.",
		find: func(v *visit) {
			v.eachPool(func(p *inspect.PoolStatus) string {
				if !p.Complete || p.Error != "" || p.Devices.Total > 0 {
					return ""
				}
				return "it has no devices"
			})
		},
	},
	{
		Code: "SliceNodeGone", Severity: Warning, needs: []inspect.Resource{inspect.Slices, inspect.Nodes},
		About:  "A slice is for a node that does not exist. Its devices are counted, but nobody can use them.",
		Remedy: "A slice of a node's plugin belongs to the Node object and goes with it. If the node is gone for good, delete the slice.",
		find:   findSlicesOfGoneNodes,
	},
	{
		Code: "DriverMissing", Severity: Warning, needs: []inspect.Resource{inspect.Slices, inspect.Nodes, inspect.Pods},
		About:  "The pod that seems to be the driver's is missing from a node or not ready, while the driver's slices for the node remain. Pods that get these devices do not start.",
		Remedy: "Look at the DaemonSet and its pod: kubectl describe daemonset, kubectl logs.",
		find:   findDriversMissing,
	},
}

// pools are all pools, sorted by driver and name.
func (v *visit) pools() []*inspect.PoolStatus {
	stocks := v.inventory().Stocks
	out := make([]*inspect.PoolStatus, len(stocks))
	for i, stock := range stocks {
		out[i] = &stock.Pool
	}
	return out
}

// eachPool reports every pool of which something is said.
func (v *visit) eachPool(say func(*inspect.PoolStatus) string) {
	for _, p := range v.pools() {
		if detail := say(p); detail != "" {
			v.reportPool(p.ID, detail, v.s.SlicesIn(p.ID))
		}
	}
}

func (v *visit) reportPool(id inspect.PoolID, detail string, of []*resourcev1.ResourceSlice, evidence ...string) {
	v.report(Finding{Subject: "pool " + id.String(), Group: id.Driver, Objects: texts(of, sliceRef),
		Detail: detail, Evidence: evidence})
}

func sliceRef(slice *resourcev1.ResourceSlice) inspect.ObjectRef {
	return object("ResourceSlice", "", slice.Name)
}

func sliceNames(of []*resourcev1.ResourceSlice) []string {
	return texts(of, (*resourcev1.ResourceSlice).GetName)
}

// aboutSlice is a finding about a slice.
func aboutSlice(slice *resourcev1.ResourceSlice, path, detail string) Finding {
	f := about(sliceRef(slice), path, detail)
	f.Group = slice.Spec.Driver
	return f
}

// newest returns the slices of a pool that are of its newest generation, and those that are not.
func (v *visit) newest(id inspect.PoolID) (newest, older []*resourcev1.ResourceSlice) {
	all := v.s.SlicesIn(id)
	newest = inspect.NewestSlices(all)
	return newest, slices.DeleteFunc(slices.Clone(all), func(s *resourcev1.ResourceSlice) bool {
		return s.Spec.Pool.Generation == newest[0].Spec.Pool.Generation
	})
}

func findDisagreeing(v *visit) {
	for _, p := range v.pools() {
		newest, _ := v.newest(p.ID)
		var counts, lines []string
		for _, slice := range newest {
			count := fmt.Sprint(slice.Spec.Pool.ResourceSliceCount)
			if !slices.Contains(counts, count) {
				counts = append(counts, count)
				lines = append(lines, fmt.Sprintf("ResourceSlice %s announces %s", slice.Name, count))
			}
		}
		if len(counts) > 1 {
			v.reportPool(p.ID, fmt.Sprintf("slices of generation %d announce %s slices", p.Generation, words.And(counts)), newest, lines...)
		}
	}
}

func findStale(v *visit) {
	for _, p := range v.pools() {
		_, older := v.newest(p.ID)
		if !p.Complete || len(older) == 0 {
			continue
		}
		v.reportPool(p.ID, fmt.Sprintf("%s of older generations %s left beside generation %d: %s",
			words.Count(len(older), "slice"), words.Plural(len(older), "is", "are"), p.Generation, words.Shorten(sliceNames(older), 3)), older)
	}
}

func findShared(v *visit) {
	for _, p := range v.pools() {
		if p.Complete && p.Error == "" {
			continue
		}
		var nodes []string
		for _, slice := range v.s.SlicesIn(p.ID) {
			if name := slice.Spec.NodeName; name != nil && !slices.Contains(nodes, *name) {
				nodes = append(nodes, *name)
			}
		}
		if len(nodes) < 2 {
			continue
		}
		slices.Sort(nodes)
		v.reportPool(p.ID, fmt.Sprintf("its slices are for %d nodes: %s", len(nodes), words.Shorten(nodes, 3)), v.s.SlicesIn(p.ID))
	}
}

func findSlicesOfGoneNodes(v *visit) {
	if v.s.NodesAssumed() {
		return
	}
	for _, slice := range v.s.Slices() {
		gone := v.goneNodes(slice)
		if len(gone) == 0 {
			continue
		}
		detail := fmt.Sprintf("node %s does not exist", words.Shorten(gone, 3))
		if len(gone) > 1 {
			detail = fmt.Sprintf("nodes %s do not exist", words.Shorten(gone, 3))
		}
		v.report(aboutSlice(slice, "spec.nodeName",
			fmt.Sprintf("%s; the slice offers %s of %s", detail,
				words.Count(len(slice.Spec.Devices), "device"), inspect.PoolOf(slice))))
	}
}

// goneNodes returns the nodes that a slice is for by name and that do not exist, in the order of its devices.
func (v *visit) goneNodes(slice *resourcev1.ResourceSlice) []string {
	var out []string
	add := func(name *string) {
		if name == nil || *name == "" || slices.Contains(out, *name) {
			return
		}
		if _, exists := v.s.Node(inspect.NodeName(*name)); !exists {
			out = append(out, *name)
		}
	}
	add(slice.Spec.NodeName)
	for i := range slice.Spec.Devices {
		add(slice.Spec.Devices[i].NodeName)
	}
	return out
}
