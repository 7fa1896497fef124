// Package inquiry holds what a command is asked about: a Kind of object by the names that users give it,
// objects by TYPE NAME, TYPE/NAME or in files, with the pods of their Owners, and the Completer, which offers
// all of that in a shell. Options are a question about such objects.
package inquiry
