package manifest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	dracel "k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/dynamic-resource-allocation/structured"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

const driversDir = "../../testdata/drivers"

// counts are the numbers of objects that a folder must give.
type counts struct {
	claims, templates, classes, slices, devices, rules, pods, namespaces, skipped int
}

func countObjects(r *Result) counts {
	o := &r.Objects
	c := counts{
		claims: len(o.Claims), templates: len(o.Templates), classes: len(o.Classes), slices: len(o.Slices),
		rules: len(o.TaintRules), pods: len(o.Pods), namespaces: len(o.Namespaces),
	}
	for _, s := range o.Slices {
		c.devices += len(s.Spec.Devices)
	}
	for _, n := range r.Skipped {
		c.skipped += n
	}
	return c
}

// TestDrivers counts what each folder of real drivers gives; the numbers were counted in the files.
func TestDrivers(t *testing.T) {
	toleration := []string{"tolerations[0].operator: accepted, but", "tolerations[1].operator: accepted, but"}
	tests := map[string]struct {
		want     counts
		warnings []string // one part of each
	}{
		"amd-gpu": {counts{claims: 3, classes: 1, slices: 1, devices: 1, pods: 4, namespaces: 1}, []string{
			"spec.driver: Required", "spec.pool.name: Required", "spec.pool.resourceSliceCount: Invalid",
			"spec: Required value: exactly one of nodeName, nodeSelector, allNodes",
		}},
		"cni-dra-driver":            {counts{claims: 1, slices: 1, devices: 1}, nil},
		"dra-driver-cpu-grouped":    {counts{claims: 6, classes: 1, slices: 1, devices: 2, pods: 1}, nil},
		"dra-driver-cpu-individual": {counts{claims: 3, classes: 1, slices: 1, devices: 2, pods: 1}, nil},
		"dra-driver-memory":         {counts{templates: 2, classes: 3, pods: 1, skipped: 2}, nil},
		"dra-driver-sriov":          {counts{claims: 1, templates: 3, classes: 1, pods: 2, namespaces: 2, skipped: 4}, nil},
		"dra-example-driver":        {counts{claims: 2, templates: 5, classes: 1, slices: 1, devices: 8, pods: 9, namespaces: 6}, nil},
		"dra-example-driver-taints": {counts{templates: 2, classes: 1, slices: 1, devices: 8, rules: 1, pods: 2, namespaces: 1}, nil},
		"dra-example-driver-v1beta1": {
			counts{claims: 1, templates: 3, classes: 1, slices: 1, devices: 8, pods: 6, namespaces: 4}, nil,
		},
		"dranet-aks-gb300":  {counts{claims: 1, templates: 4, classes: 2, slices: 2, devices: 8}, nil},
		"dranet-aks-mi300x": {counts{templates: 3, classes: 1, slices: 1, devices: 8}, nil},
		"dranet-eks-efa": {
			counts{claims: 1, templates: 2, classes: 2, slices: 2, devices: 15},
			[]string{"status.reservedFor[0].uid: Required"},
		},
		"dranet-oke-gb200": {counts{templates: 8, classes: 2, slices: 2, devices: 12}, nil},
		"google-tpu":       {counts{templates: 3, classes: 1, slices: 1, devices: 2, pods: 2, namespaces: 1}, nil},
		"intel-gaudi":      {counts{claims: 1, templates: 2, classes: 1, slices: 1, devices: 2, pods: 2, skipped: 1}, toleration},
		"intel-gpu": {
			counts{claims: 2, templates: 5, classes: 2, slices: 1, devices: 2, pods: 4, skipped: 1},
			append(toleration, "selectors[0].expression: unknown field; it is ignored (expression belongs one level deeper", "selectors[0].cel: Required"),
		},
		"intel-gpu-v1alpha3": {
			counts{claims: 1, templates: 2, classes: 1, slices: 1, devices: 1, skipped: 1},
			[]string{"spec.spec.devices.count: unknown field", "spec.spec.devices.selectors: unknown field"},
		},
		"kubectl-status":            {counts{claims: 2, templates: 1, classes: 2, slices: 1, devices: 1}, nil},
		"kubernetes-scheduler-perf": {counts{claims: 2, templates: 1, classes: 2, slices: 2, devices: 2}, nil},
		"nvidia-gpu-h100":           {counts{claims: 3, templates: 4, classes: 2, slices: 4, devices: 20, pods: 6, namespaces: 3, skipped: 2}, nil},
		"nvidia-imex-v1alpha3":      {counts{claims: 4, templates: 1, classes: 2, slices: 2, devices: 20, namespaces: 1, skipped: 4}, nil},
	}
	for _, folder := range driverFolders(t) {
		t.Run(folder, func(t *testing.T) {
			test, ok := tests[folder]
			if !ok {
				t.Fatal("no expectation for this folder")
			}
			r := readDriver(t, folder)
			if got := countObjects(r); got != test.want {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
			checkWarnings(t, r.Warnings, test.warnings)
		})
	}
}

func driverFolders(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir(driversDir)
	if err != nil {
		t.Fatal(err)
	}
	var folders []string
	for _, entry := range entries {
		if entry.IsDir() {
			folders = append(folders, entry.Name())
		}
	}
	return folders
}

func readDriver(t *testing.T, folder string) *Result {
	t.Helper()
	r, err := Read(context.Background(), []string{filepath.Join(driversDir, folder)}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// checkWarnings wants exactly one warning that holds each of the given parts.
func checkWarnings(t *testing.T, got []Warning, parts []string) {
	t.Helper()
	left := slices.Clone(got)
	for _, part := range parts {
		i := slices.IndexFunc(left, func(w Warning) bool { return strings.Contains(w.String(), part) })
		if i < 0 {
			t.Errorf("no warning with %q in %v", part, left)
			continue
		}
		left = slices.Delete(left, i, i+1)
	}
	for _, w := range left {
		t.Errorf("unexpected warning: %s", w)
	}
}

// TestDriverAnswers asks the scheduler's own allocator the questions of the README of the drivers.
func TestDriverAnswers(t *testing.T) {
	rows := readmeRows(t)
	if len(rows) < 60 {
		t.Fatalf("only %d questions found in the README", len(rows))
	}
	asked := map[string]bool{}
	for _, row := range rows {
		folder, question, answer, devices := row[0], row[1], row[2], row[3]
		asked[folder] = true
		t.Run(folder+"/"+question, func(t *testing.T) {
			verdict, got := askScheduler(t, &readDriver(t, folder).Objects, question)
			if verdict != answer || strings.Join(got, " ") != devices {
				t.Errorf("README says %s %s, the scheduler says %s %v", answer, devices, verdict, got)
			}
		})
	}
	for _, folder := range driverFolders(t) {
		if !asked[folder] {
			t.Errorf("the README asks nothing about %s", folder)
		}
	}
}

// readmeRows returns the cells of the table of questions.
func readmeRows(t *testing.T) [][]string {
	t.Helper()
	readme, err := os.ReadFile(filepath.Join(driversDir, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]string
	for line := range strings.Lines(string(readme)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != 5 {
			continue
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if strings.Contains(cells[1], "/") {
			rows = append(rows, cells)
		}
	}
	return rows
}

// askScheduler returns the verdict and, on the first node that fits, the devices.
func askScheduler(t *testing.T, objects *inspect.Objects, question string) (string, []string) {
	t.Helper()
	claim := questionClaim(t, objects, question)
	verdict := "Unsatisfiable"
	if missesClass(objects, claim) { // the scheduler says so before it asks its allocator
		return verdict, nil
	}
	allocator := newAllocator(t, objects)
	for _, name := range nodeNames(objects) {
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
		results, err := allocator.Allocate(t.Context(), node, []*resourcev1.ResourceClaim{claim})
		switch {
		case err != nil && !errors.Is(err, structured.ErrFailedAllocationOnNode):
			t.Log(err)
			return "Invalid", nil
		case err == nil && len(results) == 1:
			var devices []string
			for _, result := range results[0].Devices.Results {
				devices = append(devices, result.Device)
			}
			return "Allocatable", devices
		}
	}
	return verdict, nil
}

// missesClass reports whether a request of the claim names a class that does not exist.
func missesClass(objects *inspect.Objects, claim *resourcev1.ResourceClaim) bool {
	classes := sets.New[string]()
	for _, class := range objects.Classes {
		classes.Insert(class.Name)
	}
	for _, request := range claim.Spec.Devices.Requests {
		if request.Exactly != nil && !classes.Has(request.Exactly.DeviceClassName) {
			return true
		}
		for _, sub := range request.FirstAvailable {
			if !classes.Has(sub.DeviceClassName) {
				return true
			}
		}
	}
	return false
}

// questionClaim returns the claim that a question is about: one that exists, or one as a template would
// make it.
func questionClaim(t *testing.T, objects *inspect.Objects, question string) *resourcev1.ResourceClaim {
	t.Helper()
	kind, name, _ := strings.Cut(question, " ")
	for _, claim := range objects.Claims {
		if kind == "claim" && claim.Namespace+"/"+claim.Name == name {
			return claim
		}
	}
	for _, template := range objects.Templates {
		if kind == "template" && template.Namespace+"/"+template.Name == name {
			return &resourcev1.ResourceClaim{
				ObjectMeta: metav1.ObjectMeta{Namespace: template.Namespace, Name: template.Name + "-made", UID: "made"},
				Spec:       template.Spec.Spec,
			}
		}
	}
	t.Fatalf("there is no %s", question)
	return nil
}

func nodeNames(objects *inspect.Objects) []string {
	names := sets.New("some-other-node")
	for _, slice := range objects.Slices {
		if slice.Spec.NodeName != nil {
			names.Insert(*slice.Spec.NodeName)
		}
	}
	return sets.List(names)
}

func newAllocator(t *testing.T, objects *inspect.Objects) structured.Allocator {
	t.Helper()
	features := structured.Features{
		AdminAccess: true, PrioritizedList: true, PartitionableDevices: true, DeviceTaints: true,
		DeviceBindingAndStatus: true, ConsumableCapacity: true, FractionalCapacityRange: true,
	}
	slices := make([]*resourcev1.ResourceSlice, 0, len(objects.Slices))
	for _, slice := range objects.Slices {
		slice = slice.DeepCopy()
		for i := range slice.Spec.Devices {
			device := &slice.Spec.Devices[i]
			for _, attribute := range device.Attributes {
				features.ListTypeAttributes = features.ListTypeAttributes || attribute.StringValues != nil
			}
			for _, consumption := range device.ConsumesCounters {
				features.CompatibilityGroups = features.CompatibilityGroups || consumption.CompatibilityGroups != nil
			}
			for _, rule := range objects.TaintRules {
				if selector := rule.Spec.DeviceSelector; selector.Driver != nil && *selector.Driver == slice.Spec.Driver {
					device.Taints = append(device.Taints, rule.Spec.Taint)
				}
			}
		}
		slices = append(slices, slice)
	}
	state := structured.AllocatedState{AllocatedDevices: sets.New[structured.DeviceID]()}
	for _, claim := range objects.Claims {
		if claim.Status.Allocation == nil {
			continue
		}
		for _, result := range claim.Status.Allocation.Devices.Results {
			state.AllocatedDevices.Insert(structured.MakeDeviceID(result.Driver, result.Pool, result.Device))
		}
	}
	cache := dracel.NewCache(100, dracel.Features{EnableConsumableCapacity: true, EnableListTypeAttributes: true})
	allocator, err := structured.NewAllocator(t.Context(), features, state, classLister{objects}, slices, cache)
	if err != nil {
		t.Fatal(err)
	}
	return allocator
}

type classLister struct{ objects *inspect.Objects }

func (l classLister) Get(name string) (*resourcev1.DeviceClass, error) {
	for _, class := range l.objects.Classes {
		if class.Name == name {
			return class, nil
		}
	}
	return nil, apierrors.NewNotFound(resourcev1.Resource("deviceclasses"), name)
}

func (l classLister) List() ([]*resourcev1.DeviceClass, error) {
	return nil, fmt.Errorf("the allocator gets classes by name")
}
