// Package theme holds the colours of the terminal UI as one value.
//
// A [Theme] gives every [styled.Role], which says what a piece of text is, an appearance. It is made for a
// light or a dark background and for what the terminal can show, from 16 million colours to none. No meaning
// rests on colour alone: whoever paints also chooses words or marks that say the same.
package theme
