package manifest

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	flowcontrolv1beta3 "k8s.io/api/flowcontrol/v1beta3"
	resourcev1 "k8s.io/api/resource/v1"
	resourcev1alpha3 "k8s.io/api/resource/v1alpha3"
	resourcev1beta1 "k8s.io/api/resource/v1beta1"
	resourcev1beta2 "k8s.io/api/resource/v1beta2"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	storagev1 "k8s.io/api/storage/v1"
	storagev1beta1 "k8s.io/api/storage/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	drav1beta1 "k8s.io/dynamic-resource-allocation/api/v1beta1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// TestFixturesLoseNothing reads the API's own fixtures, in which every field is set, and looks for every
// value of the file in the object that came out.
func TestFixturesLoseNothing(t *testing.T) {
	dirs := []string{"testdata/api"}
	if more := os.Getenv("KUBECTL_DRA_API_TESTDATA"); more != "" {
		dirs = append(dirs, more)
	}
	read := 0
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || filepath.Ext(path) != ".yaml" {
				return err
			}
			t.Run(path, func(t *testing.T) {
				if checkFixture(t, path) {
					read++
				}
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if read < 13 {
		t.Errorf("only %d fixtures were read", read)
	}
}

// checkFixture reports whether the fixture is of a kind that is read.
func checkFixture(t *testing.T, path string) bool {
	r, err := Read(context.Background(), []string{path}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	object := onlyObject(&r.Objects)
	if object == nil {
		if len(r.Skipped) != 1 {
			t.Errorf("neither read nor skipped: %+v", r)
		}
		return false
	}
	// Fields that an old server had and no current one decodes.
	gone := map[string]bool{}
	for _, w := range r.Warnings {
		if strings.HasPrefix(w.Message, "unknown field") {
			gone[w.Path] = true
		}
	}
	if strings.Contains(path, "HEAD") && len(gone) > 0 {
		t.Errorf("unknown fields in the newest fixtures: %v", gone)
	}
	doc, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	raw, _, err := yamlToJSON(doc)
	if err != nil {
		t.Fatal(err)
	}
	h, err := scanHead(raw, maxDepth)
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasSuffix(h.apiVersion, "v1alpha3") && h.kind == "ResourceSlice" {
		if raw, err = wrapCapacities(raw); err != nil {
			t.Fatal(err)
		}
	}
	want, got := leaves(t, raw), leaves(t, asWritten(t, h, object))
	for path, value := range want {
		if gone[path] || path == "apiVersion" || path == "kind" || strings.HasPrefix(path, "metadata.managedFields") || underGone(path, gone) {
			continue
		}
		if path == "metadata.namespace" {
			continue // set in the fixtures of cluster-scoped kinds as well
		}
		if newer, ok := moved[path]; ok && h.kind == "PodGroup" && strings.HasSuffix(h.apiVersion, "/v1alpha2") {
			if newer == "" {
				continue
			}
			path = newer
		}
		if got[path] != value {
			t.Errorf("%s: the file says %v, the object %v", path, value, got[path])
		}
	}
	return true
}

// moved are fields of a PodGroup at v1alpha2 that v1beta1 has elsewhere. A value that is none of the
// enumeration has no place; see TestAlphaPodGroup for those that are.
var moved = map[string]string{
	"spec.podGroupTemplateRef.workload.workloadName":         "spec.workloadRef.workloadName",
	"spec.podGroupTemplateRef.workload.podGroupTemplateName": "spec.workloadRef.templateName",
	"spec.disruptionMode":                                    "",
}

func underGone(path string, gone map[string]bool) bool {
	for g := range gone {
		if strings.HasPrefix(path, g+".") || strings.HasPrefix(path, g+"[") {
			return true
		}
	}
	return false
}

// asWritten returns an object as JSON in the layout of the version that it was written in.
func asWritten(t *testing.T, h head, object metav1.Object) []byte {
	t.Helper()
	var out any = object
	if strings.HasSuffix(h.apiVersion, "/v1beta1") || strings.HasSuffix(h.apiVersion, "/v1alpha3") {
		var err error
		switch object := object.(type) {
		case *resourcev1.ResourceClaim:
			old := &resourcev1beta1.ResourceClaim{}
			err = drav1beta1.Convert_v1_ResourceClaim_To_v1beta1_ResourceClaim(object, old, nil)
			out = old
		case *resourcev1.ResourceClaimTemplate:
			old := &resourcev1beta1.ResourceClaimTemplate{}
			err = drav1beta1.Convert_v1_ResourceClaimTemplate_To_v1beta1_ResourceClaimTemplate(object, old, nil)
			out = old
		case *resourcev1.ResourceSlice:
			old := &resourcev1beta1.ResourceSlice{}
			err = drav1beta1.Convert_v1_ResourceSlice_To_v1beta1_ResourceSlice(object, old, nil)
			out = old
		case *resourcev1.DeviceClass:
			old := &resourcev1beta1.DeviceClass{}
			err = drav1beta1.Convert_v1_DeviceClass_To_v1beta1_DeviceClass(object, old, nil)
			out = old
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	raw, err := json.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// leaves returns every value that is no object or list, by its path.
func leaves(t *testing.T, raw []byte) map[string]any {
	t.Helper()
	var tree any
	if err := json.Unmarshal(raw, &tree); err != nil {
		t.Fatal(err)
	}
	found := map[string]any{}
	var walk func(path string, value any)
	walk = func(path string, value any) {
		switch value := value.(type) {
		case map[string]any:
			for key, v := range value {
				walk(strings.TrimPrefix(path+"."+key, "."), v)
			}
		case []any:
			for i, v := range value {
				walk(fmt.Sprintf("%s[%d]", path, i), v)
			}
		default:
			found[path] = value
		}
	}
	walk("", tree)
	return found
}

// onlyObject returns the one object of a result, whatever its kind.
func onlyObject(o *inspect.Objects) metav1.Object {
	lists := reflect.ValueOf(o).Elem()
	for i := range lists.NumField() {
		if list := lists.Field(i); list.Len() == 1 {
			return list.Index(0).Interface().(metav1.Object)
		}
	}
	return nil
}

// TestSameShape checks what kindOf relies on: that these old versions have the JSON of the newest one.
func TestSameShape(t *testing.T) {
	for _, pair := range [][2]any{
		{resourcev1alpha3.DeviceTaintRule{}, resourcev1.DeviceTaintRule{}},
		{resourcev1beta2.DeviceTaintRule{}, resourcev1.DeviceTaintRule{}},
		{flowcontrolv1beta3.PriorityLevelConfiguration{}, flowcontrolv1.PriorityLevelConfiguration{}},
		{flowcontrolv1beta3.FlowSchema{}, flowcontrolv1.FlowSchema{}},
		{storagev1beta1.CSIStorageCapacity{}, storagev1.CSIStorageCapacity{}},
		{schedulingv1alpha3.PodGroup{}, schedulingv1beta1.PodGroup{}},
	} {
		old, newest := reflect.TypeOf(pair[0]), reflect.TypeOf(pair[1])
		if a, b := jsonShape(old, 0), jsonShape(newest, 0); a != b {
			t.Errorf("%v and %v differ:\n%s\n%s", old, newest, a, b)
		}
	}
}

// jsonShape writes a type's JSON field names and kinds; types of Kubernetes' libraries by name.
func jsonShape(typ reflect.Type, depth int) string {
	switch typ.Kind() {
	case reflect.Pointer:
		return jsonShape(typ.Elem(), depth)
	case reflect.Slice:
		return "[]" + jsonShape(typ.Elem(), depth)
	case reflect.Map:
		return "map " + jsonShape(typ.Elem(), depth)
	case reflect.Struct:
		if depth > 0 && strings.Contains(typ.PkgPath(), "apimachinery") {
			return typ.String()
		}
		var b strings.Builder
		for i := range typ.NumField() {
			field := typ.Field(i)
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			fmt.Fprintf(&b, "{%s %s}", name, jsonShape(field.Type, depth+1))
		}
		return b.String()
	}
	return typ.Kind().String()
}
