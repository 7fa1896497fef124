package manifest

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"unicode/utf16"
)

// reading is what one call may still read.
type reading struct {
	limits limits
	meter  func(packed, unpacked int64) // may be nil
	bytes  int64                        // unpacked so far
	files  int                          // found so far below directories
	names  []string                     // of what is read
}

func newReading(opts Options) *reading {
	return &reading{limits: limitsFor(opts.MaxBytes), meter: opts.Meter}
}

// Unpack reads all of in and returns it as UTF-8 text: gzip is undone, UTF-16 (which PowerShell writes when
// it redirects output) is converted, a byte order mark removed, and anything that is not text refused. The
// limits are those of opts; name is what in is called in errors. Bad input gives an *Error, cancellation the
// context's error.
func Unpack(ctx context.Context, in io.Reader, name string, opts Options) ([]byte, error) {
	return newReading(opts).unpack(ctx, name, in, 0)
}

// Unpacker unpacks pieces of gzip, one after the other, within limits that hold for all of them together.
type Unpacker struct{ reading *reading }

// NewUnpacker returns an Unpacker with the limits of opts.
func NewUnpacker(opts Options) *Unpacker { return &Unpacker{newReading(opts)} }

// Gunzip returns what the member of gzip holds that in begins with, text or not, and reads no further if in
// is an io.ByteReader; name is what in is called in errors. Bad input gives an *Error, cancellation the
// context's error.
func (u *Unpacker) Gunzip(ctx context.Context, name string, in io.Reader) ([]byte, error) {
	packed := &countedBytes{counter: counter{in: in}}
	if r, ok := in.(io.ByteReader); ok {
		packed.bytes = r
	} else {
		buffered := bufio.NewReaderSize(in, sniffed)
		packed.in, packed.bytes = buffered, buffered
	}
	zr, err := gzip.NewReader(packed)
	if err != nil {
		return nil, brokenGzip(name, err)
	}
	zr.Multistream(false)
	return u.reading.readAll(ctx, name, zr, &packed.counter, source{packed: true})
}

// countedBytes is a counter that can be read byte by byte, which keeps gzip from reading ahead.
type countedBytes struct {
	counter
	bytes io.ByteReader
}

func (c *countedBytes) ReadByte() (byte, error) {
	b, err := c.bytes.ReadByte()
	if err == nil {
		c.n++
	}
	return b, err
}

// unpack does what Unpack does. size is how many bytes in has, 0 if that is not known.
func (r *reading) unpack(ctx context.Context, name string, in io.Reader, size int64) ([]byte, error) {
	if size > r.limits.bytes-r.bytes {
		return nil, r.limits.tooManyBytes(name)
	}
	packed := &counter{in: in}
	buffered := bufio.NewReaderSize(packed, sniffed)
	start, err := buffered.Peek(sniffed)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, unreadable(name, err)
	}
	var data []byte
	if isGzip(start) {
		data, err = r.gunzip(ctx, name, buffered, packed)
	} else {
		// A disk image or a device is not read to its end to find that it is no text.
		if err := checkText(name, start); err != nil && !isUTF16(start) {
			return nil, err
		}
		data, err = r.readAll(ctx, name, buffered, packed, source{size: size})
	}
	if err != nil {
		return nil, err
	}
	return toText(name, data)
}

// sniffed is how much of a file is looked at, in bytes, before the rest is read.
const sniffed = 4096

func (r *reading) gunzip(ctx context.Context, name string, in *bufio.Reader, packed *counter) ([]byte, error) {
	zr, err := gzip.NewReader(in)
	if err != nil {
		return nil, brokenGzip(name, err)
	}
	return r.readAll(ctx, name, zr, packed, source{packed: true})
}

func brokenGzip(name string, err error) *Error {
	e := &Error{Code: Syntax, Source: name, Detail: "broken gzip: " + err.Error(), Err: err}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		e.Advice = "is the file complete?"
	}
	return e
}

// counter counts what is read through it.
type counter struct {
	in io.Reader
	n  int64 // bytes
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.in.Read(p)
	c.n += int64(n)
	return n, err
}

// source is what is known of the data before it is read.
type source struct {
	packed bool  // it is what gzip unpacks to
	size   int64 // in bytes; 0 is unknown
}

