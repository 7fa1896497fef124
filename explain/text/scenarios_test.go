package text_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/explain/text"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/scenario"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// TestGoldenScenarios pins what is said of claims for real drivers that cannot be allocated on a node. The
// scenarios say why; what happens in them is what users of these drivers meet.
func TestGoldenScenarios(t *testing.T) {
	for _, asked := range []string{
		"real-nvidia-full-gpu gpu-test6/a100 gpu-node-1", // a model that the node does not have
		"real-nvidia-mig default/mig-devices a100-2",     // fragmented: the large partition has no place left
		"real-nvidia-mig default/whole a100-2",           // a partition keeps the GPU from being had as a whole
		"real-intel-gpu default/one-flex rpl-s",
		"real-intel-gpu default/monitor-claim flex",
		"real-amd-partitions gpu-test/two-partitions-same-parent mi300x-3",
		"real-google-tpu tpu-test/multi-tpu kind-control-plane",
		"real-google-tpu default/v6e-tpus kind-control-plane", // the selector of the driver's example fails
		"real-tpu-slices-over-hosts default/tpus-8 node-1",
		"real-cpu-grouped default/numa-spread-cpus busy",
		"real-memory-and-cpu default/memory-512m small",
		"real-memory-and-cpu default/aligned small",
		"real-sriov default/resource-alignment edge-2",
		"real-dranet-numa default/4nic-same-numa aks-gpu-37973606-vmss000000",
		"real-dranet-gb300 default/1nic-unaligned other",
		"real-dranet-gpu-efa-aligned default/gpu-efa-aligned other",
		"real-shared-nic-bandwidth default/nic-10g-in-5g-out net-2",
		"real-shared-nic-bandwidth default/two-functions net-1", // the policy of the driver allows one
	} {
		t.Run(asked, func(t *testing.T) {
			parts := strings.Fields(asked)
			s, err := scenario.Load(filepath.Join("../../testdata/scenarios", parts[0]+".txtar"))
			if err != nil {
				t.Fatal(err)
			}
			namespace, name, _ := strings.Cut(parts[1], "/")
			cluster := scheduler.NewCluster(s.Snapshot, scheduler.Options{})
			ref := inspect.ClaimRef{Namespace: namespace, Name: name}
			e, err := question.Claim(context.Background(), cluster, ref, question.Options{Node: inspect.NodeName(parts[2])})
			if err != nil {
				t.Fatal(err)
			}
			var got bytes.Buffer
			if err := text.Render(&got, e, text.Options{Width: 80}); err != nil {
				t.Fatal(err)
			}
			checkWidth(t, got.String(), 80)
			checkGolden(t, parts[0]+"-"+name, got.Bytes())
		})
	}
}

// checkGolden compares with a file of testdata.
func checkGolden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name+".txt")
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%v; got:\n%s", err, got)
	}
}
