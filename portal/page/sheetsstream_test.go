package page

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/stamp"
)

// What comes before the pages of the document is sent before they are read.
func TestDocumentIsStreamed(t *testing.T) {
	t.Parallel()
	slow := &stopping{read: make(chan int), answer: make(chan struct{})}
	s, v := withDocument(t, pdftest.Book(contract), slow)
	server := httptest.NewServer(s.page)
	defer server.Close()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+of(v, 0), nil)
	s.must(err)
	r.Header.Set("Cookie", sessionCookie+"="+s.browser(annas).cookie)
	a, err := http.DefaultClient.Do(r)
	s.must(err)
	defer a.Body.Close()
	if n := <-slow.read; n != 1 {
		t.Fatalf("page %d is read first", n)
	}
	got := readUntil(t, a.Body, `id="document"`)
	slow.answer <- struct{}{}
	<-slow.read
	got += readUntil(t, a.Body, `id="page-1"`, "words of page 1", "</figure>")
	close(slow.answer)
	go func() {
		for range slow.read {
		}
	}()
	got += string(bodyOf(t, a))
	for _, want := range []string{`alt="Blaðsíða 3 af 3"`, "words of page 3", `/pages/3/960?revision=0"`, `loading="lazy"`, "</html>"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
	if strings.Contains(got, "style=") || strings.Contains(got, "ZgotmplZ") {
		t.Error(got)
	}
}

// stopping says which page it is to read, and waits.
type stopping struct {
	blank
	read   chan int
	answer chan struct{}
}

func (s *stopping) Lines(_ context.Context, _ io.ReaderAt, _ int64, page int) ([]stamp.Line, error) {
	s.read <- page
	<-s.answer
	return []stamp.Line{{Text: fmt.Sprintf("words of page %d", page)}}, nil
}

func readUntil(t *testing.T, r io.Reader, all ...string) string {
	t.Helper()
	var got []byte
	for _, want := range all {
		for !bytes.Contains(got, []byte(want)) {
			part := make([]byte, 4096)
			n, err := r.Read(part)
			if got = append(got, part[:n]...); err != nil {
				t.Fatalf("no %s in %s: %v", want, got, err)
			}
		}
	}
	return string(got)
}

// A fault of ours is told, however much was written before; that somebody has gone is not.
func TestStreamTellsFaults(t *testing.T) {
	t.Parallel()
	s, v := withDocument(t, pdftest.Book(contract), blank{})
	view, err := s.portal.ParticipantView(t.Context(), v.ID, v.Participants[0].ID)
	s.must(err)
	r := httptest.NewRequest(http.MethodGet, of(v, 0), nil)
	document, err := s.page.documentViewOf(t.Context(), view, "")
	s.must(err)
	broken := htmlPage{file: "participant.html", title: "place.asked.title", data: struct{ Failure, Tone string }{}}
	s.must(s.page.renderStreaming(httptest.NewRecorder(), r, broken, document))
	if len(s.faults) != 1 || !strings.Contains(s.faults[0].Error(), "participant.html") {
		t.Error(s.faults)
	}
	s.faults = nil
	whole, err := s.page.participantPageOf(r, &view)
	s.must(err)
	gone := &goneAfter{ResponseWriter: httptest.NewRecorder(), left: 4000}
	s.must(s.page.renderStreaming(gone, r, htmlPage{file: "participant.html", title: whole.Title, data: whole}, whole.Document))
	if gone.left > 0 || len(s.faults) > 0 {
		t.Error(gone.left, s.faults)
	}
}

// goneAfter is a client that goes after so many bytes.
type goneAfter struct {
	http.ResponseWriter
	left int
}

func (g *goneAfter) Write(b []byte) (int, error) {
	if g.left -= len(b); g.left <= 0 {
		return 0, io.ErrClosedPipe
	}
	return g.ResponseWriter.Write(b)
}
