// Package output has what all that is printed has in common: the formats that -o chooses from, tables,
// sorting, pages of labelled text, the lists of objects of `get`, and what answers share on the wire,
// kubectl-dra.dev/v1alpha1.
//
// The kinds of answers are in packages of their own, each with its wire types and how it is laid out for
// people: explanations, diffs, checks, fairness, nodeview, celtest and allocations. They import this package
// and not one another; kinds knows all.
//
// Wire types live apart from the types of inspect and explain, so that those can change: fields are only ever
// added. Golden files under testdata pin them. Tables are made by pure row functions of wire types, so a
// table never shows what the JSON does not have.
//
// All text in wire types is as it was in the cluster. Every printer makes it safe for a terminal on the way
// out.
package output
