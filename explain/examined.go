package explain

import (
	"context"

	"github.com/kubectl-dra/kubectl-dra/allocator"
)

// examined are the requests as the near nodes see them, node after node.
func (s *search) examined(ctx context.Context) ([]*allocator.ExaminedRequest, error) {
	var out []*allocator.ExaminedRequest
	for _, n := range s.near {
		l := s.q.localOf(n.name)
		if l == nil {
			continue
		}
		exam, err := l.examination(ctx)
		if err != nil {
			return nil, err
		}
		for i := range examinedRequests(exam) {
			out = append(out, &exam.Requests[i])
		}
	}
	return out, nil
}

// examinedRequests are the requests of an examination; none where the scheduler gives up.
func examinedRequests(exam *allocator.Examination) []allocator.ExaminedRequest {
	if exam == nil {
		return nil
	}
	return exam.Requests
}
