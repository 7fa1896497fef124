// Package places finds what a word that is typed after ":" means: a view, an object, a namespace, a context,
// or a page about what would be, in the words of kubectl and of those who are used to other tools.
package places
