// Package output turns answers into what is printed: the wire types of kubectl-dra.dev/v1alpha1, which
// scripts rely on, and the printers that -o chooses from.
//
// Wire types live apart from the types of inspect and explain, so that those can change: fields here
// are only ever added. Golden files under testdata pin them. Tables are made by pure row functions of
// wire types, so a table never shows what the JSON does not have.
//
// All text in wire types is as it was in the cluster. Every printer makes it safe for a terminal on
// the way out.
package output
