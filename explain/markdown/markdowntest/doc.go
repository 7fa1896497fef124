// Package markdowntest reads Markdown with a parser of its own kind, for tests: it tells what the structure
// of a document is and whether there is anything in it that does something, such as a link.
package markdowntest
