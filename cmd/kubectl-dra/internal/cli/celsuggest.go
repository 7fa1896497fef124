package cli

import (
	"context"
	"slices"

	"github.com/kubectl-dra/kubectl-dra/allocator/selector"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// maxProposals is how many selectors are proposed.
const maxProposals = 3

// checkSuggest refuses flags and arguments that do not go with --suggest.
func (f *celFlags) checkSuggest(args []string) error {
	switch {
	case !f.suggest && len(f.wanted)+len(f.unwanted) > 0:
		return usagef("--wanted and --unwanted go with --suggest")
	case !f.suggest:
		return nil
	case len(args) > 0 || f.file != "":
		return usagef("--suggest takes no expression: it proposes one")
	case len(f.wanted) == 0:
		return usagef("--suggest needs the devices to match: --wanted DEVICE")
	}
	return nil
}

// suggest proposes selectors that tell the wanted devices from the unwanted ones, and tests each.
func (t *selectorTester) suggest(ctx context.Context, devices []inspect.DeviceStatus, scope string) error {
	wanted, err := indexesOf(devices, t.options.wanted)
	if err != nil {
		return err
	}
	unwanted, err := indexesOf(devices, t.options.unwanted)
	if err != nil {
		return err
	}
	if len(t.options.unwanted) == 0 {
		for i := range devices {
			if !slices.Contains(wanted, i) {
				unwanted = append(unwanted, i)
			}
		}
	}
	for _, i := range wanted {
		if slices.Contains(unwanted, i) {
			return usagef("device %s is both wanted and unwanted", devices[i].ID)
		}
	}
	found, err := selector.NewBench(t.selectors, subjects(devices)).Separate(ctx, wanted, unwanted, maxProposals)
	if err != nil {
		return err
	}
	if len(found) == 0 {
		t.options.streams.note("nothing that the wanted devices have in common tells them from the unwanted ones")
		t.code = exitNo
	}
	for _, s := range found {
		test, _, err := t.testOne(ctx, s.Expression, devices)
		if err != nil {
			return err
		}
		test.Scope = scope
		t.tests = append(t.tests, test)
	}
	return nil
}

// indexesOf finds devices by name. A name that several devices have stands for all of them.
func indexesOf(devices []inspect.DeviceStatus, names []string) ([]int, error) {
	var out []int
	for _, name := range names {
		found := false
		for i := range devices {
			id := devices[i].ID
			if name != "" && matchesPath(name, id.Driver, id.Pool, id.Device) {
				found = true
				if !slices.Contains(out, i) {
					out = append(out, i)
				}
			}
		}
		if !found {
			var known []string
			for i := range devices {
				known = append(known, devices[i].ID.Pool+"/"+devices[i].ID.Device)
			}
			return nil, notAmong("device", name, known)
		}
	}
	return out, nil
}
