// Package checks has the wire types of findings, previews of DeviceTaintRules and notices, and findings as
// SARIF.
package checks
