// Package changes is the view of what has happened: what was seen since the program began to watch, what
// objects tell by their timestamps, and what Events of the cluster tell. The same thing, seen and told, is
// one row.
package changes
