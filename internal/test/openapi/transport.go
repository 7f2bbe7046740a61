package openapi

import (
	"errors"
	"io"
	"net/http"
)

// maxBody is how much of a body is judged. Longer ones are documents in Base64 for the most part.
const maxBody = 1 << 20

// Transport judges the answers that come through next, and reports what is wrong with them. Where the
// server may be one of several, an answer has to be right by one of their documents. A body is judged
// when it was read to its end.
func Transport(next http.RoundTripper, report func(error), documents ...*Document) http.RoundTripper {
	return transport{next, report, documents}
}

type transport struct {
	next      http.RoundTripper
	report    func(error)
	documents []*Document
}

// check reports what all documents have against an answer.
func (t transport) check(a Answer) (right bool) {
	var faults []error
	for _, d := range t.documents {
		err := d.Check(a)
		if err == nil {
			return true
		}
		faults = append(faults, err)
	}
	t.report(errors.Join(faults...))
	return false
}

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := t.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	a := Answer{Method: r.Method, Path: r.URL.EscapedPath(), Status: response.StatusCode, Header: response.Header.Clone()}
	if t.check(a) && r.Method != http.MethodHead {
		response.Body = &body{ReadCloser: response.Body, answer: a, judge: t}
	}
	return response, nil
}

// body gathers what is read, and has it judged when it ends.
type body struct {
	io.ReadCloser
	answer Answer
	judge  transport
	long   bool
	done   bool
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if len(b.answer.Body)+n > maxBody {
		b.long, b.answer.Body = true, nil
	}
	if !b.long {
		b.answer.Body = append(b.answer.Body, p[:n]...)
	}
	if err == io.EOF && !b.long && !b.done {
		b.done = true
		if b.answer.Body == nil {
			b.answer.Body = []byte{}
		}
		b.judge.check(b.answer)
	}
	return n, err
}

// CloseIdleConnections is for http.Client, which asks its transport.
func (t transport) CloseIdleConnections() {
	if next, ok := t.next.(interface{ CloseIdleConnections() }); ok {
		next.CloseIdleConnections()
	}
}
