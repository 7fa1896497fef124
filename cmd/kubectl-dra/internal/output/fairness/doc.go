// Package fairness has the wire types and the text of API Priority and Fairness: levels, FlowSchemas,
// requests, and who of DRA asks where.
package fairness
