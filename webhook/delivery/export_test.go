package delivery

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/innsigli/innsigli/webhook"
)

// Request is a request that an endpoint in memory receives.
type Request struct {
	URL    string
	Header http.Header
	Body   []byte
}

// AnswerWith makes an endpoint in memory answer requests, for bubbles, where sockets do not work. Its context ends
// after the response timeout. The status 0 is no answer.
func (s *Service) AnswerWith(endpoint func(ctx context.Context, r Request) (status int)) {
	s.post = func(ctx context.Context, m signedMessage) answer {
		// time: in bubbles alone
		limited, cancel := context.WithTimeout(ctx, webhook.ResponseTimeout)
		defer cancel()
		began := time.Now()
		status := endpoint(limited, Request{m.url, http.Header{
			webhook.HeaderID:           {m.id},
			webhook.HeaderTimestamp:    {strconv.FormatInt(m.at.Unix(), 10)},
			webhook.HeaderSignature:    {strings.Join(m.signatures, " ")},
			webhook.HeaderSubscription: {m.subscription},
		}, m.body})
		a := answer{took: time.Since(began), status: status} // time: in bubbles alone
		switch {
		case ctx.Err() != nil:
			a.status = 0
		case limited.Err() != nil:
			a.status, a.failure, a.detail = 0, TimedOut, "No answer within 15 seconds."
		case status == 0:
			a.failure, a.detail = NoConnection, "No connection."
		}
		return a
	}
}
