package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	flowcontrolv1beta3 "k8s.io/api/flowcontrol/v1beta3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/apis/flowcontrol/install"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/e2e/cluster"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
)

// betaYAML is served by no server of today. At v1beta3, shares of 0 could not be told from none, but for the
// annotation.
const betaYAML = `
{apiVersion: flowcontrol.apiserver.k8s.io/v1beta3, kind: PriorityLevelConfiguration, metadata: {name: beta-none},
 spec: {type: Limited, limited: {lendablePercent: 20, ` + reject + `}}}
---
{apiVersion: flowcontrol.apiserver.k8s.io/v1beta3, kind: PriorityLevelConfiguration, metadata: {name: beta-zero},
 spec: {type: Limited, limited: {nominalConcurrencyShares: 0, borrowingLimitPercent: 60, ` + reject + `}}}
---
{apiVersion: flowcontrol.apiserver.k8s.io/v1beta3, kind: PriorityLevelConfiguration,
 metadata: {name: beta-kept, annotations: {flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares: ""}},
 spec: {type: Limited, limited: {nominalConcurrencyShares: 0, ` + reject + `}}}
---
{apiVersion: flowcontrol.apiserver.k8s.io/v1beta3, kind: PriorityLevelConfiguration, metadata: {name: beta-queues},
 spec: {type: Limited, limited: {nominalConcurrencyShares: 77, lendablePercent: 100, borrowingLimitPercent: 0, limitResponse: {type: Queue, queuing: {}}}}}
`

// asStored returns an object of an old version as a server kept it: with the defaults of the version,
// converted by way of the internal one by Kubernetes' own code.
func asStored(t testing.TB, data []byte) runtime.Object {
	t.Helper()
	internal, err := runtime.Decode(legacyscheme.Codecs.UniversalDecoder(), data)
	if err != nil {
		t.Fatal(err)
	}
	object, err := legacyscheme.Scheme.ConvertToVersion(internal, flowcontrolv1.SchemeGroupVersion)
	if err != nil {
		t.Fatal(err)
	}
	return object
}

