// Package podtemplate finds the pod templates of objects of any kind, by their shape: kinds that nobody here
// has heard of have them too. It says how many pods an object wants of each, and why there may be none yet.
package podtemplate
