package filters

import "github.com/kubectl-dra/kubectl-dra/inspect"

// gateTolerationComparison allows tolerations with Lt and Gt.
const gateTolerationComparison inspect.Gate = "TaintTolerationComparisonOperators"

// gateSets are gates that are switched together, because some depend on others.
var gateSets = []map[inspect.Gate]bool{
	{gateTolerationComparison: true},
	{"PodLevelResources": false, "InPlacePodLevelResourcesVerticalScaling": false},
	{"InPlacePodLevelResourcesVerticalScaling": false},
	{"InterPodAffinityHostnameFastPath": true},
	{"MatchLabelKeysInPodTopologySpread": false},
	{"VolumeLimitScaling": false},
}

// gateGroups allows groups of pods.
const gateGroups inspect.Gate = "GenericWorkload"

// switchGates makes some gates other than they are by default, in some problems.
func (g *generator) switchGates() {
	for _, gates := range gateSets {
		if !g.chance(0.06) {
			continue
		}
		for gate, on := range gates {
			if inspect.KnownGate(gate) {
				g.gates[gate] = on
			}
		}
	}
	if inspect.KnownGate(gateGroups) {
		g.gates[gateGroups] = g.chance(0.6)
	}
}
