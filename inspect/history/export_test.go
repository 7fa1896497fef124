package history

import (
	"encoding/binary"
	"hash/crc32"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/archive"
)

// Resealed is a log whose checksums are made right, so that what is fuzzed is what lies behind them.
func Resealed(data []byte) []byte {
	out := append([]byte(nil), data...)
	for at := 0; len(out)-at >= headerSize && Is(out[at:]); {
		head := out[at : at+headerSize]
		length := binary.BigEndian.Uint64(head[headerSize-16:])
		if rest := uint64(len(out) - at - headerSize); length <= rest {
			content := out[at+headerSize:][:length]
			binary.BigEndian.PutUint32(head[headerSize-8:], crc32.ChecksumIEEE(content))
		}
		binary.BigEndian.PutUint32(head[headerSize-4:], crc32.ChecksumIEEE(head[:headerSize-4]))
		if length > uint64(len(out)) {
			break
		}
		at += headerSize + int(length)
	}
	return out
}

// Blown is a block in which an object is made to have so many bytes, by a change of a few.
func Blown(s *inspect.Snapshot, size int) (Block, error) {
	kind := inspect.KindOf(inspect.Claims)
	claim := s.Objects().Claims[0]
	old, err := archive.Encode(archive.Reduced(kind, claim))
	if err != nil {
		return Block{}, err
	}
	var delta []byte
	for made := 0; made < size; made += len(old) {
		delta = binary.AppendUvarint(delta, 0)
		delta = binary.AppendUvarint(delta, uint64(len(old)))
		delta = binary.AppendUvarint(delta, 0)
	}
	at := s.Time().UnixNano()
	m := moment{at: at, changes: []change{{keyOf(kind, claim), patched, delta, len(old)}}}
	data, err := m.append(nil, at)
	if err != nil {
		return Block{}, err
	}
	content, err := packed(data)
	h := header{Kind: changes, From: at, To: at, Moments: 1, Changes: 1}
	return Block{h, h.encode(content)}, err
}
