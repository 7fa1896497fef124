package replay

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"

	metaapi "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
)

// list sends a page, or everything at once if no page is asked for. Its pages are of the newest objects, which a
// real server's are not; nothing is measured that reads pages while objects change.
func (s *Server) list(w http.ResponseWriter, r *http.Request, c *collection) {
	limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
	from, _ := strconv.Atoi(r.URL.Query().Get("continue"))
	p, err := s.page(c, from, limit)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", runtime.ContentTypeProtobuf)
	if err := p.send(w); err == nil {
		s.sent()
	}
}

// page is a list of encoded objects.
type page struct {
	head  []byte   // before the items: the prefix, what it is, and the metadata of the list
	items [][]byte // each with its tag and length, and without its envelope
}

// The tags of the fields that a list consists of.
const (
	typeTag, rawTag = 1<<3 | 2, 2<<3 | 2 // of runtime.Unknown
	itemsTag        = 2<<3 | 2           // of every list
)

func (s *Server) page(c *collection, from, limit int) (*page, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pageOf(c, from, limit)
}

func (s *Server) pageOf(c *collection, from, limit int) (*page, error) {
	empty := c.list()
	about, err := metaapi.ListAccessor(empty)
	if err != nil {
		return nil, fmt.Errorf("making a list: %w", err)
	}
	about.SetResourceVersion(strconv.FormatInt(s.version, 10))
	from = min(from, len(c.encoded))
	to := len(c.encoded)
	if limit > 0 && from+limit < to {
		to = from + limit
		about.SetContinue(strconv.Itoa(to))
	}
	whole, err := runtime.Encode(c.encoder, empty)
	if err != nil {
		return nil, fmt.Errorf("encoding a list: %w", err)
	}
	var envelope runtime.Unknown
	if err := envelope.Unmarshal(whole[4:]); err != nil {
		return nil, fmt.Errorf("encoding a list: %w", err)
	}
	typeMeta, err := envelope.TypeMeta.Marshal()
	if err != nil {
		return nil, fmt.Errorf("encoding a list: %w", err)
	}
	p := &page{items: make([][]byte, 0, to-from)}
	size := len(envelope.Raw)
	for _, encoded := range c.encoded[from:to] {
		item := rawOf(encoded)
		p.items = append(p.items, item)
		size += len(tagged(nil, itemsTag, len(item))) + len(item)
	}
	p.head = append(tagged(slices.Clone(whole[:4]), typeTag, len(typeMeta)), typeMeta...)
	p.head = append(tagged(p.head, rawTag, size), envelope.Raw...) // which has nothing but the metadata
	return p, nil
}

func tagged(to []byte, tag byte, length int) []byte {
	return binary.AppendUvarint(append(to, tag), uint64(length)) //nolint:gosec // not negative
}

// rawOf returns what is in the envelope of an object.
func rawOf(encoded []byte) []byte {
	data := encoded[4:]
	for len(data) > 0 {
		length, n := binary.Uvarint(data[1:])
		field := data[1+n : 1+n+int(length)] //nolint:gosec // an encoder wrote it
		if data[0] == rawTag {
			return field
		}
		data = data[1+n+len(field):]
	}
	return nil
}

func (p *page) send(to io.Writer) error {
	buffered := bufio.NewWriterSize(to, 1<<18)
	_, _ = buffered.Write(p.head)
	for _, item := range p.items {
		_, _ = buffered.Write(tagged(nil, itemsTag, len(item)))
		_, _ = buffered.Write(item)
	}
	return buffered.Flush() //nolint:wrapcheck // of the connection; it tells what failed before, too
}
