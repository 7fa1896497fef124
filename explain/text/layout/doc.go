// Package layout lays out pages of text: what is shown at all, headings, lines that are broken where they
// have to be, commands that can be pasted, and what stands at the end. What the pages say is up to their
// packages.
package layout
