// Package mcpserver answers questions of assistants by the Model Context Protocol: it has the tools, what
// each takes, and the bounds of a call. A tool is a command line of kubectl dra that only reads; who runs it
// is an [Asker].
//
// What a tool returns has two forms: the JSON that the command prints with -o json, and the same answer in
// Markdown as text. Both quote the cluster, where anybody may have written anything. In the Markdown all that
// is not a plain word is code, in the JSON characters that cannot be seen are escapes, and the text begins by
// saying that it is data.
package mcpserver
