// Package remedy says how a fix is carried out: which commands to type, and what the changed objects look
// like.
//
// Commands are for a shell, one line each, in the order in which they are to be run. Names in them come from
// a cluster and from files; what a shell could take for something else is quoted, and what is no name is not
// put into a command at all.
package remedy
