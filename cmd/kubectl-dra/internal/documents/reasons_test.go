package documents

import (
	"fmt"
	"strings"
	"testing"
)

// reasonExamples are questions whose answers give each reason.
var reasonExamples = map[string]example{
	"ClassNotFound":              {"", "claim rerank-0 -n infer"},
	"NoDevices":                  {"testdata/scenarios/hard-50-expired-context.txtar", "claim a"},
	"PoolIncomplete":             {"", "claim transcode-8k -n dev"},
	"PoolInvalid":                {"testdata/scenarios/hard-17-device-listed-for-two-nodes.txtar", "claim a"},
	"ClassSelectorRejected":      {"", "claim llama-405b-eval -n ml"},
	"SelectorRejected":           {"", "claim llama-405b-eval -n ml"},
	"SelectorError":              {"", "claim sweep-2 -n ml"},
	"DeviceTainted":              {"", "claim driver-canary -n ml"},
	"DeviceInUse":                {"", "claim video-transcode-1 -n dev"},
	"CapacityInsufficient":       {"", "claim cdn-egress-2 -n net"},
	"CapacityPolicyViolated":     {"testdata/scenarios/hard-76-amount-out-of-range.txtar", "claim a"},
	"CountersExhausted":          {"", "claim whisper-large -n infer"},
	"CompatibilityGroupConflict": {"testdata/scenarios/more-groups-in-common.txtar", "claim b"},
	"AttributeMissing":           {"testdata/scenarios/hard-51-match-of-one-without-attribute.txtar", "claim match"},
	"MatchAttributeConflict":     {"", "claim train-0 -n ml"},
	"DistinctAttributeConflict":  {"testdata/scenarios/hard-59-shareable-device-and-distinct.txtar", "claim two"},
	"NotEnoughDevices":           {"", "claim pretrain-2 -n ml"},
	"AllDevicesRequired":         {"testdata/scenarios/hard-34-all-with-one-missing.txtar", "claim a"},
	"TooManyDevices":             {"testdata/scenarios/hard-28-claim-beyond-the-limit.txtar", "claim a"},
	"FeatureDisabled":            {"testdata/scenarios/more-prioritized-list-off.txtar", "claim a"},
	"NodeUnsuitable":             {"testdata/scenarios/hard-87-skip-node-operations-default.txtar", "claim a"},
	"SearchLimit":                {ours + "search-limit.txtar", "claim c"},
	"SchedulerCrash":             {ours + "all-crashes.txtar", "claim c"},
	"Malformed":                  {"testdata/scenarios/more-bad-node-selector.txtar", "claim a"},
	"InsufficientResources":      {"", "pod thumbnails -n dev"},
	"TooManyPods":                {"testdata/pods/too-many-pods.txtar", "pod p"},
	"PortInUse":                  {"testdata/pods/host-port-taken.txtar", "pod p"},
	"NodeAffinity":               {"testdata/pods/node-affinity-in.txtar", "pod p"},
	"NodeTainted":                {"testdata/pods/taint-not-tolerated.txtar", "pod p"},
	"NodeUnschedulable":          {"testdata/pods/cordoned.txtar", "pod p"},
	"VolumeCapacity":             {"", "pvc checkpoints -n ml"},
	"VolumeNode":                 {"testdata/pods/volume-on-no-node.txtar", "pod p"},
	"VolumeZone":                 {"testdata/pods/volume-of-another-zone-twice.txtar", "pod p"},
	"VolumeLimit":                {"testdata/pods/volume-limit-reached.txtar", "pod p"},
	"VolumeInUse":                {"testdata/pods/volume-for-one-pod.txtar", "pod p"},
	"VolumeUnbound":              {"testdata/pods/volume-claim-missing.txtar", "pod p"},
	"SpreadConstraint":           {"testdata/pods/spread-full.txtar", "pod p"},
	"PodAffinity":                {"testdata/pods/pod-affinity-with-nobody.txtar", "pod p"},
	"PodAntiAffinity":            {"testdata/pods/pod-anti-affinity.txtar", "pod p"},
	"DeclaredFeature":            {ours + "declared-feature.txtar", "pod p"},
	"AdminAccessRefused":         {ours + "admin-access.txtar", "claim c"},
	"SchedulingGated":            {"testdata/pods/scheduling-gates.txtar", "pod p"},
	"PodGroupIncomplete":         {"testdata/several/gang-too-few-pods.txtar", "pod w0 w1"},
}

