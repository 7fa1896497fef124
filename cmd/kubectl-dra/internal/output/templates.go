package output

import (
	"fmt"
	"strconv"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Template is an item of a TemplateList: a ResourceClaimTemplate.
type Template struct {
	Listed
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Requests say in a few words what a claim from the template asks for, a text for each request.
	Requests []string `json:"requests"`
	// Pods are namespace/name of the pods that name the template.
	Pods []string `json:"pods"`
	Age  string   `json:"age"`
	// Created is RFC 3339, or empty.
	Created string `json:"created,omitempty"`
}

// Templates lists the claim templates of a namespace, or all for "".
func Templates(s *inspect.Snapshot, namespace string) *List {
	list := NewList("TemplateList", "resourceclaimtemplate.resource.k8s.io", templateTable)
	of := map[string]*Template{}
	for _, o := range s.Objects().Templates {
		if namespace != "" && o.Namespace != namespace {
			continue
		}
		t := &Template{
			Namespace: o.Namespace, Name: o.Name, Requests: []string{}, Pods: []string{}, Age: age(o.CreationTimestamp, s.Time()), Created: Timestamp(o.CreationTimestamp),
			Listed: Listed{Meta{Namespace: o.Namespace, Name: o.Name, Labels: o.Labels, Created: o.CreationTimestamp}},
		}
		for i := range o.Spec.Spec.Devices.Requests {
			t.Requests = append(t.Requests, requestText(&o.Spec.Spec.Devices.Requests[i]))
		}
		of[o.Namespace+"/"+o.Name] = t
		list.Items = append(list.Items, t)
	}
	for _, pod := range s.Objects().Pods {
		for i := range pod.Spec.ResourceClaims {
			name := pod.Spec.ResourceClaims[i].ResourceClaimTemplateName
			if name == nil {
				continue
			}
			if t := of[pod.Namespace+"/"+*name]; t != nil {
				t.Pods = words.AppendNew(t.Pods, pod.Namespace+"/"+pod.Name)
			}
		}
	}
	return list
}

// requestText says what a request asks for, as "2 gpu.example.com", and of which alternatives.
func requestText(r *resourcev1.DeviceRequest) string {
	if r.Exactly != nil {
		return wantedText(r.Exactly.AllocationMode, r.Exactly.Count, r.Exactly.DeviceClassName)
	}
	var parts []string
	for i := range r.FirstAvailable {
		sub := &r.FirstAvailable[i]
		parts = append(parts, wantedText(sub.AllocationMode, sub.Count, sub.DeviceClassName))
	}
	return strings.Join(parts, " or ")
}

func wantedText(mode resourcev1.DeviceAllocationMode, count int64, class string) string {
	if mode == resourcev1.DeviceAllocationModeAll {
		return "all " + class
	}
	return fmt.Sprintf("%d %s", max(1, count), class)
}

var templateTable = Table{
	Namespaced: true,
	Columns:    []Column{{Header: "NAME", Spill: true}, {Header: "REQUESTS", Cut: CutText, Least: 24}, {Header: "PODS"}, {Header: "AGE", Rank: 1}, {Header: "POD-NAMES", Wide: true}},
	Row: func(item Item) []string {
		t := item.(*Template)
		return []string{t.Name, OrNone(strings.Join(t.Requests, ", ")), strconv.Itoa(len(t.Pods)), t.Age, podNames(t.Pods)}
	},
}
