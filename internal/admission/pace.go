package admission

import (
	"io"
	"net/http"
	"time"
)

// Pace is how slow a peer may be. It may keep the server waiting for Grace; each Rate bytes that it
// sends or takes give it a second back, of those it has used up. So one that moves at the rate may go on for ever,
// and one that stands still is cut off after Grace. The time that the server takes itself does not count.
type Pace struct {
	Grace time.Duration
	Rate  int64 // bytes a second
}

// Handler has the bodies of requests come and the answers leave at the pace. A body that comes too slowly
// ends with an error that is os.ErrDeadlineExceeded, and so does the writing of an answer. The server's own timeouts
// are put off meanwhile; those of a request without a body stay.
func (p Pace) Handler(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Deadlines of HTTP/2 cut a peer off when they are over, those of a connection when it is read or written then.
		control, alarms := http.NewResponseController(w), r.ProtoMajor > 1
		if r.Body != nil && r.Body != http.NoBody {
			var until time.Time
			if !alarms { // what the handler leaves of the body is still read afterwards, and no longer than this
				until = time.Now().Add(p.Grace)
			}
			_ = control.SetReadDeadline(until) // not every ResponseWriter has one, here and below
			r.Body = &pacedBody{r.Body, control, credit{p, p.Grace}, alarms}
		}
		paced := &pacedWriter{w, control, credit{p, p.Grace}, alarms}
		h.ServeHTTP(paced, r)
		paced.next() // for what is left in the server's buffer
	})
}

// credit is how long a peer may yet keep the server waiting.
type credit struct {
	Pace
	left time.Duration
}

// move takes the time that n bytes took, and gives back what they earn.
func (c *credit) move(n int, took time.Duration) {
	earned := time.Duration(float64(n) / float64(c.Rate) * float64(time.Second))
	c.left = min(c.Grace, c.left-took+earned)
}

type pacedBody struct {
	io.ReadCloser
	control *http.ResponseController
	credit  credit
	alarms  bool // it is not to be left waiting while the handler does something else
}

func (b *pacedBody) Read(p []byte) (int, error) {
	began := time.Now()
	_ = b.control.SetReadDeadline(began.Add(b.credit.left))
	n, err := b.ReadCloser.Read(p)
	b.credit.move(n, time.Since(began))
	if err == io.EOF || b.alarms {
		// The server looks whether the client is still there, for as long as the answer takes.
		_ = b.control.SetReadDeadline(time.Time{})
	}
	return n, err
}

type pacedWriter struct {
	http.ResponseWriter
	control *http.ResponseController
	credit  credit
	alarms  bool
}

// atOnce is how much is written under one deadline: at the rate it takes half of the grace. What takes
// longer could not be written at all.
func (p Pace) atOnce() int { return max(minPiece, int(float64(p.Rate)*p.Grace.Seconds()/2)) }

const minPiece = 4 << 10

func (w *pacedWriter) Write(p []byte) (written int, err error) {
	for {
		piece := p[:min(len(p), w.credit.atOnce())]
		n, err := w.write(piece)
		written += n
		if p = p[len(piece):]; err != nil || len(p) == 0 {
			return written, err
		}
	}
}

func (w *pacedWriter) write(p []byte) (int, error) {
	began := w.next()
	n, err := w.ResponseWriter.Write(p)
	w.waited(began, n)
	return n, err
}

// FlushError is for http.ResponseController.
func (w *pacedWriter) FlushError() error {
	began := w.next()
	err := w.control.Flush()
	w.waited(began, 0)
	return err
}

// next begins to wait for the client.
func (w *pacedWriter) next() (began time.Time) {
	began = time.Now()
	_ = w.control.SetWriteDeadline(began.Add(w.credit.left))
	return began
}

// waited ends it: the client took n bytes.
func (w *pacedWriter) waited(began time.Time, n int) {
	w.credit.move(n, time.Since(began))
	if w.alarms {
		_ = w.control.SetWriteDeadline(time.Time{})
	}
}

// Unwrap is for http.ResponseController as well.
func (w *pacedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
