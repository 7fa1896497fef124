package faults

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/kubectl-dra/kubectl-dra/internal/fakeserver"
)

// withHeaders answers honestly, with headers besides: pairs of name and value.
func withHeaders(headers ...string) fakeserver.Answer {
	return func(e *fakeserver.Exchange) {
		e.SetHeaders(headers...)
		e.Honest()
	}
}

// slow answers honestly after a time.
func slow(d time.Duration) fakeserver.Answer {
	return func(e *fakeserver.Exchange) {
		if e.Wait(d) {
			e.Honest()
		}
	}
}

// silent never answers.
func silent(e *fakeserver.Exchange) { <-e.Request.Context().Done() }

// dropConnection closes the connection without an answer.
func dropConnection(*fakeserver.Exchange) { panic(http.ErrAbortHandler) }

// resetConnection breaks the connection off, so that the client is told by its own kernel.
func resetConnection(e *fakeserver.Exchange) {
	connection, _, err := http.NewResponseController(e.ResponseWriter).Hijack()
	if err != nil {
		panic(err)
	}
	if tcp, ok := connection.(interface{ SetLinger(seconds int) error }); ok {
		_ = tcp.SetLinger(0) // else it is closed in good order
	}
	_ = connection.Close() // that is the point
}

// raw answers with bytes that need not be HTTP, and closes the connection.
func raw(text string) fakeserver.Answer {
	return func(e *fakeserver.Exchange) {
		connection, _, err := http.NewResponseController(e.ResponseWriter).Hijack()
		if err != nil {
			panic(err)
		}
		_, _ = connection.Write([]byte(text)) // the client says so if it fails
		_ = connection.Close()                // as above
	}
}

// cutBody makes the honest answer and stops in the middle of its body.
func cutBody(e *fakeserver.Exchange) {
	w := &cutter{ResponseWriter: e.ResponseWriter}
	half := *e
	half.ResponseWriter = w
	half.Honest()
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

// drip begins a body at once and never ends it: a space every 50 ms keeps the connection busy.
func drip(e *fakeserver.Exchange) {
	e.Header().Set("Content-Type", "application/json")
	e.WriteHeader(http.StatusOK)
	for flush(e, " ") && e.Wait(50*time.Millisecond) {
	}
}

func flush(e *fakeserver.Exchange, text string) bool {
	_, err := e.Write([]byte(text))
	return err == nil && http.NewResponseController(e.ResponseWriter).Flush() == nil
}

// sendEndless sends a prefix and then so many bytes more, as fast as they are taken.
func sendEndless(contentType, prefix string, size int64) fakeserver.Answer {
	return func(e *fakeserver.Exchange) {
		e.Header().Set("Content-Type", contentType)
		e.WriteHeader(http.StatusOK)
		chunk := bytes.Repeat([]byte("A"), 1<<18)
		_, err := e.Write([]byte(prefix))
		for sent := int64(0); err == nil && sent < size; sent += int64(len(chunk)) {
			_, err = e.Write(chunk)
		}
	}
}

// bomb answers with a body that is short as it is sent, and has so many bytes unpacked. It is made when it is
// asked for.
func bomb(prefix string, size int) fakeserver.Answer {
	pack := sync.OnceValue(func() string {
		var packed bytes.Buffer
		zw := gzip.NewWriter(&packed)
		chunk := bytes.Repeat([]byte("A"), 1<<18)
		_, _ = zw.Write([]byte(prefix)) // to memory
		for sent := 0; sent < size; sent += len(chunk) {
			_, _ = zw.Write(chunk) // as above
		}
		_ = zw.Close() // as above
		return packed.String()
	})
	return func(e *fakeserver.Exchange) {
		fakeserver.Text(http.StatusOK, "application/json", pack(), "Content-Encoding", "gzip")(e)
	}
}

// endlessHeader sends so many bytes of headers.
func endlessHeader(size int) fakeserver.Answer {
	return raw("HTTP/1.1 200 OK\r\n" + strings.Repeat("X-Fill: "+strings.Repeat("A", 1000)+"\r\n", size/1010) + "\r\n")
}

// redirect sends elsewhere: to the same path on another server, or, with "", to the same path again.
func redirect(server string) fakeserver.Answer {
	return func(e *fakeserver.Exchange) {
		fakeserver.Text(http.StatusFound, "text/plain", "", "Location", server+e.Request.URL.RequestURI())(e)
	}
}

// listOf answers a list with these items, JSON, of whatever kind is asked for; next is the token of a next
// page.
func listOf(items, next string) fakeserver.Answer {
	return func(e *fakeserver.Exchange) {
		kind, version := e.Kind()
		fakeserver.JSON(fmt.Sprintf(`{"kind":"%sList","apiVersion":%q,"metadata":{"resourceVersion":"3","continue":%q},"items":%s}`,
			kind, version, next, items))(e)
	}
}

// endlessPages answers a list with one small object and the token of another page, always another one.
func endlessPages(e *fakeserver.Exchange) { endlessPage(e, 1) }

// endlessLargePages does so with as many objects as a page has most often.
func endlessLargePages(e *fakeserver.Exchange) { endlessPage(e, 500) }

func endlessPage(e *fakeserver.Exchange, objects int) {
	page, _ := strconv.Atoi(e.Request.URL.Query().Get("continue")) // "" is 0
	items := make([]string, objects)
	for i := range items {
		name := fmt.Sprintf("page-%d-%d", page, i)
		items[i] = fmt.Sprintf(`{"metadata":{"name":%q,"namespace":"default","uid":%q}}`, name, name)
	}
	listOf("["+strings.Join(items, ",")+"]", strconv.Itoa(page+1))(e)
}
