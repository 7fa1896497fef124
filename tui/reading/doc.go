// Package reading makes screens of text about one object: a [Reader] asks in the background, asks again
// when the world changes, lays the answer out for the width of the screen, and scrolls.
package reading
