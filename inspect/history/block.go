package history

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"time"
)

// blockKind says what a block holds.
type blockKind uint8

const (
	checkpoint blockKind = 'S' // the whole cluster: a packed archive
	changes    blockKind = 'C' // what became of it since the block before
)

// afterGap is the flag of a checkpoint before which nothing was recorded for a while.
const afterGap uint8 = 1

// version is the form of a log. It is in every header.
const version uint16 = 1

// magic begins every block, and so every log.
var magic = [4]byte{'K', 'D', 'R', 'L'}

// header is how a block begins, in big-endian order. Times are in nanoseconds of Unix time.
type header struct {
	Magic   [4]byte
	Version uint16
	Kind    blockKind
	Flags   uint8
	// From is when the first moment was, and To until when nothing else happened.
	From, To int64
	// Moments is how many moments are in a block of changes, and Changes of how many objects.
	Moments, Changes uint32
	// Length is how many bytes follow.
	Length int64
	// Sum is the CRC-32 of the header up to here, and Content that of what follows.
	Content, Sum uint32
}

// headerSize is the length of a header in bytes.
const headerSize = 4 + 2 + 1 + 1 + 8 + 8 + 4 + 4 + 8 + 4 + 4

// encode returns the header and the content as they are in a file.
func (h header) encode(content []byte) []byte {
	h.Magic, h.Version, h.Length, h.Content = magic, version, int64(len(content)), crc32.ChecksumIEEE(content)
	out := make([]byte, 0, headerSize+len(content))
	out, _ = binary.Append(out, binary.BigEndian, h) // it has only fixed sizes
	binary.BigEndian.PutUint32(out[headerSize-4:], crc32.ChecksumIEEE(out[:headerSize-4]))
	return append(out, content...)
}

// decodeHeader returns the header that data begins with. ok is false if there is none that is whole.
func decodeHeader(data []byte) (h header, ok bool) {
	if len(data) < headerSize || !Is(data) {
		return h, false
	}
	if _, err := binary.Decode(data, binary.BigEndian, &h); err != nil {
		return h, false
	}
	whole := h.Sum == crc32.ChecksumIEEE(data[:headerSize-4])
	return h, whole && h.Length >= 0 && h.From <= h.To
}

// Is reports whether a file that begins so is a log.
func Is(start []byte) bool { return bytes.HasPrefix(start, magic[:]) }

// Block is a piece of a log.
type Block struct {
	header
	// Data is the block as it is in a file.
	Data []byte
}

// Checkpoint reports whether a log may begin with the block.
func (b *Block) Checkpoint() bool { return b.Kind == checkpoint }

// Prolonging returns a block of the same length that stands for the block before and this one, if nothing
// happened in either.
func (b *Block) Prolonging(before *Block) (Block, bool) {
	if b.Kind != changes || before.Kind != changes || b.Moments+before.Moments > 0 || b.Length != before.Length || b.From != before.To {
		return Block{}, false
	}
	longer := *b
	longer.From = before.From
	longer.Data = longer.encode(b.Data[headerSize:])
	return longer, true
}

// Bytes is how long the block is in a file.
func (b *Block) Bytes() int64 { return headerSize + b.Length }

func at(nanoseconds int64) time.Time { return time.Unix(0, nanoseconds).UTC() }
