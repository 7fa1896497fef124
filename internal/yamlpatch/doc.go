// Package yamlpatch applies JSON patches (RFC 6902) to objects in text, YAML or JSON, and keeps comments,
// quotes and the order of fields.
//
// A text is cut into documents. A scalar is replaced on its line, and all else stays as it is. For other
// operations a document is written anew from its nodes, which keeps comments but not blank lines and the
// like; JSON is written with the indentation that it has. Nothing is trusted: after each operation the
// document is parsed again, and must be equal to the object with the operation applied to it. If it is not,
// there is an error.
package yamlpatch
