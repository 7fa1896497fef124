package flowcontrol

import (
	"strings"
	"testing"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	"k8s.io/apiserver/pkg/apis/flowcontrol/bootstrap"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

func bootstrapLevel(t testing.TB, name string) *flowcontrolv1.PriorityLevelConfiguration {
	t.Helper()
	for _, level := range bootstrapLevels() {
		if level.Name == name {
			return level
		}
	}
	t.Fatalf("there is no level %s", name)
	return nil
}

// TestSet: 60 of 205 shares of workload-low, 600 seats.
func TestSet(t *testing.T) {
	low := bootstrapLevel(t, "workload-low")
	got, err := Set(low, "shares=60, lendable=50,borrowing=10,queues=16,hand=4,queueLength=7")
	if err != nil {
		t.Fatal(err)
	}
	limits := Compute([]*flowcontrolv1.PriorityLevelConfiguration{got}, 65) // 60 of 65 with catch-all
	level, _ := limits.Level("workload-low")
	if level.Nominal != 60 || level.Lower != 30 || level.Upper != 66 || *level.Queuing != (Queuing{16, 4, 7}) {
		t.Errorf("%+v", level)
	}
	if *low.Spec.Limited.NominalConcurrencyShares != 100 {
		t.Error("the level itself was changed")
	}
	if got, err := Set(got, "borrowing=none"); err != nil || got.Spec.Limited.BorrowingLimitPercent != nil {
		t.Errorf("%v %v", got, err)
	}
	if got, err := Set(bootstrapLevel(t, "exempt"), "shares=7,lendable=3"); err != nil || *got.Spec.Exempt.NominalConcurrencyShares != 7 || *got.Spec.Exempt.LendablePercent != 3 {
		t.Errorf("%v %v", got, err)
	}
	for changes, want := range map[string]string{
		"seats=3": `"seats=3" is none of shares=NUMBER`, "shares": "is none of", "shares=x": "no whole number", "shares=99999999999": "no whole number", "lendable=none": "no whole number",
	} {
		if _, err := Set(low, changes); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", changes, err)
		}
	}
	for name, changes := range map[string]string{"exempt": "queues=3", "catch-all": "hand=3"} {
		if _, err := Set(bootstrapLevel(t, name), changes); err == nil || !strings.Contains(err.Error(), "it has no field for") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestRefused: what no server accepts, and that it accepts its own configuration.
func TestRefused(t *testing.T) {
	low := bootstrapLevel(t, "workload-low")
	for changes, want := range map[string]string{
		"hand=200":               "handSize 200 is greater than deckSize 128",
		"queues=512,hand=8":      "required entropy bits",
		"queues=1024,hand=6":     "", // 60 bits
		"lendable=101":           "lendablePercent is 101",
		"shares=-1":              "nominalConcurrencyShares is -1",
		"queueLength=0":          "queueLengthLimit is not positive",
		"queues=10000001,hand=2": "queues must not be greater than 10000000",
	} {
		level, err := Set(low, changes)
		if err != nil {
			t.Fatal(err)
		}
		if got := RefusedLevel(level); want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", changes, got, want)
		}
	}
	catchAll, err := Set(bootstrapLevel(t, "catch-all"), "shares=50")
	if err != nil || !strings.Contains(RefusedLevel(catchAll), "must equal the fixed value") {
		t.Errorf("%v %v", catchAll, err)
	}
	for _, level := range bootstrapLevels() {
		if reason := RefusedLevel(level); reason != "" {
			t.Errorf("%s: %s", level.Name, reason)
		}
	}
	for _, schema := range bootstrapSchemas() {
		if reason := RefusedSchema(schema); reason != "" {
			t.Errorf("%s: %s", schema.Name, reason)
		}
	}
	for want, change := range map[string]func(*flowcontrolv1.FlowSchema){
		"which only the schema named exempt": func(s *flowcontrolv1.FlowSchema) { s.Spec.MatchingPrecedence = 1 },
		"not between 1 and 10000":            func(s *flowcontrolv1.FlowSchema) { s.Spec.MatchingPrecedence = 10001 },
		"must equal the fixed value":         func(s *flowcontrolv1.FlowSchema) { s.Name = "catch-all" },
		"metadata.name":                      func(s *flowcontrolv1.FlowSchema) { s.Name = "A" },
	} {
		schema := bootstrap.SuggestedFlowSchemaServiceAccounts.DeepCopy()
		change(schema)
		if got := RefusedSchema(schema); !strings.Contains(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestMoves: a schema for one driver takes its requests, and nobody else's.
func TestMoves(t *testing.T) {
	before := bootstrapSchemas()
	mine := bootstrap.SuggestedFlowSchemaServiceAccounts.DeepCopy()
	mine.Name, mine.Spec.MatchingPrecedence, mine.Spec.PriorityLevelConfiguration.Name = "gpu-driver", 800, "system"
	mine.Spec.Rules[0].Subjects = []flowcontrolv1.Subject{{Kind: "ServiceAccount", ServiceAccount: &flowcontrolv1.ServiceAccountSubject{Namespace: "gpu", Name: "driver"}}}
	after := append(before[:len(before):len(before)], mine)
	limits := Compute(bootstrapLevels(), 600)
	actor := Actor{Role: RoleDriver, Driver: "gpu.example.com", User: "system:serviceaccount:gpu:driver"}
	s := inspect.New(inspect.Objects{PriorityLevels: bootstrapLevels(), FlowSchemas: before}, inspect.Config{})
	moves := Moves(Probes(append(DRAActors(s), actor), after), before, after, &limits, &limits)
	if len(moves) != 4 {
		t.Fatalf("%d moves, want two of the actor and two for the rules of the schema: %+v", len(moves), moves)
	}
	for _, m := range moves {
		if m.Before.Level != "workload-low" || m.After.Level != "system" || m.After.Schema != "gpu-driver" || m.Probe.Request.User != actor.User {
			t.Errorf("%+v", m)
		}
	}
	// Every probe of the default configuration is a request that the schema takes, or one before it.
	for _, probe := range Probes(nil, before) {
		if got := Classify(before, &limits, &probe.Request); got.Schema != probe.Of && probe.Of != "catch-all" && probe.Of != "global-default" {
			t.Errorf("%s %s %s of %s goes to %s", probe.Request.User, probe.Request.Method, probe.Request.URL, probe.Of, got.Schema)
		}
	}
}
