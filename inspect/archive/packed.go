package archive

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"runtime"

	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/encoding/protowire"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
	"github.com/kubectl-dra/kubectl-dra/inspect/sharing"
)

// A packed archive is members of gzip, one after the other: the header, as a line of JSON, and parts. A part
// is objects of one resource in protobuf, each after its length as a varint. Parts are independent of each
// other, so that they are decoded side by side.

// Part is objects of one resource in a packed archive.
type Part struct {
	Resource inspect.Resource `json:"resource"`
	Objects  int              `json:"objects"`
	// Bytes is the length in the file.
	Bytes int64 `json:"bytes"`
}

// partObjects and partBytes are how many objects a part has at most, and from what length in bytes on it has
// no more.
const (
	partObjects = 5000
	partBytes   = 4 << 20
)

// writePacked writes the header and parts. What is not packed yet is never more than a few parts. Errors are
// those of w, or that an object cannot be encoded.
func writePacked(w io.Writer, header *Header, objects []listing) error {
	header.APIVersion = PackedVersion
	var parts []*packedPart
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	err := eachPart(objects, func(p Part, data []byte) {
		packed := &packedPart{Part: p}
		parts = append(parts, packed)
		group.Go(func() (err error) { packed.data, err = gzipped(data); return err })
	})
	if err = errors.Join(err, group.Wait()); err != nil {
		return fmt.Errorf("packing: %w", err)
	}
	for _, p := range parts {
		p.Bytes = int64(len(p.data))
		header.Parts = append(header.Parts, p.Part)
	}
	line, err := json.Marshal(header)
	if err != nil {
		return fmt.Errorf("writing the header: %w", err)
	}
	first, err := gzipped(append(line, '\n'))
	if err != nil {
		return fmt.Errorf("writing the header: %w", err)
	}
	if _, err := w.Write(first); err != nil {
		return fmt.Errorf("writing: %w", err)
	}
	for _, p := range parts {
		if _, err := w.Write(p.data); err != nil {
			return fmt.Errorf("writing: %w", err)
		}
		p.data = nil
	}
	return nil
}

// packedPart is a part as it is in the file.
type packedPart struct {
	Part
	data []byte
}

// eachPart gives out the objects part by part, encoded. The data is not used again here.
func eachPart(objects []listing, give func(p Part, data []byte)) error {
	for i := range objects {
		of := &objects[i]
		p, data := Part{Resource: of.Resource}, []byte(nil)
		for j := range of.objects {
			object := of.take(j)
			encoded, err := Encode(object)
			if err != nil {
				return fmt.Errorf("%s: %w", of.Name, err)
			}
			p.Objects++
			data = append(binary.AppendUvarint(data, uint64(len(encoded))), encoded...)
			if p.Objects == partObjects || len(data) >= partBytes || j == len(of.objects)-1 {
				give(p, data)
				p, data = Part{Resource: of.Resource}, nil
			}
		}
	}
	return nil
}

func gzipped(data []byte) ([]byte, error) {
	var b bytes.Buffer
	zw := gzip.NewWriter(&b)
	_, err := zw.Write(data)
	err = errors.Join(err, zw.Close())
	return b.Bytes(), err
}

var plainVersion = regexp.MustCompile(`"apiVersion"\s*:\s*"` + regexp.QuoteMeta(APIVersion) + `"`)

// isPacked reports whether r holds a packed archive, or one of a later version. Nothing is consumed.
func isPacked(r *bufio.Reader) bool {
	start, _ := r.Peek(sniffed)
	text := beginning(r)
	return isGzip(start) && ourVersion.Match(text) && !plainVersion.Match(text)
}

