package output

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Class is an item of a ClassList.
type Class struct {
	Listed
	Name string `json:"name"`
	// Drivers are those that the selectors compare device.driver with and those that the class has
	// configuration for. A class without any may select devices of every driver.
	Drivers []string `json:"drivers"`
	// Selectors are CEL expressions. A class without any selects every device.
	Selectors []string `json:"selectors"`
	// ExtendedResourceName is the resource name by which pods can ask for devices of the class.
	ExtendedResourceName string `json:"extendedResourceName,omitempty"`
	Age                  string `json:"age"`
	// Created is RFC 3339, or empty.
	Created string `json:"created,omitempty"`
}

// Classes lists the device classes of a snapshot.
func Classes(s *inspect.Snapshot) *List {
	list := NewList("ClassList", "deviceclass.resource.k8s.io", classTable)
	for _, class := range s.Objects().Classes {
		c := &Class{
			Name: class.Name, Drivers: driversOf(class), Selectors: []string{},
			Age: age(class.CreationTimestamp, s.Time()), Created: Timestamp(class.CreationTimestamp),
			Listed: Listed{Meta{Name: class.Name, Labels: class.Labels, Created: class.CreationTimestamp}},
		}
		for _, selector := range class.Spec.Selectors {
			if selector.CEL != nil {
				c.Selectors = append(c.Selectors, selector.CEL.Expression)
			}
		}
		if name := class.Spec.ExtendedResourceName; name != nil {
			c.ExtendedResourceName = *name
		}
		list.Items = append(list.Items, c)
	}
	return list
}

// driverTest finds comparisons such as device.driver == "gpu.example.com". It is a hint for people, so
// it need not understand CEL.
var driverTest = regexp.MustCompile(`device\.driver\s*==\s*["']([^"']+)["']`)

func driversOf(class *resourcev1.DeviceClass) []string {
	drivers := map[string]bool{}
	for _, selector := range class.Spec.Selectors {
		if selector.CEL == nil {
			continue
		}
		for _, match := range driverTest.FindAllStringSubmatch(selector.CEL.Expression, -1) {
			drivers[match[1]] = true
		}
	}
	for _, config := range class.Spec.Config {
		if config.Opaque != nil {
			drivers[config.Opaque.Driver] = true
		}
	}
	return slices.AppendSeq([]string{}, slices.Values(slices.Sorted(maps.Keys(drivers))))
}

var classTable = Table{
	Columns: []Column{
		{Header: "NAME"}, {Header: "DRIVERS", Cut: CutList, Rank: 1}, {Header: "SELECTORS"}, {Header: "EXTENDED-RESOURCE"}, {Header: "AGE"},
		{Header: "EXPRESSIONS", Wide: true},
	},
	Row: func(item Item) []string {
		c := item.(*Class)
		return []string{
			c.Name, OrNone(strings.Join(c.Drivers, ",")), strconv.Itoa(len(c.Selectors)), OrNone(c.ExtendedResourceName), c.Age,
			OrNone(strings.Join(c.Selectors, " && ")),
		}
	},
}
