// Package screenshot draws frames of a terminal as SVG pictures, for documents.
//
// A [Picture] is text with the escape sequences that colour it. It is laid out on the same grid of cells as
// the renderer of the terminal UI uses. Words stay text, each piece at the place of its cell, so that they
// can be found and copied; rules, bars and squares are drawn, as good terminals do, because fonts disagree
// about them. The same picture gives the same bytes. A [Film] is several frames, of which one stands for all
// where nothing moves.
//
// Only tests use it: they drive the program, compare what it shows with the files in docs/images, and write
// these anew with -update (make screenshots).
package screenshot
