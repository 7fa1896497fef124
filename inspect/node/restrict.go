package node

import (
	"slices"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// restrict leaves of the report what is of one pod: its containers and claims, the plugins that serve these,
// and what is wrong with them. How many devices and CPUs others have is not known when only one pod was asked
// for.
func (j *joining) restrict(only inspect.PodRef) {
	j.Plugins = j.view.Plugins
	if only == (inspect.PodRef{}) {
		return
	}
	j.Only, j.CPUs = only, nil
	drivers, resources := map[string]bool{}, map[string]bool{}
	claims := map[inspect.ClaimRef]bool{}
	for _, pod := range j.Containers {
		for _, use := range pod.Claims {
			claims[use.Claim] = true
		}
		for _, d := range pod.Devices {
			resources[d.Resource] = true
		}
	}
	j.Claims = slices.DeleteFunc(j.Claims, func(c ClaimReport) bool { return !claims[c.Claim] && !slices.Contains(c.Pods, only) })
	for i := range j.Claims {
		claims[j.Claims[i].Claim] = true
		for _, d := range j.Claims[i].Devices {
			drivers[d.Driver] = true
		}
	}
	j.Resources = slices.DeleteFunc(j.Resources, func(r ResourceReport) bool { return !resources[r.Resource] })
	for i := range j.Resources {
		j.Resources[i].Used = nil
	}
	j.Health = slices.DeleteFunc(j.Health, func(h DeviceHealth) bool { return h.Pod != only })
	j.Missing = slices.DeleteFunc(j.Missing, func(m MissingPlugin) bool {
		concerned := m.Type == DRAPlugin && drivers[m.Name] || m.Type == DevicePlugin && resources[m.Name]
		return !concerned
	})
	j.Plugins = slices.DeleteFunc(slices.Clone(j.Plugins), func(p Plugin) bool { return p.Type != DRAPlugin || !drivers[p.Name] })
	j.Problems = slices.DeleteFunc(j.Problems, func(p Problem) bool {
		switch {
		case p.Pod != inspect.PodRef{}:
			return p.Pod != only
		case p.Claim != inspect.ClaimRef{}:
			return !claims[p.Claim]
		}
		return !drivers[p.Driver] && !resources[p.Resource]
	})
}
