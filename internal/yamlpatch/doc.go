// Package yamlpatch applies JSON patches (RFC 6902) to objects in text, YAML or JSON, and leaves everything else in the
// text as it is, byte for byte: comments, blank lines, quotes, the order of fields.
//
// A text is cut into documents. In each, the YAML parser says where values begin; where they end is found out here
// (scan.go). An operation then becomes one or two splices of bytes (edit.go), written as what stands around it is written:
// in blocks or in flow style (render.go). Nothing is trusted: after each operation the document is parsed again, and must be
// equal to the object with the operation applied to it. If it is not, or if the place is too odd to splice at, the document
// is written anew from its nodes, which keeps comments but not the layout; and if that is not equal either, there is an
// error.
package yamlpatch
