package archive

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
	"github.com/kubectl-dra/kubectl-dra/inspect/schedulerconfig"
)

// APIVersion, or PackedVersion, and Kind of the header.
const (
	APIVersion    = "kubectl-dra.dev/v1alpha1" // the objects follow as JSON, one on each line
	PackedVersion = "kubectl-dra.dev/v1alpha2" // they follow in parts
	Kind          = "Snapshot"
)

// Header is the first value of an archive.
type Header struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Time is when the objects were read; ages are measured from it.
	Time          time.Time `json:"time"`
	ServerVersion string    `json:"serverVersion,omitempty"`
	Anonymized    bool      `json:"anonymized,omitempty"`
	// InexactSelectors is the number of expressions that compute with text, so that they may answer
	// differently now that other text is there.
	InexactSelectors int      `json:"inexactSelectors,omitempty"`
	Features         Features `json:"features"`
	// Scheduler is the configuration of kube-scheduler, in YAML or JSON, or "".
	Scheduler string `json:"schedulerConfig,omitempty"`
	// SchedulerOrigin says where it was found, if nobody gave it.
	SchedulerOrigin string `json:"schedulerConfigFrom,omitempty"`
	// SchedulerUnreadable says why there is none, if kube-scheduler has one that could not be read.
	SchedulerUnreadable string `json:"schedulerConfigUnreadable,omitempty"`
	// Kueue is the configuration of Kueue; nil where it is not known.
	Kueue *KueueConfig `json:"kueue,omitempty"`
	// Health says how far each resource could be read.
	Health map[inspect.Resource]inspect.Health `json:"health"`
	// Objects is the number of objects of each resource in the archive.
	Objects map[inspect.Resource]int `json:"objects"`
	// Parts are what follows the header, in this order, if the version is PackedVersion.
	Parts []Part `json:"parts,omitempty"`
}

// Features is the form of inspect.Features in an archive. Gates that are not listed are off.
type Features struct {
	Minor   int            `json:"minor"`
	Source  string         `json:"source"`
	Enabled []inspect.Gate `json:"enabled"`
}

// Options say how to save.
type Options struct {
	// Anonymize replaces all names and all other text but what everybody knows; see public.go.
	Anonymize bool
	// Packed saves objects as protobuf, which is read several times as fast as JSON.
	Packed bool
	// Plain saves JSON without gzip around it. It says nothing if Packed is set.
	Plain bool
}

// Write saves a snapshot. The same snapshot gives the same bytes. Errors are those of w. Of a large cluster
// it needs little memory beside the snapshot, unless that is anonymized.
func Write(w io.Writer, s *inspect.Snapshot, opts Options) (Header, error) {
	objects := saved(s)
	header := headerOf(s, objects)
	if opts.Anonymize {
		reduce(objects)
		if err := anonymize(objects, &header); err != nil {
			return header, err
		}
	}
	if opts.Packed {
		return header, writePacked(w, &header, objects)
	}
	if opts.Plain {
		return header, writeJSON(w, &header, objects)
	}
	zw := gzip.NewWriter(w)
	if err := writeJSON(zw, &header, objects); err != nil {
		return header, err
	}
	if err := zw.Close(); err != nil {
		return header, fmt.Errorf("writing the end: %w", err)
	}
	return header, nil
}

// writeJSON writes the header and the objects, each on a line.
func writeJSON(w io.Writer, header *Header, objects []listing) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(header); err != nil {
		return fmt.Errorf("writing the header: %w", err)
	}
	for i := range objects {
		of := &objects[i]
		for j := range of.objects {
			object := of.take(j)
			value, err := any(object), error(nil)
			if !header.Anonymized { // then names in it are no longer those of the object
				value, err = inspect.WithNewer(object)
			}
			if err = cmp.Or(err, encoder.Encode(value)); err != nil {
				return fmt.Errorf("writing %s %s: %w", of.Name, object.GetName(), err)
			}
		}
	}
	return nil
}

