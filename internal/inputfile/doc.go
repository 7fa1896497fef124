// Package inputfile opens files that users name, and waits for no pipe for ever.
package inputfile
