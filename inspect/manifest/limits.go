package manifest

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/resource"
)

// DefaultMaxBytes is how much all files together may hold when they are unpacked, when Options says nothing.
const DefaultMaxBytes int64 = 512 << 20

const (
	// freelyUnpacked is how much gzip may unpack to, however small it is, in bytes.
	freelyUnpacked int64 = 64 << 20
	// maxRatio is how many bytes each byte of gzip may become beyond that. Snapshots of real clusters have 10
	// to 60; gzip itself can reach 1000.
	maxRatio int64 = 100
	// maxDepth is how deep objects and lists may be nested. Kubernetes' own kinds stay below 30.
	maxDepth = 500
	// decoderDepth is what the decoders can bear; it cannot be exceeded.
	decoderDepth = 10000
)

const (
	maxErrorLength   = 800 // bytes of one error or warning line
	maxDetailLength  = 400 // bytes of what is wrong with one field
	maxSnippetLength = 60  // bytes of the user's own text within a message
)

// limits bound what is read, so that no file takes all memory, or hours. All follow from one number.
type limits struct {
	bytes   int64 // of all files, unpacked
	ratio   int64 // unpacked bytes for each byte of gzip beyond freelyUnpacked; 0 is no limit
	depth   int   // objects and lists within each other
	object  int   // bytes of one object; the API server takes 3 MiB
	values  int   // fields and list items of one object; the largest that the API server takes have 10,000
	objects int   // in all files, those of unknown kinds too
	// documents is how many YAML documents there may be; each takes ten times as long as an object of JSON.
	documents int
	files     int // below all directories
}

// limitsFor returns the limits for Options.MaxBytes. Whoever gives that number vouches for the input: then
// only what the decoders cannot bear is refused besides.
func limitsFor(maxBytes int64) limits {
	l := limits{bytes: DefaultMaxBytes, ratio: maxRatio, depth: maxDepth}
	if maxBytes > 0 {
		l = limits{bytes: maxBytes, depth: decoderDepth}
	}
	scale := max(l.bytes, DefaultMaxBytes)
	l.object, l.values = int(scale/32), int(scale/4096)
	l.objects, l.documents, l.files = int(scale/512), int(scale/2048), int(scale/4096)
	return l
}

const raise = "--max-input allows more"

// tooLarge says which limit a source exceeds.
func tooLarge(source, format string, args ...any) *Error {
	return &Error{Code: TooLarge, Source: source, Detail: fmt.Sprintf(format, args...), Advice: raise}
}

func (l *limits) tooManyBytes(source string) *Error {
	err := tooLarge(source, "more than %s of text, counting all files", sizeOf(l.bytes))
	err.Advice = "leave out kinds that are not needed; " + raise
	return err
}

func (l *limits) packedTooWell(source string) *Error {
	return tooLarge(source, "the gzip unpacks to more than %s and %d times its size", sizeOf(freelyUnpacked), l.ratio)
}

// sizeOf writes a number of bytes as --max-input takes it, such as "512Mi".
func sizeOf(bytes int64) string { return resource.NewQuantity(bytes, resource.BinarySI).String() }
