package archive

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	configv1 "k8s.io/kube-scheduler/config/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect/schedulerconfig"
)

// scheduler replaces the names in a configuration of kube-scheduler as in the objects: of schedulers, labels,
// resources, and plugins that are not its own. What decides about no pod is dropped.
func (r *renamer) scheduler(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	c, err := schedulerconfig.Decode([]byte(text))
	if err != nil {
		return "", err
	}
	out := &configv1.KubeSchedulerConfiguration{TypeMeta: c.TypeMeta, PercentageOfNodesToScore: c.PercentageOfNodesToScore}
	for i := range c.Profiles {
		out.Profiles = append(out.Profiles, r.profile(&c.Profiles[i]))
	}
	for i := range c.Extenders {
		out.Extenders = append(out.Extenders, r.extender(&c.Extenders[i]))
	}
	if r.learning {
		return text, nil
	}
	data, err := schedulerconfig.Encode(out)
	return string(data), err
}

func (r *renamer) profile(p *configv1.KubeSchedulerProfile) configv1.KubeSchedulerProfile {
	out := configv1.KubeSchedulerProfile{Plugins: p.Plugins, PercentageOfNodesToScore: p.PercentageOfNodesToScore}
	if p.SchedulerName != nil {
		name := r.text(*p.SchedulerName)
		out.SchedulerName = &name
	}
	if p.Plugins != nil {
		for sets, i := reflect.ValueOf(p.Plugins).Elem(), 0; i < sets.NumField(); i++ {
			set, _ := sets.Field(i).Addr().Interface().(*configv1.PluginSet)
			for _, plugins := range [][]configv1.Plugin{set.Enabled, set.Disabled} {
				for j := range plugins {
					plugins[j].Name = r.plugin(plugins[j].Name)
				}
			}
		}
	}
	for _, one := range p.PluginConfig {
		if r.args(one.Args.Object) {
			out.PluginConfig = append(out.PluginConfig, one)
		}
	}
	return out
}

// plugin keeps the names of kube-scheduler's own plugins.
func (r *renamer) plugin(name string) string {
	if name == "*" || schedulerconfig.Own(name) {
		return name
	}
	return r.text(name)
}

// args replaces the names in arguments of a plugin. It is false for arguments that are not known.
func (r *renamer) args(args runtime.Object) bool {
	switch args := args.(type) {
	case *configv1.NodeAffinityArgs:
		r.walk(reflect.ValueOf(&args.AddedAffinity).Elem(), nil)
	case *configv1.NodeResourcesFitArgs:
		// The groups of resources are not to be told from their new names.
		for _, group := range args.IgnoredResourceGroups {
			for _, name := range slices.Sorted(maps.Keys(r.known[resources])) {
				if strings.HasPrefix(name, group+"/") {
					args.IgnoredResources = append(args.IgnoredResources, name)
				}
			}
		}
		args.IgnoredResourceGroups = nil
		for i := range args.IgnoredResources {
			args.IgnoredResources[i] = r.resource(args.IgnoredResources[i])
		}
		if args.ScoringStrategy != nil {
			r.specs(args.ScoringStrategy.Resources)
		}
	case *configv1.NodeResourcesBalancedAllocationArgs:
		r.specs(args.Resources)
	case *configv1.PodTopologySpreadArgs:
		for i := range args.DefaultConstraints {
			args.DefaultConstraints[i].TopologyKey = r.text(args.DefaultConstraints[i].TopologyKey)
		}
	case *configv1.DefaultPreemptionArgs, *configv1.InterPodAffinityArgs, *configv1.VolumeBindingArgs, *configv1.DynamicResourcesArgs:
	default:
		return false
	}
	return true
}

func (r *renamer) specs(of []configv1.ResourceSpec) {
	for i := range of {
		of[i].Name = r.resource(of[i].Name)
	}
}

func (r *renamer) extender(e *configv1.Extender) configv1.Extender {
	out := configv1.Extender{URLPrefix: r.text(e.URLPrefix), Weight: e.Weight, Ignorable: e.Ignorable}
	for _, verb := range []struct {
		from string
		to   *string
	}{{e.FilterVerb, &out.FilterVerb}, {e.PrioritizeVerb, &out.PrioritizeVerb}, {e.BindVerb, &out.BindVerb}, {e.PreemptVerb, &out.PreemptVerb}} {
		if verb.from != "" {
			*verb.to = "verb"
		}
	}
	for _, m := range e.ManagedResources {
		m.Name = r.resource(m.Name)
		out.ManagedResources = append(out.ManagedResources, m)
	}
	return out
}
