// Package claims is the view of ResourceClaims: which are allocated, where and with what, and which are
// stuck.
package claims
