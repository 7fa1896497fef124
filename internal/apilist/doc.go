// Package apilist has internal/apilist/next.txt: a line for everything that the packages of the library
// export. A change of what others use shows there, and a test compares it with what was released.
package apilist

//go:generate go test . -run TestListIsCurrent -update
