// Package fakeserver plays a Kubernetes API server for tests: an honest one, or one with faults.
//
// [New] makes a [Server] of objects. It lists them in pages, watches them, reads and writes single claims
// with the checks of resource versions that the real one makes, takes dry runs, and writes down every
// request. What the API server validates it does not validate: e2e tests have the real one for that.
//
// A [Fault] is data: which requests it strikes, how often, and what they are answered instead. The answers
// are functions of an [Exchange], which can also have the honest answer made first, or hidden: a server that
// writes and then says that it failed is a fault as well.
package fakeserver
