package faults

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/commit"
	"github.com/kubectl-dra/kubectl-dra/internal/fakeserver"
)

// The moments in which commands that write once did the wrong thing. The server plays the others: it does in
// the middle of a request what they would do at that time, so nothing here depends on who is faster.

// scene is a server until the test ends.
func scene(t *testing.T) (*fakeserver.Server, string) {
	t.Helper()
	s, url, stop := serve(t)
	t.Cleanup(stop)
	return s, url
}

// result gives a device in an allocation.
func result(request, driver, pool, device string) resourcev1.DeviceRequestAllocationResult {
	return resourcev1.DeviceRequestAllocationResult{Request: request, Driver: driver, Pool: pool, Device: device}
}

// TestEveryDecisionIsMadeOnAWholeView: after the first look a scheduler takes all GPUs that are free, so that
// the run has to decide again; and from then on the rules that taint devices cannot be read.
func TestEveryDecisionIsMadeOnAWholeView(t *testing.T) {
	skipKnown(t)
	s, url := scene(t)
	s.Inject(fakeserver.Fault{Match: reviews, Times: 1, Do: func(e *fakeserver.Exchange) {
		s.ChangeClaim("dev", "scratch-gpu", func(c *resourcev1.ResourceClaim) {
			c.Status.Allocation = &resourcev1.AllocationResult{}
			for _, pool := range []string{"gpu-a-01", "gpu-a-02", "gpu-a-03"} {
				for i := range 8 {
					c.Status.Allocation.Devices.Results = append(c.Status.Allocation.Devices.Results, result("gpu", "gpu.example.com", pool, fmt.Sprintf("gpu-%d", i)))
				}
			}
		})
		s.ChangeClaim("ml", "eval-nightly-gpu-8dk4w", func(c *resourcev1.ResourceClaim) { c.Labels = map[string]string{"touched": "yes"} })
		s.Inject(fakeserver.Fault{Match: listsOf("devicetaintrules") + `.*limit`, Do: fakeserver.Refuse(500, "InternalError", "etcdserver: leader changed")})
		e.Honest()
	}})
	r := newProcess(t, url, "allocate", "claim", "eval-nightly-gpu-8dk4w", "-n", "ml", "--yes", "--settle=100ms").inPipes(t)
	claim := s.Claim("ml", "eval-nightly-gpu-8dk4w")
	if r.exit != 1 || !strings.Contains(string(r.stderr), "nothing is written") {
		t.Errorf("exit code %d, want 1 and that nothing is written:\n%s", r.exit, r.stderr)
	}
	delete(claim.Annotations, "resource.kubernetes.io/pod-claim-name") // of the controller that made it
	if claim.Status.Allocation != nil || len(claim.Annotations) > 0 {
		t.Errorf("it was given %q, announcement %v", devices(claim), claim.Annotations)
	}
}

// TestWhatWasConfirmedIsCleared: while the question stands, the claim is replaced by another one of its name.
func TestWhatWasConfirmedIsCleared(t *testing.T) {
	skipKnown(t)
	s, url := scene(t)
	terminal := newProcess(t, url, "deallocate", "claim", "notebook-omar", "-n", "dev")
	term := terminal.open(t)
	t.Cleanup(func() { _ = term.Close() })
	term.await(t, "[y/N]")
	claim := s.Claim("dev", "notebook-omar")
	s.Delete(inspect.Claims, fakeserver.Key{Namespace: "dev", Name: "notebook-omar"})
	claim.UID, claim.Status.Allocation.Devices.Results[0].Device = "another", "gpu-7"
	s.PutClaim(claim)
	term.press("y\n")
	r := &run{}
	r.wait(terminal)
	<-term.done
	if text := term.text(); r.exit != 1 || !strings.Contains(text, "replaced") && !strings.Contains(text, "changed") {
		t.Errorf("exit code %d, want 1 and what happened:\n%s", r.exit, indent(text))
	}
	now := s.Claim("dev", "notebook-omar")
	if devices(now) != "gpu.example.com/gpu-a-02/gpu-7" || len(now.Annotations) > 0 {
		t.Errorf("the new claim holds %q and has %v", devices(now), now.Annotations)
	}
}

