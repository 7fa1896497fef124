// Package explanations has the wire types of answers about claims and pods: explanations, triage, the number
// of copies that fit, and plans.
package explanations
