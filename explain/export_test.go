package explain

// The tables of who acts, for tests.
var (
	FixActors         = fixActors
	RequirementActors = requirementActors
)
