// Package yamlpatch applies JSON patches (RFC 6902) to objects in text, YAML or JSON, and leaves the lines
// that an operation is not about as they are: comments, blank lines, quotes, the order of fields.
//
// A text is cut into documents. In each, an operation changes as little as it can (edit.go): a scalar, or the
// lines of a key or an item. Where that is not possible, as in flow style, the document is written anew from
// its nodes; that keeps most comments but not the layout. JSON is written anew with the indentation that it
// has. Nothing is trusted: after each operation the document is parsed again, and must be equal to the object
// with the operation applied to it. If it is not, there is an error.
package yamlpatch