// readPacked does what Read does.
func readPacked(ctx context.Context, r *bufio.Reader, name string, opts manifest.Options) (*Header, *manifest.Result, error) {
	unpacker := manifest.NewUnpacker(opts)
	line, err := unpacker.Gunzip(ctx, name, r)
	if err != nil {
		return nil, nil, err
	}
	header, _, err := readHeader(line)
	if err != nil {
		return nil, nil, err
	}
	lists := make([][]metav1.Object, len(header.Parts))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	objects := 0
	for i, p := range header.Parts { // unpacked one after the other, so that limits hold for all of them
		if objects += max(0, p.Objects); ctx.Err() != nil {
			break
		}
		data, err := unpackPart(ctx, r, unpacker, p, name)
		if err == nil {
			err = opts.Objects(name, objects, 0)
		}
		if err != nil {
			if broken := group.Wait(); broken != nil {
				err = broken // which is why the rest was not read
			}
			return nil, nil, err
		}
		group.Go(func() (err error) { lists[i], err = p.decode(ctx, data, name, opts); return err })
	}
	if err := group.Wait(); err != nil {
		return nil, nil, err //nolint:wrapcheck // of this package
	}
	result := &manifest.Result{Skipped: map[string]int{}}
	for i, p := range header.Parts {
		if inspect.KindOf(p.Resource).Name == "" {
			result.Skipped[string(p.Resource)] += p.Objects
		}
		for _, o := range lists[i] {
			if !result.Objects.Add(o) {
				return nil, nil, fmt.Errorf("the file has an object of %s", p.Resource)
			}
		}
	}
	result.Objects.Sort()
	return header, result, header.check(&result.Objects)
}

// unpackPart reads a part, of exactly the length that the header says.
func unpackPart(ctx context.Context, r io.Reader, unpacker *manifest.Unpacker, p Part, name string) ([]byte, error) {
	rest := &io.LimitedReader{R: r, N: p.Bytes}
	data, err := unpacker.Gunzip(ctx, name, rest)
	if errors.Is(err, io.EOF) {
		return nil, errIncomplete
	}
	if err == nil && rest.N > 0 {
		_, err = io.Copy(io.Discard, rest)
	}
	return data, err //nolint:wrapcheck // it says what is wrong
}

// decode returns the objects of a part, as they are in a snapshot.
func (p Part) decode(ctx context.Context, data []byte, name string, opts manifest.Options) ([]metav1.Object, error) {
	kind := inspect.KindOf(p.Resource)
	if kind.Name == "" {
		return nil, nil // a later version has saved it
	}
	common := sharing.New()
	var out []metav1.Object
	for len(data) > 0 && ctx.Err() == nil {
		length, n := binary.Uvarint(data)
		if n <= 0 || length > uint64(len(data)-n) { //nolint:gosec // not negative
			return nil, errIncomplete
		}
		message := data[n : n+int(length)] //nolint:gosec // not more than there is
		data = data[n+len(message):]
		o, err := Decode(kind, message, name, opts)
		if err != nil {
			return nil, fmt.Errorf("object %d of %d %s: %w", len(out)+1, p.Objects, p.Resource, err)
		}
		common.Share(o)
		out = append(out, o)
	}
	if len(out) != p.Objects && ctx.Err() == nil {
		return nil, fmt.Errorf("it has %d of %d %s: %w", len(out), p.Objects, p.Resource, errIncomplete)
	}
	return out, ctx.Err() //nolint:wrapcheck // of the caller
}

// fieldCount returns how many fields an encoded message has, with those of the messages in it, up to a limit.
// Texts that look like messages count as such.
func fieldCount(message []byte, limit int) int {
	count, _ := fieldsWithin(message, limit, 0)
	return count
}

// mostNested is deeper than the messages of Kubernetes are nested.
const mostNested = 24

// fieldsWithin returns false as well if it is no message.
func fieldsWithin(message []byte, limit, depth int) (count int, ok bool) {
	for len(message) > 0 && count < limit {
		_, kind, tag := protowire.ConsumeTag(message)
		if tag < 0 || kind == protowire.StartGroupType { // of groups no Kubernetes object has any
			return count, false
		}
		size := protowire.ConsumeFieldValue(1, kind, message[tag:])
		if size < 0 {
			return count, false
		}
		field := message[tag : tag+size]
		message = message[tag+size:]
		count++
		if kind == protowire.BytesType && depth < mostNested {
			body, _ := protowire.ConsumeBytes(field)
			if inner, ok := fieldsWithin(body, limit-count, depth+1); ok {
				count += inner
			}
		}
	}
	return min(count, limit), true
}
