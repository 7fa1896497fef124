// Command oracle decides allocation problems with the allocator of one release of kube-scheduler. It is
// a program of its own because a program can have only one version of that allocator; which one is chosen
// when it is built:
//
//	go build -modfile=releases/v0.36.2.mod -o /tmp/oracle .
//
// Without -modfile it is the newest of the old ones, that of go.mod.
//
// It reads a [Problem] in JSON from each line of standard input and writes a [Reply] for it. The comparison
// with this project's allocator is a test of that package (go test ./allocator -run Releases -oracles).
package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
)

// Problem is a small cluster with claims to allocate.
type Problem struct {
	// Gates are the feature gates that are on.
	Gates map[string]bool
	// Slices have the taints of the rules already.
	Slices []*resourcev1.ResourceSlice
	// Claims are those that are allocated.
	Claims  []*resourcev1.ResourceClaim
	Classes []*resourcev1.DeviceClass
	Nodes   []*corev1.Node
	// Pending are the claims to allocate, in order.
	Pending []*resourcev1.ResourceClaim
	// Steps bounds the search on one node.
	Steps int
	// Times is how often each node is asked. Old releases go through pools in random order.
	Times int
}

// Reply has the answers for each node, as many as were asked for.
type Reply struct{ Nodes [][]Answer }

// Answer is what the allocator says about one node.
type Answer struct {
	// Outcome is "devices", "nothing", "invalid pools", "abort", "undecided" or "panic".
	Outcome     string
	Allocations []resourcev1.AllocationResult
	Steps       int64
	// Variant is the implementation that decided: stable, incubating or experimental.
	Variant string
	Err     string
}

func main() {
	if err := serve(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "oracle:", err)
		os.Exit(1)
	}
}

func serve(in io.Reader, out io.Writer) error {
	decoder, encoder := json.NewDecoder(bufio.NewReader(in)), json.NewEncoder(out)
	for {
		var p Problem
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("reading a problem: %w", err)
		}
		reply, err := p.decide()
		if err != nil {
			return err
		}
		if err := encoder.Encode(reply); err != nil {
			return fmt.Errorf("writing a reply: %w", err)
		}
	}
}

// decide asks about each node with a new instance of the allocator: an instance remembers counters as
// they look from the first node that asks.
func (p *Problem) decide() (*Reply, error) {
	reply := &Reply{}
	for _, node := range p.Nodes {
		var answers []Answer
		for try := range max(1, p.Times) {
			a, err := p.ask(node, p.published(try))
			if err != nil {
				return nil, err
			}
			answers = appendNew(answers, a)
		}
		reply.Nodes = append(reply.Nodes, answers)
	}
	return reply, nil
}

// published returns copies of the slices, because old releases change quantities in place. From the second
// try on pools change places: old releases go through them as a map yields them, which in a small map is
// always the order in which they were put in, from another start.
func (p *Problem) published(try int) []*resourcev1.ResourceSlice {
	place := map[string]uint64{}
	rng := rand.New(rand.NewPCG(uint64(try), 0))
	var out []*resourcev1.ResourceSlice
	for _, slice := range p.Slices {
		if pool := poolOf(slice); place[pool] == 0 {
			place[pool] = rng.Uint64()
		}
		out = append(out, slice.DeepCopy())
	}
	if try > 0 {
		slices.SortStableFunc(out, func(a, b *resourcev1.ResourceSlice) int { return cmp.Compare(place[poolOf(a)], place[poolOf(b)]) })
	}
	return out
}

func poolOf(slice *resourcev1.ResourceSlice) string {
	return slice.Spec.Driver + "/" + slice.Spec.Pool.Name
}

// appendNew leaves out an answer that is there already, but for the share IDs, which are random.
func appendNew(answers []Answer, a Answer) []Answer {
	for i := range a.Allocations {
		for j := range a.Allocations[i].Devices.Results {
			r := &a.Allocations[i].Devices.Results[j]
			if r.ShareID != nil {
				*r.ShareID = ""
			}
		}
	}
	for i := range answers {
		if reflect.DeepEqual(answers[i], a) {
			return answers
		}
	}
	return append(answers, a)
}
