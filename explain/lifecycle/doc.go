// Package lifecycle says what has become of a pod since it got its devices: whether the scheduler still waits
// to bind it, whether it runs on its node, what keeps it from running, and when it will be evicted.
//
// What a pod, a claim and a node say of themselves is state, and counts. Events are history: of those that
// the kubelet makes on the way from a bound pod to a running one only the newest counts, and only while the
// pod itself does not say that it is past that. What is not known for certain, such as which pod is that of a
// driver, is told as it was seen.
package lifecycle
