package fakeserver

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Refuse answers with a status of the API server. Headers are pairs of name and value.
func Refuse(code int, reason metav1.StatusReason, message string, headers ...string) Answer {
	return func(e *Exchange) {
		setHeaders(e, headers)
		Status(e, code, reason, message)
	}
}

// Text answers with a body of any kind. Headers are pairs of name and value.
func Text(code int, contentType, body string, headers ...string) Answer {
	return func(e *Exchange) {
		setHeaders(e, headers)
		e.Header().Set("Content-Type", contentType)
		e.Header().Set("Content-Length", strconv.Itoa(len(body)))
		e.WriteHeader(code)
		_, _ = e.Write([]byte(body)) // the client says so if it fails
	}
}

// JSON answers with 200 and this body.
func JSON(body string) Answer { return Text(http.StatusOK, "application/json", body) }

func setHeaders(e *Exchange, headers []string) {
	for i := 0; i+1 < len(headers); i += 2 {
		e.Header().Set(headers[i], headers[i+1])
	}
}

// With answers honestly, with headers besides: pairs of name and value.
func With(headers ...string) Answer {
	return func(e *Exchange) {
		setHeaders(e, headers)
		e.Honest()
	}
}

// Slow answers honestly after a time.
func Slow(d time.Duration) Answer {
	return func(e *Exchange) {
		if e.wait(d) {
			e.Honest()
		}
	}
}

// Silent never answers.
func Silent(e *Exchange) { <-e.Request.Context().Done() }

// Drop closes the connection without an answer.
func Drop(*Exchange) { panic(http.ErrAbortHandler) }

// Reset breaks the connection off, so that the client is told by its own kernel.
func Reset(e *Exchange) {
	connection, _, err := http.NewResponseController(e.ResponseWriter).Hijack()
	must(err)
	if tcp, ok := connection.(interface{ SetLinger(seconds int) error }); ok {
		_ = tcp.SetLinger(0) // else it is closed in good order
	}
	_ = connection.Close() // that is the point
}

// Raw answers with bytes that need not be HTTP, and closes the connection.
func Raw(text string) Answer {
	return func(e *Exchange) {
		connection, _, err := http.NewResponseController(e.ResponseWriter).Hijack()
		must(err)
		_, _ = connection.Write([]byte(text)) // the client says so if it fails
		_ = connection.Close()                // as above
	}
}

// Cut makes the honest answer and stops in the middle of its body.
func Cut(e *Exchange) {
	w := &cutter{ResponseWriter: e.ResponseWriter}
	e.Server.serve(w, e.Request, e.Body)
	panic(http.ErrAbortHandler)
}

// cutter passes the first half of each write on.
type cutter struct{ http.ResponseWriter }

func (w *cutter) Write(data []byte) (int, error) {
	if n, err := w.ResponseWriter.Write(data[:len(data)/2]); err != nil {
		return n, err
	}
	_ = http.NewResponseController(w.ResponseWriter).Flush() // what the client then gets is short in any case
	return len(data), nil
}

// Drip begins a body at once and never ends it: a space every 50 ms keeps the connection busy.
func Drip(e *Exchange) {
	e.Header().Set("Content-Type", "application/json")
	e.WriteHeader(http.StatusOK)
	for e.flush(" ") && e.wait(50*time.Millisecond) {
	}
}

func (e *Exchange) flush(text string) bool {
	_, err := e.Write([]byte(text))
	return err == nil && http.NewResponseController(e.ResponseWriter).Flush() == nil
}

// Endless sends a prefix and then so many bytes more, as fast as they are taken.
func Endless(contentType, prefix string, size int64) Answer {
	return func(e *Exchange) {
		e.Header().Set("Content-Type", contentType)
		e.WriteHeader(http.StatusOK)
		chunk := bytes.Repeat([]byte("A"), 1<<18)
		_, err := e.Write([]byte(prefix))
		for sent := int64(0); err == nil && sent < size; sent += int64(len(chunk)) {
			_, err = e.Write(chunk)
		}
	}
}

// Bomb answers with a body that is short as it is sent, and has so many bytes unpacked.
func Bomb(prefix string, size int) Answer {
	var packed bytes.Buffer
	zw := gzip.NewWriter(&packed)
	chunk := bytes.Repeat([]byte("A"), 1<<18)
	_, _ = zw.Write([]byte(prefix)) // to memory
	for sent := 0; sent < size; sent += len(chunk) {
		_, _ = zw.Write(chunk) // as above
	}
	_ = zw.Close() // as above
	return Text(http.StatusOK, "application/json", packed.String(), "Content-Encoding", "gzip")
}

// EndlessHeader sends so many bytes of headers.
func EndlessHeader(size int) Answer {
	return Raw("HTTP/1.1 200 OK\r\n" + strings.Repeat("X-Fill: "+strings.Repeat("A", 1000)+"\r\n", size/1010) + "\r\n")
}

// Redirect sends elsewhere: to the same path on another server, or, with "", to the same path again.
func Redirect(server string) Answer {
	return func(e *Exchange) {
		Text(http.StatusFound, "text/plain", "", "Location", server+e.Request.URL.RequestURI())(e)
	}
}

// List answers a list with these items, JSON, of whatever kind is asked for; next is the token of a next page.
func List(items, next string) Answer {
	return func(e *Exchange) {
		t, _ := e.Server.target(strings.Split(strings.Trim(e.Request.URL.Path, "/"), "/"))
		JSON(fmt.Sprintf(`{"kind":"%sList","apiVersion":%q,"metadata":{"resourceVersion":"3","continue":%q},"items":%s}`,
			t.Name, t.apiVersion(t.version), next, items))(e)
	}
}

// EndlessPages answers a list with one small object and the token of another page, always another one.
func EndlessPages(e *Exchange) { endlessPage(e, 1) }

// EndlessLargePages does so with as many objects as a page has most often.
func EndlessLargePages(e *Exchange) { endlessPage(e, 500) }

func endlessPage(e *Exchange, objects int) {
	page, _ := strconv.Atoi(e.Request.URL.Query().Get("continue")) // "" is 0
	items := make([]string, objects)
	for i := range items {
		name := fmt.Sprintf("page-%d-%d", page, i)
		items[i] = fmt.Sprintf(`{"metadata":{"name":%q,"namespace":"default","uid":%q}}`, name, name)
	}
	List("["+strings.Join(items, ",")+"]", strconv.Itoa(page+1))(e)
}