// problemExamples are questions whose answers give each problem of a pod that has its devices.
var problemExamples = map[string]example{
	"PodFailed":       {"testdata/running/failed.txtar", "pod train-0 -n ml"},
	"ClaimNotCreated": {"testdata/running/quota-exhausted.txtar", "pod train-0 -n ml"},
	"NodeSilent":      {"testdata/running/node-unreachable.txtar", "pod train-0 -n ml"},
	"PrepareFailed":   {"testdata/running/prepare-failed.txtar", "pod train-0 -n ml"},
	"DriverMissing":   {"testdata/running/driver-missing.txtar", "pod train-0 -n ml"},
	"MountFailed":     {"testdata/running/mount-failed.txtar", "pod train-0 -n ml"},
	"SandboxFailed":   {"testdata/running/sandbox-failed.txtar", "pod train-0 -n ml"},
	"ContainerFailed": {"testdata/running/image-pull.txtar", "pod train-0 -n ml"},
	"BindingFailed":   {"testdata/running/binding-failed.txtar", "claim train-0-gpu-x7k2p -n ml"},
	"BindingPending":  {"testdata/running/binding-pending.txtar", "pod train-0 -n ml"},
	"VolumePending":   {"testdata/running/volume-pending.txtar", "pod web -n s"},
	"Evicting":        {"testdata/running/evicting-rule.txtar", "pod train-0 -n ml"},
	"DeviceGone":      {"testdata/running/device-gone.txtar", "pod train-0 -n ml"},
	"DeviceUnhealthy": {"testdata/running/device-unhealthy.txtar", "pod train-0 -n ml"},
}

const writtenFromSource = "<!-- Written by make generate from the source and what the program prints: change those instead. -->\n\n"

const reasonsHead = writtenFromSource + `# Reasons

Codes for programs, with what each means and a small cluster in which it is given. They are stable.

**[Reasons](#reasons)** say why a device, a pool, a request or a node is refused: ` + "`groups[].reasons[].code`" + ` in the JSON and YAML of
` + "`explain`" + `. Their comments are in allocator/code.go. **[Problems](#problems)** say what keeps a pod from running that has its devices, or
will end it: ` + "`lifecycle.problems[].code`" + `. Their comments are in explain/problem.go. The text of an answer says the same in words, without the code.

Most examples are of the demo cluster: try them with nothing but the program. The others are of files of the repository; their page
says which, and that the file is unpacked, as ` + "`txtar -x`" + ` does.

| reason | when it is given |
|---|---|
`

// TestWrittenReasons compares docs/reasons.md with the source and with what the program prints. It fails when
// a code has no example, or when the example does not give the code.
func TestWrittenReasons(t *testing.T) {
	reasons, problems := constants(t, "allocator/code.go", "Code"), constants(t, "explain/problem.go", "ProblemCode")
	ofReasons := examplesOf(t, "docs/reasons.md", reasons, reasonExamples, "code", "groups", "reasons")
	ofProblems := examplesOf(t, "docs/reasons.md", problems, problemExamples, "code", "lifecycle", "problems")
	var b strings.Builder
	b.WriteString(reasonsHead)
	table(&b, reasons)
	b.WriteString("\n| problem | when it is given |\n|---|---|\n")
	table(&b, problems)
	sections(&b, "## Reasons with examples", reasons, ofReasons)
	sections(&b, "## Problems", problems, ofProblems)
	written(t, "docs/reasons.md", b.String())
}

func table(b *strings.Builder, list []constant) {
	for _, c := range list {
		fmt.Fprintf(b, "| [`%s`](#%s) | %s |\n", c.name, strings.ToLower(c.name), c.comment)
	}
}

// sections has a heading for each code, so that others can link to it.
func sections(b *strings.Builder, title string, list []constant, examples map[string]string) {
	fmt.Fprintf(b, "\n%s\n", title)
	for _, c := range list {
		fmt.Fprintf(b, "\n### %s\n\n%s\n\n%s", c.name, strings.ToUpper(c.comment[:1])+c.comment[1:], examples[c.name])
	}
}
