// Command upstream notices when Kubernetes changes what decisions of this module rest on. It compares
// releases of Kubernetes, neighbour with neighbour, in the folders and files that files.txt lists, and
// fails when changes.yaml does not explain a hunk.
//
//	upstream                  from the newest patch that was looked at to the newest that there is, in each
//	                          minor release; and the newest pre-release, for information
//	upstream all              all patches of the minor releases that are modelled
//	upstream 1.37.1 1.37.2    these
//
// Sources come from the Go module proxy, and are read, not built. Comments, imports, white space, generated
// files and tests do not count. A hunk is known by its file, the declaration, and the lines that it removes
// and adds, so that a change that is the same in several minor releases is explained once. What the proxy
// does not serve is said, and the releases around it are compared.
//
// docs/kubernetes-releases.md says what to do about a hunk.
package main
