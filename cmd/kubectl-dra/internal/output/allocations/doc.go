// Package allocations prints what was allocated and deallocated, and the claims as objects of the API.
package allocations
