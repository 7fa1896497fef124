package kueueconfig

import (
	"slices"
	"strings"
	"testing"
)

const header = "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n"

// TestRead: what decides is read, what does not is passed over, and what is not known is named.
func TestRead(t *testing.T) {
	for name, test := range map[string]struct {
		text, flags string
		unknown     string
		check       func(c *Config) bool
	}{
		"as installed": {text: header + "leaderElection: {leaderElect: true}\ncontroller: {groupKindConcurrency: {Job.batch: 5}}\nintegrations: {frameworks: [batch/job, pod]}\n",
			check: func(c *Config) bool { return slices.Contains(c.Settings().Integrations.Frameworks, "pod") }},
		"mappings": {text: header + "resources: {deviceClassMappings: [{name: example.com/gpu, deviceClassNames: [gpu]}]}\n",
			check: func(c *Config) bool { return c.Settings().Resources.DeviceClassMappings[0].Name == "example.com/gpu" }},
		"a field of the future":       {text: header + "resources: {deviceClassMappings: [{name: a.example/b, deviceClassNames: [c], weight: 2}]}\n", unknown: `unknown field "resources.deviceClassMappings[0].weight"`},
		"a value of the future":       {text: header + "resources: {quotaCheckStrategy: Ask}\n", unknown: `unknown value "Ask" of "resources.quotaCheckStrategy"`},
		"another top field":           {text: header + "preemption: {}\n", unknown: `unknown field "preemption"`},
		"flags win":                   {text: header + "featureGates: {A: true, B: true}\n", flags: "A=false, C=true", check: func(c *Config) bool { return !c.Gates()["A"] && c.Gates()["B"] && c.Gates()["C"] }},
		"a flag that is none":         {text: header, flags: "A=maybe", unknown: `--feature-gates: "A=maybe"`},
		"v1beta1 turns things on":     {text: strings.Replace(header, "v1beta2", "v1beta1", 1) + "fairSharing: {enable: true}\nwaitForPodsReady: {enable: true, timeout: 5m}\n", check: func(c *Config) bool { return c.Settings().FairSharing != nil && c.Settings().WaitForPodsReady != nil }},
		"v1beta1 that does not":       {text: strings.Replace(header, "v1beta2", "v1beta1", 1) + "fairSharing: {enable: false}\nwaitForPodsReady: {timeout: 5m}\n", check: func(c *Config) bool { return c.Settings().FairSharing == nil && c.Settings().WaitForPodsReady == nil }},
		"v1beta2 is on without words": {text: header + "fairSharing: {}\n", check: func(c *Config) bool { return c.Settings().FairSharing != nil }},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := Read([]byte(test.text), test.flags)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(c.Unknown(), "; "); got != test.unknown {
				t.Errorf("unknown: %s", got)
			}
			if test.check != nil && !test.check(c) {
				t.Errorf("settings: %+v, gates %v", c.Settings(), c.Gates())
			}
		})
	}
}

// TestReadRefuses: what is no configuration is an error, and no quantity hangs it.
func TestReadRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"another kind": "apiVersion: v1\nkind: ConfigMap\n", "a list": "[]", "broken": ": {", "a wrong type": header + "resources: 3\n",
		"twice": header + header, "nothing": "",
	} {
		if c, err := Read([]byte(text), ""); err == nil {
			t.Errorf("%s: %+v", name, c.Settings())
		}
	}
	hostile := header + `resources: {transformations: [{input: a, outputs: {b: "1e2000000000"}}]}`
	if c, err := Read([]byte(hostile), ""); err == nil && len(c.Settings().Resources.Transformations) != 1 {
		t.Errorf("a hostile quantity: %+v", c.Settings())
	}
}
