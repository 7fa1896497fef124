package documents

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/kubectl-dra/kubectl-dra/explain"
)

// fixExamples are questions whose answers propose each kind of fix.
var fixExamples = map[string]example{
	"ReduceCount":        {"", "claim train-0 -n ml"},
	"ReduceCapacity":     {"", "claim cdn-egress-2 -n net"},
	"RelaxSelector":      {"", "claim llama-405b-eval -n ml"},
	"DropConstraint":     {"", "claim train-0 -n ml"},
	"TolerateTaint":      {"", "claim driver-canary -n ml"},
	"UseCapacity":        {ours + "capacity-name.txtar", "claim c"},
	"UseClass":           {"", "claim rerank-0 -n infer"},
	"UseClaim":           {ours + "claim-name.txtar", ""},
	"RemoveTaint":        {"", "claim driver-canary -n ml"},
	"ReleaseClaim":       {"", "claim pretrain-2 -n ml"},
	"UseNode":            {"", "claim train-1 -n ml --node gpu-a-01"},
	"AddNode":            {"", "claim pretrain-2 -n ml"},
	"ReduceRequest":      {"", "pod allreduce-0 -n ml"},
	"MovePod":            {"", "pod thumbnails -n dev"},
	"ChangeStorageClass": {"", "pvc checkpoints -n ml"},
	"UncordonNode":       {"testdata/pods/cordoned.txtar", "pod p"},
	"PinPod":             {"testdata/several/pods-last-one-depends.txtar", "pod a b"},
	"ChangeOrder":        {"testdata/several/pods-with-a-prioritized-list.txtar", "pod a b"},
	"DropChoice":         {"testdata/several/pods-with-a-prioritized-list.txtar", "pod a b"},
	"ReduceMinCount":     {"testdata/several/gang-of-gpus-short.txtar", "pod w0 w1 w2 w3"},
	"WaitFor":            {"testdata/pods/scheduling-gates.txtar", "pod p"},
	"AddDevices":         {"", "claim transcode-8k -n dev"},
	"CreateClass":        {"", "claim rerank-0 -n infer"},
	"LabelNamespace":     {ours + "admin-access.txtar", "claim c"},
	"ReducePods":         {ours + "queue.txtar", "job train -n ml"},
	"UseQueue":           {ours + "queue.txtar", "job train -n ml"},
	"UseFlavor":          {ours + "flavors.txtar", "job train -n ml"},
	"EndWorkload":        {ours + "queue.txtar", "job train -n ml"},
	"RaiseQuota":         {ours + "queue.txtar", "job train -n ml"},
	"EnableFeature":      {"testdata/scenarios/more-prioritized-list-off.txtar", "claim a"},
}

const fixesHead = writtenFromSource + `# Fixes

What ` + "`explain`" + ` proposes when the answer is no: every kind of change, as ` + "`fixes[].kind`" + ` in JSON and YAML. The kinds are stable. How fixes are
numbered, printed and carried out is in [explain.md](explain.md#fixes).

## How a fix is verified

No fix is a guess. The change is made to a copy of the whole cluster as it was read, the scheduler's decision is made again, and what does
not help is not shown. ` + "`nodes`" + ` is the number of nodes on which it then fits.

- A change of claims alone is tried on every node that the pod can use. Of nodes that are alike in all that the decision reads, one is asked.
- A change of anything else is tried in the whole cluster up to 512 nodes, and in a larger one on the 32 that come nearest; ` + "`nodes`" + ` counts those.
- A fix of several pods (PinPod, ChangeOrder, DropChoice, ReduceMinCount) has to help in every run that kube-scheduler's choice of nodes allows.
- For a node, devices or a class that do not exist, such are added to the copy: like those that there are, and free.
- A fix that needs further changes names them (` + "`also`" + `), and is shown only with all of them made.

What is tried is the scheduler's decision at that moment. A cluster goes on: what is free now may be taken when the fix is made.

## Who can make it

The third column says whose the object is that is changed: the user's (claims and pods), the driver's, or the cluster admin's. Where a fix
touches what belongs to others, such as claims in other namespaces or selectors of a class, ` + "`actor`" + ` of the fix names them instead.

## Kinds

| kind | what it changes | who | JSON patch of |
|---|---|---|---|
`

var patchOf = regexp.MustCompile(`^(.*)\. Patch: (.*)\.$`)

// actorWords are the actors in words.
var actorWords = map[explain.Actor]string{explain.User: "you", explain.DriverAdmin: "who runs the driver", explain.ClusterAdmin: "the cluster's admin"}

// TestWrittenFixes compares docs/fixes.md with the source and with what the program prints. It fails when a
// kind has no example, or when the example does not propose it.
func TestWrittenFixes(t *testing.T) {
	kinds := append(constants(t, "explain/fix.go", "FixKind"), constants(t, "explain/volume.go", "FixKind")...)
	examples := examplesOf(t, "docs/fixes.md", kinds, fixExamples, "kind", "fixes")
	var b strings.Builder
	b.WriteString(fixesHead)
	for i, c := range kinds {
		change, patch := strings.TrimSuffix(c.comment, "."), "–"
		if m := patchOf.FindStringSubmatch(c.comment); m != nil {
			change, patch = m[1], m[2]
		}
		kinds[i].comment = change + "."
		actor := (&explain.Fix{Kind: explain.FixKind(c.name)}).Actor(explain.Subject{})
		if c.name == "ReleaseClaim" || c.name == "MovePod" {
			actor = explain.ClusterAdmin
		}
		who := actorWords[actor]
		if c.name == "ReleaseClaim" || c.name == "MovePod" {
			who = "whose claims or pods they are"
		}
		fmt.Fprintf(&b, "| [`%s`](#%s) | %s | %s | %s |\n", c.name, strings.ToLower(c.name), change, who, patch)
	}
	sections(&b, "## Examples", kinds, examples)
	written(t, "docs/fixes.md", b.String())
}
