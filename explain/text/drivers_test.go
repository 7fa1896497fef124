package text_test

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/explain/text"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// TestGoldenDrivers pins explanations about objects of real drivers, of which the table in
// testdata/drivers/README.md says what is true.
func TestGoldenDrivers(t *testing.T) {
	for _, asked := range []string{
		"nvidia-gpu-h100 default/rct-anymig", "nvidia-gpu-h100 default/rct-cel-nomatch", "dranet-aks-gb300 default/1nic-aligned",
		"dranet-aks-mi300x default/4nic-same-numa", "dranet-eks-efa default/gpu-efa-aligned", "dranet-oke-gb200 default/4gpu-8nic",
		"google-tpu default/v6e-tpus", "intel-gaudi default/two-gaudi3", "intel-gpu-v1alpha3 default/gpu-4g",
		"dra-example-driver prioritized-alternatives/prioritized-gpu",
		"dra-example-driver-taints basic-resourceclaimtemplate/single-gpu-without-toleration",
		"kubectl-status dra-artifacts/artifact-gpu-template",
	} {
		t.Run(asked, func(t *testing.T) {
			folder, name, _ := strings.Cut(asked, " ")
			namespace, name, _ := strings.Cut(name, "/")
			e, err := question.Template(context.Background(), driverCluster(t, folder), namespace, name, question.Options{})
			if err != nil {
				t.Fatal(err)
			}
			var got bytes.Buffer
			if err := text.Render(&got, e, text.Options{Width: 80}); err != nil {
				t.Fatal(err)
			}
			checkWidth(t, got.String(), 80)
			checkGolden(t, "driver-"+folder+"-"+name, got.Bytes())
		})
	}
}

func driverCluster(t *testing.T, folder string) *scheduler.Cluster {
	t.Helper()
	read, err := manifest.Read(context.Background(), []string{filepath.Join("../../testdata/drivers", folder)}, manifest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	used := map[inspect.Gate]bool{}
	for _, gate := range inspect.FeaturesUsedBy(read.Objects) {
		used[gate] = true
	}
	features := inspect.DefaultFeatures(inspect.NewestMinor).With(used)
	return scheduler.NewCluster(inspect.New(read.Objects, inspect.Config{Features: features, Health: read.Health}), scheduler.Options{})
}
