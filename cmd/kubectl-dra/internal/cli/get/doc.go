// Package get holds kubectl dra get. A view is a table of one kind of thing; views lists them, with what each
// is made of and what completes its rows.
package get
