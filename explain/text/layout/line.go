package layout

import (
	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// The signs before an answer.
var (
	Good  = styled.Span{Text: "✓ ", Role: styled.Good}
	Bad   = styled.Span{Text: "✗ ", Role: styled.Bad}
	Mixed = styled.Span{Text: "! ", Role: styled.Warn}
	Open  = styled.Span{Text: "? ", Role: styled.Warn}
)

// Span makes a safe span.
func Span(role styled.Role, text string) styled.Span {
	return styled.Span{Text: inspect.Sanitize(text), Role: role}
}