func headerOf(s *inspect.Snapshot, objects []listing) Header {
	f := s.Features()
	h := Header{
		APIVersion: APIVersion, Kind: Kind, Time: s.Time().UTC(), ServerVersion: s.ServerVersion(),
		Features: Features{Minor: f.Minor, Source: f.Source, Enabled: f.List()},
		Health:   map[inspect.Resource]inspect.Health{}, Objects: map[inspect.Resource]int{},
	}
	if c := s.Scheduler(); c != nil {
		h.Scheduler, h.SchedulerOrigin, h.SchedulerUnreadable = c.Text, c.Origin, c.Unreadable()
	}
	h.Kueue = kueueOf(s.Kueue())
	for _, resource := range inspect.Resources() {
		if health := s.Health(resource); health.State != inspect.NotRead {
			health.Since = health.Since.UTC()
			h.Health[resource] = health
		}
	}
	for _, of := range objects {
		if len(of.objects) > 0 {
			h.Objects[of.Resource] = len(of.objects)
		}
	}
	return h
}

// maxWhy is how long a text may be that says why a configuration could not be read.
const maxWhy = 300

// Config returns what a Snapshot needs to know besides the objects. The error is that of a configuration of
// kube-scheduler or Kueue that cannot be read.
func (h *Header) Config() (inspect.Config, error) {
	on := map[inspect.Gate]bool{}
	for _, gate := range h.Features.Enabled {
		on[gate] = true
	}
	config := inspect.Config{
		Revision: 1, Time: h.Time, ServerVersion: h.ServerVersion, Health: h.Health,
		Features: inspect.Features{Minor: h.Features.Minor, Source: h.Features.Source}.With(on),
	}
	var err error
	if h.Scheduler != "" {
		// It was accepted when it was given, whatever gates count here.
		config.Scheduler, err = schedulerconfig.Read([]byte(h.Scheduler), func(string) bool { return true })
		if err != nil && inspect.NewerThanTypes(h.ServerVersion) {
			config.Scheduler = schedulerconfig.Unreadable("the configuration of kube-scheduler is newer than this program: " + inspect.SanitizeShort(err.Error(), maxWhy))
			config.Scheduler.Text, err = h.Scheduler, nil // it stays in the snapshot
		}
		if err == nil {
			config.Scheduler = config.Scheduler.From(h.SchedulerOrigin)
		}
	}
	if h.SchedulerUnreadable != "" && h.Scheduler == "" {
		config.Scheduler = schedulerconfig.Unreadable(h.SchedulerUnreadable)
	}
	if err == nil {
		config.Kueue, err = h.Kueue.read()
	}
	return config, err
}

// sniffed is how much of a file is looked at to tell what it is.
const sniffed = 4096

var (
	ourVersion = regexp.MustCompile(`"apiVersion"\s*:\s*"kubectl-dra\.dev/`)
	ourKind    = regexp.MustCompile(`"kind"\s*:\s*"` + Kind + `"`)
)

// Is reports whether r holds an archive, of whatever version, packed or not. Nothing is consumed.
func Is(r *bufio.Reader) bool {
	start := beginning(r)
	return bytes.HasPrefix(start, []byte("{")) && ourVersion.Match(start) && ourKind.Match(start)
}

// beginning returns how the text in r begins, unpacked. What is there is looked at; reading it will say what
// is wrong.
func beginning(r *bufio.Reader) []byte {
	start, _ := r.Peek(sniffed)
	if isGzip(start) {
		zr, err := gzip.NewReader(bytes.NewReader(start))
		if err != nil {
			return nil
		}
		unpacked := make([]byte, sniffed)
		n, _ := io.ReadFull(zr, unpacked) // it may well be cut off, by us
		start = unpacked[:n]
	}
	return bytes.TrimLeft(start, " \t\r\n")
}

func isGzip(data []byte) bool { return len(data) > 2 && data[0] == 0x1f && data[1] == 0x8b }