// testBeta compares what the plugin makes of v1beta3 manifests, together with the other levels of the
// server, with what the server makes of the objects as they were stored.
func testBeta(t *testing.T, c *cluster.Cluster, seats int, upper bool) {
	objects, err := c.Client().FlowcontrolV1().PriorityLevelConfigurations().List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	text := betaYAML
	for _, o := range objects.Items {
		o.TypeMeta = metav1.TypeMeta{APIVersion: flowcontrolv1.SchemeGroupVersion.String(), Kind: "PriorityLevelConfiguration"}
		data, err := json.Marshal(o) // JSON is YAML
		if err != nil {
			t.Fatal(err)
		}
		text += "---\n" + string(data) + "\n"
	}
	file := filepath.Join(t.TempDir(), "levels.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, o := range cluster.DecodeText(t, betaYAML) {
		data, err := o.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		stored := asStored(t, data).(*flowcontrolv1.PriorityLevelConfiguration) //nolint:forcetypeassert // that is the kind
		if _, err := c.Client().FlowcontrolV1().PriorityLevelConfigurations().Create(t.Context(), stored, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	untilEqual(t, func(ctx context.Context) (string, error) {
		want, err := serverLimits(ctx, c)
		if err != nil {
			return "", err
		}
		for name, row := range want {
			row[3] = -1 // a file has no current limits
			want[name] = row
		}
		got := limitsOf(levels(t, c, cluster.Admin, "--from", file, "--server-concurrency", fmt.Sprint(seats)), upper)
		return cmp.Diff(want, got), nil
	})
	list := levels(t, c, cluster.Admin)
	if names := []string{"beta-none", "beta-zero", "beta-kept", "beta-queues"}; slices.ContainsFunc(names, func(name string) bool {
		return list.named(t, name).Nominal == 0 != (name == "beta-kept")
	}) {
		t.Errorf("of %v, only beta-kept should be without seats", names)
	}
}

// maybe returns a number from 0 to most, or sometimes none.
func maybe(r *rand.Rand, most int32) *int32 {
	if r.IntN(3) == 0 {
		return nil
	}
	return ptr.To(r.Int32N(most + 1))
}

// randomBeta is a PriorityLevelConfiguration of v1beta3 in which anything may be left out.
func randomBeta(r *rand.Rand, name string) *flowcontrolv1beta3.PriorityLevelConfiguration {
	level := &flowcontrolv1beta3.PriorityLevelConfiguration{
		TypeMeta:   metav1.TypeMeta{APIVersion: flowcontrolv1beta3.SchemeGroupVersion.String(), Kind: "PriorityLevelConfiguration"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{"other": "annotation"}},
	}
	if r.IntN(3) == 0 {
		level.Annotations[flowcontrolv1beta3.PriorityLevelPreserveZeroConcurrencySharesKey] = pick(r, []string{"", "true", "false"})
	}
	if r.IntN(4) == 0 {
		level.Spec.Type = flowcontrolv1beta3.PriorityLevelEnablementExempt
		if r.IntN(3) > 0 {
			level.Spec.Exempt = &flowcontrolv1beta3.ExemptPriorityLevelConfiguration{NominalConcurrencyShares: maybe(r, 90), LendablePercent: maybe(r, 100)}
		}
		return level
	}
	level.Spec.Type = flowcontrolv1beta3.PriorityLevelEnablementLimited
	level.Spec.Limited = &flowcontrolv1beta3.LimitedPriorityLevelConfiguration{
		NominalConcurrencyShares: ptr.Deref(maybe(r, 2), 0), LendablePercent: maybe(r, 100), BorrowingLimitPercent: maybe(r, 300),
		LimitResponse: flowcontrolv1beta3.LimitResponse{Type: flowcontrolv1beta3.LimitResponseTypeReject},
	}
	if r.IntN(2) == 0 {
		level.Spec.Limited.LimitResponse = flowcontrolv1beta3.LimitResponse{Type: flowcontrolv1beta3.LimitResponseTypeQueue, Queuing: &flowcontrolv1beta3.QueuingConfiguration{
			Queues: ptr.Deref(maybe(r, 128), 0), HandSize: ptr.Deref(maybe(r, 8), 0), QueueLengthLimit: ptr.Deref(maybe(r, 99), 0),
		}}
	}
	return level
}

// TestBetaLevels reads a thousand random priority levels of v1beta3 from files, and holds them against what
// Kubernetes' own defaulting and conversion makes of them.
func TestBetaLevels(t *testing.T) {
	random := rand.New(rand.NewPCG(15, 9))
	kept, zero, exempt := 0, 0, 0
	for i := range 1000 {
		level := randomBeta(random, fmt.Sprint("level-", i))
		data, err := json.Marshal(level)
		if err != nil {
			t.Fatal(err)
		}
		want := asStored(t, data).(*flowcontrolv1.PriorityLevelConfiguration) //nolint:forcetypeassert // that is the kind
		result, err := manifest.ReadBytes("level.json", data, manifest.Options{})
		if err != nil || len(result.Objects.PriorityLevels) != 1 {
			t.Fatalf("reading %s: %v", data, err)
		}
		got := result.Objects.PriorityLevels[0]
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), cmpopts.IgnoreTypes(metav1.TypeMeta{})); diff != "" {
			t.Fatalf("of %s: (-Kubernetes +plugin):\n%s", data, diff)
		}
		switch limited := want.Spec.Limited; {
		case limited == nil:
			exempt++
		case *limited.NominalConcurrencyShares == 0:
			kept++
		case level.Spec.Limited.NominalConcurrencyShares == 0:
			zero++
		}
	}
	if kept < 50 || zero < 50 || exempt < 50 {
		t.Errorf("%d levels kept their 0, of %d it became the default, and %d are exempt: want 50 of each", kept, zero, exempt)
	}
}

// TestBetaSchemas is TestBetaLevels for FlowSchemas.
func TestBetaSchemas(t *testing.T) {
	random, defaulted := rand.New(rand.NewPCG(15, 10)), 0
	for i := range 300 {
		schema := randomSchema(random, i)
		if random.IntN(3) == 0 {
			schema.Spec.MatchingPrecedence = 0
			defaulted++
		}
		schema.TypeMeta = metav1.TypeMeta{APIVersion: flowcontrolv1beta3.SchemeGroupVersion.String(), Kind: "FlowSchema"} // its fields are those of v1
		data, err := json.Marshal(schema)
		if err != nil {
			t.Fatal(err)
		}
		want := asStored(t, data).(*flowcontrolv1.FlowSchema) //nolint:forcetypeassert // that is the kind
		result, err := manifest.ReadBytes("schema.json", data, manifest.Options{})
		if err != nil || len(result.Objects.FlowSchemas) != 1 {
			t.Fatalf("reading %s: %v", data, err)
		}
		if diff := cmp.Diff(want, result.Objects.FlowSchemas[0], cmpopts.EquateEmpty(), cmpopts.IgnoreTypes(metav1.TypeMeta{})); diff != "" {
			t.Fatalf("of %s: (-Kubernetes +plugin):\n%s", data, diff)
		}
	}
	if defaulted < 50 {
		t.Errorf("only %d schemas were without precedence", defaulted)
	}
}
