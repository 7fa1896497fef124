// Package quantity reads resource quantities from untrusted text.
//
// resource.ParseQuantity and the decoders that call it compute with as many digits as an exponent asks for:
// the fourteen characters "1e-2000000000" keep them busy for hours and take gigabytes. The API server has the
// same weakness. Whatever this program reads, from a file, a cluster or an annotation, goes through this
// package first: [Parse] and [Bounded] for a single text, [Replace] for an encoded object.
package quantity
