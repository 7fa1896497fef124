package fakeserver

import (
	"net/http"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Refuse answers with a status of the API server. Headers are pairs of name and value.
func Refuse(code int, reason metav1.StatusReason, message string, headers ...string) Answer {
	return func(e *Exchange) {
		e.SetHeaders(headers...)
		Status(e, code, reason, message)
	}
}

// Text answers with a body of any kind. Headers are pairs of name and value.
func Text(code int, contentType, body string, headers ...string) Answer {
	return func(e *Exchange) {
		e.SetHeaders(headers...)
		e.Header().Set("Content-Type", contentType)
		e.Header().Set("Content-Length", strconv.Itoa(len(body)))
		e.WriteHeader(code)
		_, _ = e.Write([]byte(body)) // the client says so if it fails
	}
}

// JSON answers with 200 and this body.
func JSON(body string) Answer { return Text(http.StatusOK, "application/json", body) }

// SetHeaders sets headers of the answer: pairs of name and value.
func (e *Exchange) SetHeaders(headers ...string) {
	for i := 0; i+1 < len(headers); i += 2 {
		e.Header().Set(headers[i], headers[i+1])
	}
}