// Data of unknown size is read in pieces, which double from smallestPiece to largestPiece bytes. They are put
// together at the end, which takes at most twice the size of the data; a growing buffer would take three
// times as much.
const smallestPiece, largestPiece int64 = 1 << 15, 1 << 20

// readAll reads in to its end, but no further than the limits allow. packed counts what is read of the file.
func (r *reading) readAll(ctx context.Context, name string, in io.Reader, packed *counter, of source) ([]byte, error) {
	var pieces [][]byte
	var total int64
	told := r.teller()
	told(of.size, of.size) // before there is memory for it
	next := smallestPiece
	if of.size > 0 {
		next = of.size + 1 // one more, to see that this is the end
	}
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		piece, err := readPiece(in, next)
		next = min(max(2*next, smallestPiece), largestPiece)
		pieces = append(pieces, piece)
		total += int64(len(piece))
		r.bytes += int64(len(piece))
		told(packed.n, total)
		switch {
		case r.bytes > r.limits.bytes:
			return nil, r.limits.tooManyBytes(name)
		case of.packed && r.limits.ratio > 0 && total > max(freelyUnpacked, r.limits.ratio*packed.n):
			return nil, r.limits.packedTooWell(name)
		case errors.Is(err, io.EOF) && len(pieces) == 1:
			return piece, nil
		case errors.Is(err, io.EOF):
			return bytes.Join(pieces, nil), nil
		case err != nil && of.packed:
			return nil, brokenGzip(name, err)
		case err != nil:
			return nil, unreadable(name, err)
		}
	}
}

// teller returns a function that takes how much of one file was read, and how much that unpacked to, and
// tells the meter what is new.
func (r *reading) teller() func(packed, unpacked int64) {
	var toldPacked, toldUnpacked int64
	return func(packed, unpacked int64) {
		packed, unpacked = max(packed, toldPacked), max(unpacked, toldUnpacked)
		if r.meter != nil {
			r.meter(packed-toldPacked, unpacked-toldUnpacked)
		}
		toldPacked, toldUnpacked = packed, unpacked
	}
}

// readPiece reads size bytes, or fewer when in ends or fails before; then the error says so.
func readPiece(in io.Reader, size int64) ([]byte, error) {
	piece := make([]byte, size)
	n := 0
	for n < len(piece) {
		more, err := in.Read(piece[n:])
		n += more
		if err != nil {
			return piece[:n], err
		}
	}
	return piece, nil
}

func isGzip(data []byte) bool { return len(data) > 2 && data[0] == 0x1f && data[1] == 0x8b }

func isUTF16(data []byte) bool {
	return bytes.HasPrefix(data, []byte{0xff, 0xfe}) || bytes.HasPrefix(data, []byte{0xfe, 0xff})
}

// Objects returns an error when a file, called name, may not have so many objects, or an object of so many
// bytes.
func (o Options) Objects(name string, objects, largest int) error {
	l := limitsFor(o.MaxBytes)
	switch {
	case objects > l.objects:
		return tooLarge(name, "more than %d objects", l.objects)
	case largest > l.object:
		return tooLarge(name, "an object of more than %s", sizeOf(int64(l.object)))
	}
	return nil
}

// Values is how many fields and items of lists an object may have.
func (o Options) Values() int { return limitsFor(o.MaxBytes).values }

// toText returns data as UTF-8 without a byte order mark, and refuses what is not text.
func toText(name string, data []byte) ([]byte, error) {
	if isUTF16(data) {
		data = fromUTF16(data)
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if err := checkText(name, data); err != nil {
		return nil, err
	}
	return data, nil
}

func fromUTF16(data []byte) []byte {
	var order binary.ByteOrder = binary.LittleEndian
	if data[0] == 0xfe {
		order = binary.BigEndian
	}
	units := make([]uint16, len(data)/2-1) // without the byte order mark
	for i := range units {
		units[i] = order.Uint16(data[2*i+2:])
	}
	return []byte(string(utf16.Decode(units)))
}

// checkText refuses data with NUL bytes, which neither YAML nor JSON may hold.
func checkText(name string, data []byte) error {
	i := bytes.IndexByte(data, 0)
	if i < 0 {
		return nil
	}
	return &Error{
		Code: Binary, Source: name, Line: 1 + bytes.Count(data[:i], []byte("\n")),
		Detail: "not a text file (it holds a NUL byte)", Advice: "expected YAML or JSON, possibly gzip",
	}
}
