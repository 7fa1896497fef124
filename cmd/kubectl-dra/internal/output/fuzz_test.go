package output

import (
	"bytes"
	"strings"
	"testing"
	"time"
	"unicode"
)

// FuzzFormat: any columns and paths are refused or print a list, soon, and no control character that is not
// in the argument itself.
func FuzzFormat(f *testing.F) {
	for _, seed := range []string{
		"NAME:.name,STATE:.state", "A:{.metadata.name}", "A:", ":", "A:.items[*].x", "A:..", "A:.attributes['a']", "A:.x[99999999999]", "A:[?(@.name=='x')]",
		"A:.name,B:.x\x1b[31m", "A:{range .x}{end}", "A:.x[-1:5:0]", "A:{'\\", "A:.a.b.c[0].d",
	} {
		f.Add("custom-columns", seed)
		f.Add("jsonpath", "{."+seed+"}")
	}
	f.Fuzz(func(t *testing.T, name, argument string) {
		if name != "custom-columns" && name != "jsonpath" {
			return // templates are kubectl's own
		}
		format, err := ParseFormat(name+"="+argument, TableFormats)
		if err != nil {
			return
		}
		list := NewList("ClaimList", "resourceclaim.resource.k8s.io", Table{})
		list.Items = append(list.Items, &Claim{Namespace: "ml", Name: "train\x1b[31m\u202e", State: "Pending", Devices: []string{"d/p/\x07"}})
		var out bytes.Buffer
		began := time.Now()
		err = format.PrintList(&out, list, TableOptions{})
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("-o %s=%q took %v", name, argument, took)
		}
		if err != nil {
			return
		}
		for _, r := range out.String() {
			if r != '\n' && unicode.IsControl(r) && !strings.ContainsRune(argument, r) && !strings.Contains(argument, `\`) {
				t.Errorf("-o %s=%q prints %q", name, argument, out.String())
			}
		}
	})
}
