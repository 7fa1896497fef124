package scenario

import (
	"bytes"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
)

// readOwn reads the objects of the scenario itself. Objects of no use to any question are an error,
// because somebody wrote them by mistake.
func readOwn(data []byte) (*manifest.Result, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return &manifest.Result{}, nil
	}
	result, err := manifest.ReadBytes("cluster.yaml", data, manifest.Options{})
	if err != nil {
		return nil, err
	}
	if len(result.Skipped) > 0 {
		return nil, fmt.Errorf("cluster.yaml: objects of no use: %v", result.Skipped)
	}
	return result, nil
}

// readFiles reads the included files. A pattern that matches none is an error.
func readFiles(patterns []string, testdata fs.FS) (inspect.Objects, error) {
	var objects inspect.Objects
	for _, pattern := range patterns {
		names, err := fs.Glob(testdata, pattern)
		if err != nil || len(names) == 0 {
			return objects, fmt.Errorf("files: %s matches nothing below testdata", pattern)
		}
		for _, name := range names {
			data, err := fs.ReadFile(testdata, name)
			if err != nil {
				return objects, err
			}
			result, err := manifest.ReadBytes(name, data, manifest.Options{})
			if err != nil {
				return objects, err
			}
			objects = appendObjects(objects, result.Objects)
		}
	}
	return objects, nil
}

// appendObjects joins the kinds that matter to an allocation.
func appendObjects(a, b inspect.Objects) inspect.Objects {
	a.Claims = append(a.Claims, b.Claims...)
	a.Templates = append(a.Templates, b.Templates...)
	a.Classes = append(a.Classes, b.Classes...)
	a.Slices = append(a.Slices, b.Slices...)
	a.TaintRules = append(a.TaintRules, b.TaintRules...)
	a.Pods = append(a.Pods, b.Pods...)
	a.Nodes = append(a.Nodes, b.Nodes...)
	return a
}

// addTemplateClaims makes a claim for each "template:namespace/name" in the questions, under the name of
// the template.
func addTemplateClaims(objects *inspect.Objects, questions []string) error {
	var made []inspect.ClaimRef
	for _, word := range strings.Fields(strings.Join(questions, " ")) {
		ref := claimRef(word)
		if !strings.HasPrefix(word, templatePrefix) || slices.Contains(made, ref) {
			continue
		}
		at := slices.IndexFunc(objects.Templates, func(t *resourcev1.ResourceClaimTemplate) bool {
			return t.Namespace == ref.Namespace && t.Name == ref.Name
		})
		if at < 0 {
			return fmt.Errorf("question: there is no template %s", ref)
		}
		taken := func(c *resourcev1.ResourceClaim) bool { return c.Namespace == ref.Namespace && c.Name == ref.Name }
		if slices.ContainsFunc(objects.Claims, taken) {
			return fmt.Errorf("question: there is a claim %s besides the template", ref)
		}
		made = append(made, ref)
		objects.Claims = append(objects.Claims, &resourcev1.ResourceClaim{
			ObjectMeta: metav1.ObjectMeta{Namespace: ref.Namespace, Name: ref.Name},
			Spec:       objects.Templates[at].Spec.Spec,
		})
	}
	return nil
}
