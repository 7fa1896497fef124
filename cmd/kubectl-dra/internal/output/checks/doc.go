// Package checks has the wire types of findings and previews of DeviceTaintRules.
package checks