// await waits until a text is to be seen.
func (t *terminal) await(tb testing.TB, text string) {
	tb.Helper()
	for deadline := time.Now().Add(hung); !strings.Contains(t.text(), text); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			tb.Fatalf("%q does not appear:\n%s", text, indent(t.text()))
		}
	}
}

// TestDeallocateSaysWhatItCannotKnow: another claim holds the device too, and the user may not list claims of
// the cluster, so no fence can be made.
func TestDeallocateSaysWhatItCannotKnow(t *testing.T) {
	skipKnown(t)
	for _, may := range []bool{true, false} {
		s, url := scene(t)
		held := s.Claim("dev", "notebook-omar").Status.Allocation
		s.ChangeClaim("dev", "scratch-gpu", func(c *resourcev1.ResourceClaim) { c.Status.Allocation = held })
		if !may {
			s.Inject(fakeserver.Fault{Match: `^GET /apis/resource.k8s.io/v1/resourceclaims(\?|$)`, Do: fakeserver.Refuse(403, "Forbidden", "no")})
		}
		r := newProcess(t, url, "deallocate", "claim", "notebook-omar", "-n", "dev", "--yes").inPipes(t)
		rules := len(s.Names(inspect.TaintRules)) - 1 // one is of the demo cluster
		said := strings.Contains(string(r.stderr), "kube-scheduler may")
		if may && (rules != 1 || r.exit != 0) || !may && (rules != 0 || !said) {
			t.Errorf("may list: %v; exit code %d, %d fences:\n%s", may, r.exit, rules, r.stderr)
		}
	}
}

// TestInterruptInTheLastStep: Ctrl-C while the announcement is being removed. The run finishes and says how
// it ended.
func TestInterruptInTheLastStep(t *testing.T) {
	skipKnown(t)
	s, url := scene(t)
	p := newProcess(t, url, "allocate", "claim", "dns-edge", "-n", "net", "--yes", "--settle=50ms")
	var allocated atomic.Bool
	s.Inject(fakeserver.Fault{Match: puts, Do: func(e *fakeserver.Exchange) {
		if strings.HasSuffix(e.Request.URL.Path, "/status") {
			allocated.Store(true)
		} else if allocated.Load() {
			_ = p.Process.Signal(os.Interrupt) // it waits for this answer
			time.Sleep(requestTimeout / 2)
		}
		e.Honest()
	}})
	r := p.inPipes(t)
	if text := string(r.stdout) + string(r.stderr); r.exit != 130 || !strings.Contains(text, "is allocated") {
		t.Errorf("exit code %d, want 130 and that it is allocated:\n%s", r.exit, text)
	}
	if claim := s.Claim("net", "dns-edge"); devices(claim) == "" || len(claim.Annotations) > 0 {
		t.Errorf("it holds %q and has %v", devices(claim), claim.Annotations)
	}
}

// TestInterruptedReadGivesNoAnswer: Ctrl-C while claims are read. What was read until then is no answer, and
// the snapshot of yesterday stays.
func TestInterruptedReadGivesNoAnswer(t *testing.T) {
	skipKnown(t)
	lines := [][]string{{"get", "devices"}, {"get", "nodes"}, {"get", "pools"}}
	for _, name := range slices.Concat(readers, writers) {
		lines = append(lines, commandNamed(name).args)
	}
	for _, line := range lines {
		s, url := scene(t)
		p := newProcess(t, url, line...)
		s.Inject(fakeserver.Fault{Match: claimLists, Do: func(e *fakeserver.Exchange) {
			_, body := e.Hidden()
			e.Header().Set("Content-Type", "application/json")
			half := len(body) / 2
			_, _ = e.Write(body[:half]) // if it fails, the test does
			_ = http.NewResponseController(e.ResponseWriter).Flush()
			time.Sleep(20 * time.Millisecond)  // it reads the answer now
			_ = p.Process.Signal(os.Interrupt) // it cannot have ended
			select {
			case <-e.Request.Context().Done(): // it has hung up
			case <-time.After(requestTimeout / 2):
			}
			_, _ = e.Write(body[half:]) // nobody may be there to take it
		}})
		r := p.inPipes(t)
		if r.exit != 130 || len(r.stdout) > 0 || string(r.saved) != before || len(r.files) != 1 {
			t.Errorf("%v: exit code %d, want 130 and nothing on stdout; files %q; it prints\n%s\n%s", line, r.exit, r.files, r.stdout, r.stderr)
		}
	}
}

