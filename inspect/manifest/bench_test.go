package manifest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// BenchmarkReadBytes reads a cluster of 2,000 real slices of eight devices in each format.
func BenchmarkReadBytes(b *testing.B) {
	slice, err := os.ReadFile(filepath.Join(driversDir, "dranet-aks-mi300x/examples__azure_aks_examples__mi300x__resourceslice-dranet.yaml"))
	if err != nil {
		b.Fatal(err)
	}
	raw, _, err := yamlToJSON(slice)
	if err != nil {
		b.Fatal(err)
	}
	var json, list, documents bytes.Buffer
	json.WriteString(`{"apiVersion":"v1","kind":"List","items":[{}`)
	list.WriteString("apiVersion: v1\nkind: List\nitems:\n")
	for i := range 2000 {
		name := fmt.Appendf(nil, "x%d", i)
		fmt.Fprintf(&json, ",%s", bytes.Replace(raw, []byte("twgcs"), name, 1))
		document := bytes.Replace(slice, []byte("twgcs"), name, 1)
		fmt.Fprintf(&documents, "---\n%s", document)
		item := bytes.ReplaceAll(bytes.TrimSpace(document), []byte("\n"), []byte("\n  "))
		fmt.Fprintf(&list, "- %s\n", item)
	}
	json.WriteString("]}")
	for name, data := range map[string][]byte{
		"JSON list": json.Bytes(), "YAML list": list.Bytes(), "YAML documents": documents.Bytes(), "small file": slice,
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := ReadBytes("f", data, Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
