// Package requests is the few requests that package commit makes of an API server: what they promise
// ([Server], [RuleServer]), and how they are made over HTTP ([API], [Rules]). It knows nothing of the
// protocol.
package requests
