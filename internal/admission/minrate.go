package admission

import (
	"io"
	"net/http"
	"time"
)

// MinRate is the least rate at which a client must send a request body and read a response. A client has Grace as
// its credit of waiting time. The time that the server waits for the client is subtracted from the credit, and each
// Rate bytes that the client sends or reads add a second, up to Grace. So a client at this rate is served without a
// time limit, and a client that stops is disconnected after Grace. The server's own processing time does not count.
type MinRate struct {
	Grace time.Duration
	Rate  int64 // bytes per second
}

// Handler returns a handler that enforces the rate for request bodies and responses of h. If the client is too
// slow, reading the body or writing the response returns an error that is os.ErrDeadlineExceeded. The rate replaces
// the server's read timeout for requests with a body, and its write timeout.
func (m MinRate) Handler(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// A deadline of HTTP/2 ends the stream when it passes, so it has to be cleared after each read and write; a
		// deadline of an HTTP/1 connection has an effect only on reads and writes.
		control, clearDeadline := http.NewResponseController(w), r.ProtoMajor > 1
		if r.Body != nil && r.Body != http.NoBody {
			var deadline time.Time
			if !clearDeadline { // for the rest of the body, which net/http reads after the handler has returned
				deadline = time.Now().Add(m.Grace)
			}
			_ = control.SetReadDeadline(deadline) // not all ResponseWriters support it, here and below
			// In a copy of the request: net/http would not know the body of its own as one that is too long to be read
			// before the response, and would wait for 256 KiB of it.
			body := &limitedBody{r.Body, control, credit{m, m.Grace}, clearDeadline}
			r = r.WithContext(r.Context())
			r.Body = body
		}
		limited := &limitedWriter{w, control, credit{m, m.Grace}, clearDeadline}
		h.ServeHTTP(limited, r)
		limited.begin() // for the rest of the response in the server's buffer
	})
}

// credit is the waiting time that a client has left.
type credit struct {
	MinRate
	remaining time.Duration
}

// update subtracts the time that n bytes took, and adds the time that they earn.
func (c *credit) update(n int, took time.Duration) {
	earned := time.Duration(float64(n) / float64(c.Rate) * float64(time.Second))
	c.remaining = min(c.Grace, c.remaining-took+earned)
}

type limitedBody struct {
	io.ReadCloser
	control       *http.ResponseController
	credit        credit
	clearDeadline bool // after each read
}

func (b *limitedBody) Read(p []byte) (int, error) {
	began := time.Now()
	_ = b.control.SetReadDeadline(began.Add(b.credit.remaining))
	n, err := b.ReadCloser.Read(p)
	b.credit.update(n, time.Since(began))
	if err == io.EOF || b.clearDeadline {
		// At the end of the body, net/http starts to watch the connection for the client closing it, without a time
		// limit.
		_ = b.control.SetReadDeadline(time.Time{})
	}
	return n, err
}

type limitedWriter struct {
	http.ResponseWriter
	control       *http.ResponseController
	credit        credit
	clearDeadline bool // after each write
}

// maxWrite returns how many bytes are written with one deadline: as many as take half of Grace at the rate. A write
// that takes longer than Grace would fail even for a client at the rate.
func (m MinRate) maxWrite() int { return max(minWrite, int(float64(m.Rate)*m.Grace.Seconds()/2)) }

const minWrite = 4 << 10

func (w *limitedWriter) Write(p []byte) (written int, err error) {
	for {
		chunk := p[:min(len(p), w.credit.maxWrite())]
		n, err := w.write(chunk)
		written += n
		if p = p[len(chunk):]; err != nil || len(p) == 0 {
			return written, err
		}
	}
}

func (w *limitedWriter) write(p []byte) (int, error) {
	began := w.begin()
	n, err := w.ResponseWriter.Write(p)
	w.end(began, n)
	return n, err
}

// FlushError is called by [http.ResponseController.Flush].
func (w *limitedWriter) FlushError() error {
	began := w.begin()
	err := w.control.Flush()
	w.end(began, 0)
	return err
}

// begin sets the deadline of a write and returns the time.
func (w *limitedWriter) begin() (began time.Time) {
	began = time.Now()
	_ = w.control.SetWriteDeadline(began.Add(w.credit.remaining))
	return began
}

// end ends a write of n bytes.
func (w *limitedWriter) end(began time.Time, n int) {
	w.credit.update(n, time.Since(began))
	if w.clearDeadline {
		_ = w.control.SetWriteDeadline(time.Time{})
	}
}

// Unwrap is called by [http.ResponseController].
func (w *limitedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
