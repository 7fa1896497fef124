// Package cni says which network configuration the container runtime of a node uses, and why not the others.
//
// Container runtimes read the same directory, /etc/cni/net.d, and choose differently:
//
//   - containerd (github.com/containerd/go-cni) takes the files that end in .conf, .conflist or .json in the
//     order of their names, and of them the first max_conf_num, which is one unless it is configured
//     otherwise. A broken file among these is an error: the node has no network until it is mended.
//   - CRI-O (github.com/cri-o/ocicni) passes over broken files, and over those whose plugins it cannot run,
//     and takes the network that cni_default_network names, or else the first. Of several files with one
//     network name the first counts.
//   - The CNI project's own library looks a network up by its name.
//
// CRI-O also asks each plugin for the versions that it supports, which takes running it. That is not done
// here: a plugin counts as usable if it is there.
//
// Files are parsed with that library (github.com/containernetworking/cni), of the specification 1.1. It
// neither runs plugins nor writes anything. What is in the files is not trusted: sizes are bounded, and texts
// are to be sanitised before they are shown.
package cni
