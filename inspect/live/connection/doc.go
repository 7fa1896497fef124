// Package connection makes HTTP clients for an API server that may be slow, silent, endless or hostile, and
// says how often such a server is asked again.
//
// A request of such a client ends with its context, whatever happens below it: also while a credential plugin
// runs that never returns, or a server accepts the connection and says nothing. Its answer is bounded in size
// and has to make progress. What bounds an answer travels in the context of the request, see [With].
//
// A [Pace] is the rhythm in which one thing is asked for while asking fails.
package connection
