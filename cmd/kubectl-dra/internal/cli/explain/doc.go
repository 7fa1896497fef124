// Package explain holds kubectl dra explain: why a claim or a pod gets its devices or not, what is stuck,
// since when, and the fixes as commands and objects; also why a request or a priority level of the API server
// is treated as it is.
package explain