// TestForgedAnnouncements: a tenant announces the devices that others want, on a claim of its own, again and
// again, as a run that goes before all others.
func TestForgedAnnouncements(t *testing.T) {
	skipKnown(t)
	if *only == "" {
		t.Skip("it waits for seconds; -faults=all runs it")
	}
	for _, may := range []bool{true, false} {
		t.Run(fmt.Sprintf("removable=%v", may), func(t *testing.T) {
			t.Parallel()
			s, url := scene(t)
			if !may {
				s.Inject(fakeserver.Fault{Match: `^PUT .*/resourceclaims/scratch-gpu`, Do: fakeserver.Refuse(403, "Forbidden", "not yours")})
			}
			done := make(chan struct{})
			go forge(s, done)
			r := newProcess(t, url, "allocate", "claim", "dns-edge", "-n", "net", "--yes", "--settle=100ms").inPipes(t)
			close(done)
			claim := s.Claim("net", "dns-edge")
			if r.killed || r.exit == 0 != (devices(claim) != "") || len(claim.Annotations) > 0 {
				t.Errorf("after %s: exit code %d, devices %q, annotations %v:\n%s", r.took, r.exit, devices(claim), claim.Annotations, r.stderr)
			}
			if !strings.Contains(string(r.stderr), "dev/scratch-gpu") {
				t.Errorf("it does not name the claim:\n%s", r.stderr)
			}
		})
	}
}

// forge announces every uplink for dev/scratch-gpu twice a second.
func forge(s *fakeserver.Server, done <-chan struct{}) {
	a := commit.Announcement{Run: "0", Action: commit.Allocating, By: "tenant \x1b[31m"}
	for _, device := range []string{"cpu-01", "cpu-02"} {
		a.Devices = append(a.Devices, commit.AnnouncedDevice{Driver: "nic.example.com", Pool: device, Device: "uplink-0"})
	}
	for {
		a.At = a.At.Add(time.Second)
		text, err := json.Marshal(a)
		if err != nil {
			panic(err)
		}
		s.ChangeClaim("dev", "scratch-gpu", func(c *resourcev1.ResourceClaim) { c.Annotations = map[string]string{commit.Annotation: string(text)} })
		select {
		case <-done:
			return
		case <-time.After(500 * time.Millisecond):
		}
	}
}

// TestHostileQuantityEverywhere: one tenant's claim and one driver's attribute that would take for ever to
// compute do not hold up any other command.
func TestHostileQuantityEverywhere(t *testing.T) {
	skipKnown(t)
	s, url := scene(t)
	s.Apply(`{kind: DeviceClass, apiVersion: resource.k8s.io/v1, metadata: {name: evil}, spec: {selectors: [{cel: {expression: 'device.driver == "d.example.com"'}}]}}`)
	s.Apply(evilSlice(`attributes: {m: {string: "1e-2000000000"}}`))
	s.Apply(evilClaim(`quantity("1e-2000000000").isGreaterThan(quantity("1"))`, "{}"))
	for _, line := range []string{
		"get claims -A", "get claims -n ml", "get devices", "get pools", "get nodes", "get classes", "explain claim train-0 -n ml", "explain claim aaa -n dev",
		"fit claim train-0 -n ml", "top nodes --once", "cel device.driver!='x'", "allocate claim aaa -n dev --dry-run=server",
	} {
		r := newProcess(t, url, strings.Fields(line)...).inPipes(t)
		if r.killed || r.cpu > mostCPU || line != "explain claim aaa -n dev" && !strings.Contains(line, "aaa") && r.exit == 1 {
			t.Errorf("%s: exit code %d after %s and %s of CPU:\n%s", line, r.exit, r.took, r.cpu, r.stderr)
		}
	}
}
