// Package scores says which of the nodes that fit a pod kube-scheduler chooses: those to which the score
// plugins of its default profile give the most points together. It is a pure function of a snapshot.
//
// [Prepare] makes of a pod what the plugins' PreScore does, and [Scorer.Choose] compares nodes. Each plugin
// is a file under its own name, with a line in the table plugins. Where several nodes have the most points,
// the scheduler may choose any of them, so a [Choice] has them all.
//
// What a plugin counts and is not known here is a doubt. It does not make the whole choice unknown: a plugin
// gives no less than 0 points and no more than a hundred times its weight, so a node that is further behind
// is not chosen. In a cluster of a hundred nodes and more the scheduler stops looking once it has found
// enough nodes that fit, and where it begins is not known, so nodes may be chosen although others would have
// more points.
//
// What is supposed:
//
//   - kube-scheduler runs with the plugins, weights and arguments of the profile of the snapshot, by default
//     its default one, and without extenders that give points. Of a pod for another scheduler, or of a
//     profile that compares in a way that is not computed, any node may be chosen.
//   - Results for one pod are not used for the next one (feature gate OpportunisticBatching). With the
//     default profile they are not: it has default constraints for spreading pods, with which no pod has a
//     signature.
//
// The rules are those of Kubernetes 1.37 (pkg/scheduler/framework/plugins and schedule_one.go), and by
// feature gate and release those of 1.34 to 1.36.
//
// A plugin is added by its file and its line in plugins, in the scheduler's order. What it reads of a pod
// must survive [inspect.ReducePod], or be a doubt where it did not. TestScores in e2e/filters compares its
// points, and the choice.
package scores
