package archive_test

import (
	"bufio"
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/archive"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
)

const fuzzedHeader = `{"apiVersion":"kubectl-dra.dev/v1alpha1","kind":"Snapshot","time":"2026-11-20T09:00:00Z","features":{"minor":36,"enabled":["DRAAdminAccess"]},` +
	`"health":{"resourceclaims":{"state":"Synced","version":"v1"}},"objects":{"resourceclaims":1}}` + "\n"

// FuzzRead: whatever is read as an archive can be saved, and what was saved is read back the same.
func FuzzRead(f *testing.F) {
	claim := `{"kind":"ResourceClaim","apiVersion":"resource.k8s.io/v1","metadata":{"name":"c","namespace":"n"},"spec":{"devices":{"requests":[{"name":"r","exactly":{"deviceClassName":"x"}}]}}}` + "\n"
	node := `{"kind":"Node","apiVersion":"v1","metadata":{"name":"n1","labels":{"a":"b"}},"status":{"allocatable":{"cpu":"4"}}}` + "\n"
	for _, seed := range []string{
		fuzzedHeader + claim, fuzzedHeader + claim + node, fuzzedHeader, "", "{}", "[[[[", "\x1f\x8b\x08\x00",
		strings.Replace(fuzzedHeader, "2026-11", "0000-01", 1) + claim, strings.Replace(fuzzedHeader, "Synced", "\\u001b[31m", 1) + claim,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		_ = archive.Is(bufio.NewReader(bytes.NewReader(data))) // no panic is all that is asked
		header, result, err := archive.Read(context.Background(), bytes.NewReader(data), "f", manifest.Options{MaxBytes: 1 << 20})
		if err != nil {
			if header != nil || result != nil {
				t.Errorf("an error and more: %v", err)
			}
			return
		}
		config, err := header.Config()
		if err != nil {
			return
		}
		saved := save(t, inspect.New(result.Objects, config))
		header, result, err = archive.Read(context.Background(), bytes.NewReader(saved), "saved", manifest.Options{})
		if err != nil {
			t.Fatalf("what was saved cannot be read: %v", err)
		}
		if config, err = header.Config(); err != nil {
			t.Fatal(err)
		}
		if again := save(t, inspect.New(result.Objects, config)); !bytes.Equal(saved, again) {
			t.Errorf("saved\n%s\nand again\n%s", unpacked(t, saved), unpacked(t, again))
		}
	})
}

func save(t *testing.T, s *inspect.Snapshot) []byte {
	t.Helper()
	var b bytes.Buffer
	if _, err := archive.Write(&b, s, archive.Options{}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
