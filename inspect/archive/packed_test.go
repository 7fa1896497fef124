package archive_test

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/archive"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
)

// TestPackedIsTheSame: a packed archive holds what one in JSON holds, anonymized or not, and the same bytes
// each time.
func TestPackedIsTheSame(t *testing.T) {
	s := demoSnapshot(t)
	for _, opts := range []archive.Options{{}, {Anonymize: true}} {
		plain := write(t, s, opts)
		opts.Packed = true
		packed := write(t, s, opts)
		if !bytes.Equal(packed, write(t, s, opts)) {
			t.Errorf("%+v: saving twice gives different bytes", opts)
		}
		fromPlain, fromPacked := read(t, plain), read(t, packed)
		if diff := cmp.Diff(fromPlain.Objects(), fromPacked.Objects()); diff != "" {
			t.Errorf("%+v: a packed archive reads differently (-JSON +packed):\n%s", opts, diff)
		}
		if !fromPlain.Time().Equal(fromPacked.Time()) || fromPlain.ServerVersion() != fromPacked.ServerVersion() {
			t.Errorf("time %v, server %q", fromPacked.Time(), fromPacked.ServerVersion())
		}
		opts.Packed = false
		if diff := cmp.Diff(unpacked(t, plain), unpacked(t, write(t, fromPacked, opts))); !opts.Anonymize && diff != "" {
			t.Errorf("JSON of a packed archive differs:\n%s", diff)
		}
	}
}

// member is one of gzip.
func member(t *testing.T, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	zw := gzip.NewWriter(&b)
	if _, err := zw.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := zw.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// packedWith is a packed archive with one part, of which a header says what it likes.
func packedWith(t *testing.T, p archive.Part, objects ...[]byte) []byte {
	t.Helper()
	var data []byte
	for _, o := range objects {
		data = append(binary.AppendUvarint(data, uint64(len(o))), o...)
	}
	body := member(t, data)
	p.Bytes += int64(len(body))
	line, err := json.Marshal(archive.Header{
		APIVersion: archive.PackedVersion, Kind: archive.Kind, Time: time.Unix(1_700_000_000, 0), Parts: []archive.Part{p},
		Objects: map[inspect.Resource]int{p.Resource: p.Objects},
	})
	if err != nil {
		t.Fatal(err)
	}
	return append(member(t, append(line, '\n')), body...)
}

func encoded(t *testing.T, o interface{ Marshal() ([]byte, error) }) []byte {
	t.Helper()
	data, err := o.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestBrokenPackedArchives: whatever a file says it is, reading it ends soon with an error that says what is
// wrong.
func TestBrokenPackedArchives(t *testing.T) {
	node := encoded(t, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}})
	nodes := func(n int) archive.Part { return archive.Part{Resource: inspect.Nodes, Objects: n} }
	pods := archive.Part{Resource: inspect.Pods, Objects: 1}
	large := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}}
	large.Spec.Containers = make([]corev1.Container, 200_000)
	slow := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: "s"}}
	slow.Spec.Devices = []resourcev1.Device{{Name: "d", Capacity: map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{"m": {Value: resource.MustParse("11111111111")}}}}
	hostile := bytes.Replace(encoded(t, slow), []byte("11111111111"), []byte("1e-99999999"), 1)
	whole := packedWith(t, nodes(1), node)
	damaged := slices.Clone(whole)
	damaged[len(damaged)-6] ^= 0xff
	if _, result, err := archive.Read(t.Context(), bytes.NewReader(whole), "x", manifest.Options{}); err != nil || len(result.Objects.Nodes) != 1 {
		t.Fatalf("the archive that is whole: %v", err)
	}
	for name, test := range map[string]struct {
		data []byte
		want string
	}{
		"cut off":            {whole[:len(whole)-10], "reading snapshot x: the file is incomplete"},
		"no part":            {whole[:bytes.LastIndex(whole, []byte{0x1f, 0x8b})], "reading snapshot x: the file is incomplete"},
		"damaged":            {damaged, "reading snapshot x: the file is damaged"},
		"objects missing":    {packedWith(t, nodes(2), node), "it has 1 of 2 nodes: the file is incomplete"},
		"an unknown kind":    {packedWith(t, archive.Part{Resource: "gadgets", Objects: 1}, node), ""},
		"no name":            {packedWith(t, nodes(1), nil), "object 1 of 1 nodes: it has no name"},
		"garbage":            {packedWith(t, nodes(1), []byte("\x0a\xff\xff")), "object 1 of 1 nodes: decoding protobuf"},
		"a length too large": {packedWith(t, archive.Part{Resource: inspect.Nodes, Objects: 1, Bytes: 1 << 40}, node), ""},
		"a negative length":  {packedWith(t, archive.Part{Resource: inspect.Nodes, Objects: 1, Bytes: -1 << 40}, node), "incomplete"},
		"many objects":       {packedWith(t, archive.Part{Resource: inspect.Nodes, Objects: 1 << 40}, node), "more than 1048576 objects"},
		"a large object":     {packedWith(t, nodes(1), make([]byte, 17<<20)), "an object of more than 16Mi"},
		"many values":        {packedWith(t, pods, encoded(t, large)), "it has more than 131072 values"},
		"a slow number":      {packedWith(t, archive.Part{Resource: inspect.Slices, Objects: 1}, hostile), "object 1 of 1 resourceslices: a number"},
		"packed too well":    {packedWith(t, nodes(1), make([]byte, 80<<20)), "times its size"},
		"a later version":    {packedAs(t, whole, "kubectl-dra.dev/v1alpha9"), "use the version of kubectl-dra that saved it"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := archive.Read(t.Context(), bytes.NewReader(test.data), "x", manifest.Options{})
			if test.want == "" { // nothing is missing
				if err != nil {
					t.Error(err)
				}
			} else if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
		})
	}
}

// packedAs replaces the version in the header.
func packedAs(t *testing.T, whole []byte, version string) []byte {
	t.Helper()
	rest := bytes.LastIndex(whole, []byte{0x1f, 0x8b, 0x08})
	line := unpacked(t, whole[:rest])
	return append(member(t, []byte(strings.Replace(line, archive.PackedVersion, version, 1))), whole[rest:]...)
}

// TestPackedLimits: --max-input bounds all parts together.
func TestPackedLimits(t *testing.T) {
	var many [][]byte
	for i := range 3000 {
		many = append(many, encoded(t, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("node-", i), UID: "x"}}))
	}
	data := packedWith(t, archive.Part{Resource: inspect.Nodes, Objects: len(many)}, many...)
	var packed, full int64
	_, _, err := archive.Read(t.Context(), bytes.NewReader(data), "x", manifest.Options{Meter: func(p, u int64) { packed += p; full += u }})
	if err != nil || packed != int64(len(data)) || full < 3000*10 {
		t.Errorf("%v: the meter says %d bytes that unpack to %d; the file has %d", err, packed, full, len(data))
	}
	if _, _, err := archive.Read(t.Context(), bytes.NewReader(data), "x", manifest.Options{MaxBytes: 10_000}); err == nil || !strings.Contains(err.Error(), "--max-input") {
		t.Errorf("more is read than is allowed: %v", err)
	}
}
