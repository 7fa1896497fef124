// Package diagnose finds out why nodes cannot give what a question asks for, and puts nodes with identical
// reasons into groups.
//
// Start reading at [Groups]. It makes a diagnosis of each node that said no, or of one node where several do
// not differ for the question, and merges the diagnoses of a group. A diagnosis has one of three forms:
//
//   - A general reason that no request is to blame for: the pod cannot use the node, the scheduler aborts,
//     or the search was given up.
//   - Starved requests, which have too few devices even if each device is examined by itself. A funnel shows
//     at which check they are lost (funnel.go).
//   - Interactions, if every request has enough devices, but not together (interaction.go). For a request
//     that fits by itself, its partner and the obstacle between them are named if each is exactly one
//     (partner.go).
//
// All numbers come from the allocator: from its examination of the devices of a node, and from smaller
// questions that are put to it.
package diagnose