// Read reads an archive, packed or not, within the limits of opts, which has no other say; name is what it is
// called in errors. Cancellation gives the context's error.
func Read(ctx context.Context, r io.Reader, name string, opts manifest.Options) (*Header, *manifest.Result, error) {
	buffered := bufio.NewReaderSize(r, sniffed)
	if isPacked(buffered) {
		header, result, err := readPacked(ctx, buffered, name, opts)
		return header, result, packedError(name, err)
	}
	data, err := manifest.Unpack(ctx, buffered, name, opts)
	if err != nil {
		return nil, nil, packedError(name, err)
	}
	header, rest, err := readHeader(data)
	if err != nil {
		return nil, nil, fmt.Errorf("reading snapshot %s: %w", name, err)
	}
	result, err := manifest.ReadBytes(name, rest, manifest.Options{MaxBytes: opts.MaxBytes, NewerServer: inspect.NewerThanTypes(header.ServerVersion)})
	if err != nil {
		return nil, nil, fmt.Errorf("the snapshot is broken: %w", err)
	}
	for resource, health := range result.Health {
		if health.State == inspect.Incomplete { // objects of a newer version of the API were left out
			if header.Health == nil {
				header.Health = map[inspect.Resource]inspect.Health{}
			}
			header.Health[resource] = health
			delete(header.Objects, resource)
		}
	}
	if err := header.check(&result.Objects); err != nil {
		return nil, nil, fmt.Errorf("reading snapshot %s: %w", name, err)
	}
	return header, result, nil
}

var errIncomplete = errors.New("the file is incomplete: save or copy it again")

// packedError says what an error means that came up while a file was unpacked.
func packedError(name string, err error) error {
	var bad *manifest.Error
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("reading snapshot %s: %w", name, errIncomplete)
	case errors.Is(err, gzip.ErrChecksum):
		return fmt.Errorf("reading snapshot %s: the file is damaged: %w", name, gzip.ErrChecksum)
	case errors.As(err, &bad):
		return err // which begins with reading and the name
	case err != nil:
		return fmt.Errorf("reading snapshot %s: %w", name, err)
	}
	return nil
}

func readHeader(data []byte) (*Header, []byte, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	var raw json.RawMessage
	if err := decoder.Decode(&raw); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, nil, errIncomplete
		}
		return nil, nil, fmt.Errorf("broken header: %w", err)
	}
	var version struct{ APIVersion, Kind string }
	if err := json.Unmarshal(raw, &version); err != nil {
		return nil, nil, fmt.Errorf("broken header: %w", err)
	}
	if version.APIVersion != APIVersion && version.APIVersion != PackedVersion || version.Kind != Kind {
		return nil, nil, fmt.Errorf("it is of %q, kind %q, and this program reads %s and %s: use the version of kubectl-dra that saved it",
			version.APIVersion, version.Kind, APIVersion, PackedVersion)
	}
	header := &Header{}
	if err := json.Unmarshal(raw, header); err != nil {
		return nil, nil, fmt.Errorf("broken header: %w", err)
	}
	if header.Time.IsZero() {
		return nil, nil, errors.New("broken header: it has no time")
	}
	return header, data[decoder.InputOffset():], nil
}

// check tells whether all objects are there that the header speaks of.
func (h *Header) check(objects *inspect.Objects) error {
	for _, of := range listings(objects) {
		if want, got := h.Objects[of.Resource], len(of.objects); got < want {
			return fmt.Errorf("it has %d of %d %s: %w", got, want, of.Resource, errIncomplete)
		}
	}
	return nil
}

// listing is the objects of one resource.
type listing struct {
	inspect.Kind
	objects []metav1.Object
	// reduced says that the objects are copies already, as they are saved.
	reduced bool
}

// take returns object i as it is saved, and forgets it.
func (l *listing) take(i int) metav1.Object {
	object := l.objects[i]
	l.objects[i] = nil
	if l.reduced {
		return object
	}
	return Reduced(l.Kind, object)
}

// firstResources come first in an archive, in this order. The others follow in that of inspect.Resources.
var firstResources = []inspect.Resource{
	inspect.Nodes, inspect.Classes, inspect.Slices, inspect.TaintRules, inspect.Templates, inspect.Claims, inspect.Pods,
}

// listings lists the objects by resource, in a fixed order.
func listings(o *inspect.Objects) []listing {
	order := slices.Clone(firstResources)
	for _, resource := range inspect.Resources() {
		if !slices.Contains(order, resource) {
			order = append(order, resource)
		}
	}
	var out []listing
	for _, resource := range order {
		k := inspect.KindOf(resource)
		out = append(out, listing{Kind: k, objects: k.Objects(o)})
	}
	return out
}
