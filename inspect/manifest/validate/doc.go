// Package validate says what the API server would refuse of an object, and what it accepts although it cannot
// have been meant. Its rules are those of the API documentation in k8s.io/api/resource/v1 and of the API
// server's validation of new objects, whatever features are on, in the newest release that is modelled, also
// if it is a preview; [Problem.Since] says what older ones accept. CEL expressions are measured here and
// compiled where they are evaluated.
package validate
