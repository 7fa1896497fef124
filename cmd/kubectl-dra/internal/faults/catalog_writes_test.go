package faults

import (
	"net/http"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/internal/fakeserver"
)

// refusesWrites: nothing is written, and the reason is told. A dry run at the server is refused as well.
func refusesWrites(says string) wants {
	return all(want{outcome: same}).
		but(want{outcome: fails, says: says, timeouts: 3, requests: 120}, writers...).
		but(want{outcome: fails, says: says, timeouts: 2}, "allocate --dry-run=server")
}

// lies: whether a write was made is not what the server says. A run looks again; it ends with 0 only if all
// is done.
func lies(says string) wants {
	return all(want{outcome: same}).
		but(want{outcome: same | fails | unsure, says: says, timeouts: 4, requests: 200}, writers...).
		but(want{outcome: same | fails, says: says}, "allocate --dry-run=server")
}

// begins: a run that writes begins again when something is not as it decided, twelve times at most. That
// takes longer than any other fault.
func begins(ws wants) wants {
	for _, name := range writers {
		w := ws[name]
		w.timeouts, w.requests = 9, 300
		ws[name] = w
	}
	return ws
}

func writes() []fault {
	refuse := func(code int, reason metav1.StatusReason, headers ...string) fakeserver.Answer {
		return fakeserver.Refuse(code, reason, "the server says no", headers...)
	}
	// hides makes the write and answers otherwise.
	hides := func(answer fakeserver.Answer) fakeserver.Answer {
		return func(e *fakeserver.Exchange) {
			e.Hidden()
			answer(e)
		}
	}
	return []fault{
		{name: "put-lie", about: "writes are answered with 200 and not made",
			inject: strike(puts, func(e *fakeserver.Exchange) { fakeserver.JSON(string(e.Body))(e) }), want: lies(`.`)},
		{name: "put-500-made", about: "writes are made and answered with 500", inject: strike(puts, hides(refuse(http.StatusInternalServerError, "InternalError"))), want: lies(`.`)},
		{name: "put-500-made-once", about: "the first write is made and answered with 500", inject: once(puts, hides(refuse(http.StatusInternalServerError, "InternalError"))), want: lies(`.`)},
		{name: "status-500-made", about: "the write of the status is made and answered with 500",
			inject: once(statusPuts, hides(refuse(http.StatusInternalServerError, "InternalError"))), want: lies(`.`)},
		{name: "put-409-made", about: "writes are made and answered with 409", inject: strike(puts, hides(refuse(http.StatusConflict, "Conflict"))), want: begins(lies(`.`))},
		{name: "put-drop-made", about: "writes are made and the connection is closed", inject: strike(puts, hides(dropConnection)), want: lies(`.`)},
		{name: "status-drop-made", about: "the write of the status is made and the connection is closed", inject: once(statusPuts, hides(dropConnection)), want: lies(`.`)},
		{name: "put-html-made", about: "writes are made and answered with a web page", inject: strike(puts, hides(fakeserver.Text(http.StatusOK, "text/html", "<html>ok</html>"))), want: lies(`.`)},
		{name: "put-empty-made", about: "writes are made and answered with {}", inject: strike(puts, hides(fakeserver.JSON(`{}`))), want: begins(lies(`.`))},
		{name: "put-403", about: "writes are forbidden", inject: strike(puts, refuse(http.StatusForbidden, "Forbidden")), want: refusesWrites(`says no|forbidden`)},
		{name: "put-409", about: "writes always conflict", inject: strike(puts, refuse(http.StatusConflict, "Conflict")), want: begins(refusesWrites(`.`))},
		{name: "put-409-once", about: "the first write conflicts", sample: true, inject: once(puts, refuse(http.StatusConflict, "Conflict")),
			want: all(want{outcome: same, timeouts: 3, requests: 120}).but(want{outcome: same | fails, says: `.`}, "allocate --dry-run=server")},
		{name: "put-429", about: "writes: too many requests, Retry-After: 1", inject: strike(puts, refuse(http.StatusTooManyRequests, "TooManyRequests", "Retry-After", "1")), want: refusesWrites(`(?i)says no|time|deadline`)},
		{name: "put-500", about: "writes fail", inject: strike(puts, refuse(http.StatusInternalServerError, "InternalError")), want: refusesWrites(`says no`)},
		{name: "put-silent", about: "writes are never answered", inject: strike(puts, silent), want: refusesWrites(inTime)},
		{name: "put-slow", about: "writes are answered after 300 ms", inject: strike(puts, slow(300*time.Millisecond)), want: slower(all(want{outcome: same, requests: 100}), 2, writers...)},
		{name: "status-403", about: "writing the status is forbidden", inject: strike(statusPuts, refuse(http.StatusForbidden, "Forbidden")), want: refusesWrites(`says no|forbidden`)},
		{name: "status-401", about: "the credentials run out before the status is written", inject: []fakeserver.Fault{
			{Match: statusPuts, Do: func(e *fakeserver.Exchange) {
				e.Server.Inject(fakeserver.Fault{Do: refuse(http.StatusUnauthorized, "Unauthorized")})
				refuse(http.StatusUnauthorized, "Unauthorized")(e)
			}}}, want: all(want{outcome: same}).but(want{outcome: fails | unsure, says: `(?i)credentials|unauthorized|says no`, timeouts: 3}, writers...).
			but(want{outcome: fails, says: `(?i)credentials|unauthorized|says no`}, "allocate --dry-run=server")},
		{name: "review-500", about: "the server fails to say what the user may do; it decides with the write itself", inject: strike(reviews, refuse(http.StatusInternalServerError, "InternalError")), want: all(want{outcome: same})},
		{name: "review-html", about: "that answer is a web page", inject: strike(reviews, fakeserver.Text(http.StatusOK, "text/html", "<html>log in</html>")), want: all(want{outcome: same})},
		{name: "review-no", about: "the user may nothing", inject: strike(reviews, fakeserver.Text(http.StatusCreated, "application/json", `{"status":{"allowed":false}}`)), want: refusesWrites(`missing|may not|permission`)},
		{name: "review-silent", about: "that answer never comes; the server decides with the write itself", inject: strike(reviews, silent), want: all(want{outcome: same}).but(want{outcome: same | fails, says: inTime, timeouts: 2}, "allocate --yes", "allocate --dry-run=server", "deallocate")},
		{name: "claim-404", about: "single claims are not found, though they are listed",
			inject: strike(`^GET .*/resourceclaims/`, refuse(http.StatusNotFound, "NotFound")), want: begins(refusesWrites(`.`))},
		{name: "claim-empty", about: "single claims are {}", inject: strike(`^GET .*/resourceclaims/`, fakeserver.JSON(`{}`)), want: begins(refusesWrites(`.`))},
	}
}
