package page

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/stamp"
)

// smallBook opens a document of three pages of text.
func smallBook(revision int) openFunc {
	document := pdftest.Book([]pdftest.Leaf{{Text: clauses(1)}, {Text: clauses(2)}, {Text: clauses(3)}})
	return openingOf(bytes.NewReader(document), int64(len(document)), revision, nil)
}

// A long document is shown in parts. An invalid query shows the first one.
func TestParts(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		from  string
		pages int
		want  [4]int // first, last, earlier, later
	}{
		{"", 1, [4]int{1, 1, 0, 0}},
		{"", 50, [4]int{1, 50, 0, 0}},
		{"", 51, [4]int{1, 50, 0, 51}},
		{"51", 51, [4]int{51, 51, 1, 0}},
		{"77", 170, [4]int{51, 100, 1, 101}},
		{"170", 170, [4]int{151, 170, 101, 0}},
		{"171", 170, [4]int{1, 50, 0, 51}},
		{"0", 170, [4]int{1, 50, 0, 51}},
		{"-50", 170, [4]int{1, 50, 0, 51}},
		{"99999999999999999999", 170, [4]int{1, 50, 0, 51}},
		{"<script>", 170, [4]int{1, 50, 0, 51}},
	} {
		v := documentView{Shown: test.pages}
		v.selectPart(test.from)
		if got := [4]int{v.First, v.Last, v.Earlier, v.Later}; got != test.want {
			t.Errorf("%q of %d: %v, want %v", test.from, test.pages, got, test.want)
		}
	}
}

// Text lies on its lines, also vertical text.
func TestTextLines(t *testing.T) {
	t.Parallel()
	s := newDocumentPage("/sign/a/b/pages/3", 2, 3, stamp.Size{Width: 595.28, Height: 841.89})
	if s.Box != "0 0 595.3 841.9" || s.Width != 794 || s.Height != 1123 {
		t.Errorf("%q, %d x %d", s.Box, s.Width, s.Height)
	}
	want := "/sign/a/b/pages/3/640?revision=2 640w, /sign/a/b/pages/3/960?revision=2 960w, /sign/a/b/pages/3/1440?revision=2 1440w"
	if string(s.Sources) != want || s.Source != "/sign/a/b/pages/3/960?revision=2" {
		t.Errorf("%q, %q", s.Sources, s.Source)
	}
	got := s.textLines([]stamp.Line{
		{Rect: stamp.Rect{Left: 10, Top: 20, Width: 100, Height: 10}, Text: "along"},
		{Rect: stamp.Rect{Left: 10, Top: 20, Width: 10, Height: 100}, Text: "down"},
		{Rect: stamp.Rect{Left: 10, Top: 20, Width: 3, Height: 10}, Text: "I"},
		{Text: "nowhere"},
	})
	if diff := cmp.Diff([]textLine{
		{X: "10", Y: "27.8", Length: "100", Size: "10", Text: "along"},
		{X: "12.2", Y: "20", Length: "100", Size: "10", Transform: "rotate(90 12.2 20)", Text: "down"},
		{X: "10", Y: "27.8", Length: "3", Size: "10", Text: "I"},
		{X: "0", Y: "0", Size: "1", Text: "nowhere"},
	}, got); diff != "" {
		t.Error(diff)
	}
}

// A page that cannot be read says so; the others are shown.
func TestUnreadablePages(t *testing.T) {
	t.Parallel()
	p := &Page{pictures: newPictures(half{}, nil)}
	defer p.pictures.close()
	rev, open := docRevision{"an account", "a process", 0}, smallBook(0)
	sizes, err := p.pictures.sizes(t.Context(), rev, open)
	if err != nil {
		t.Fatal(err)
	}
	flushed := 0
	v := documentView{First: 1, Last: 3, response: &response{func() { flushed++ }}}
	got := ""
	for s := range p.documentPages(t.Context(), &v, rev, open, sizes) {
		got += fmt.Sprintf("%d: %v %d, ", s.Number, s.Unread, len(s.Lines))
	}
	if want := "1: false 1, 2: true 0, 3: false 1, "; got != want || flushed != 3 {
		t.Errorf("%q, want %q; sent %d times", got, want, flushed)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	p.pictures.clear()
	for s := range p.documentPages(ended, &v, rev, open, sizes) {
		if !s.Unread {
			t.Errorf("page %d is read after the request has ended", s.Number)
		}
	}
}

// The text of pages is missing after textTimeout of reading. The speed of the connection does not count.
func TestTextTimeout(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		reading, sending time.Duration
		unread           int
	}{
		"slow connection": {0, time.Minute, 0},
		"slow reading":    {3 * time.Second, 0, 1},
		"both":            {3 * time.Second, time.Minute, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &Page{pictures: newPictures(slowReader{takes: test.reading}, nil)}
				defer p.pictures.close()
				rev, open := docRevision{"an account", "a process", 0}, smallBook(0)
				sizes, err := p.pictures.sizes(t.Context(), rev, open)
				if err != nil {
					t.Fatal(err)
				}
				v := documentView{First: 1, Last: 3, response: &response{func() { time.Sleep(test.sending) }}}
				unread := 0
				for s := range p.documentPages(t.Context(), &v, rev, open, sizes) {
					if s.Unread {
						unread++
					}
				}
				if unread != test.unread {
					t.Errorf("%d pages are unread, want %d", unread, test.unread)
				}
			})
		})
	}
}

// slowReader takes a while to read a page.
type slowReader struct {
	blank
	takes time.Duration
}

func (r slowReader) Lines(ctx context.Context, _ io.ReaderAt, _ int64, _ int) ([]stamp.Line, error) {
	select {
	case <-time.After(r.takes): // time: in bubbles alone
		return nil, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// half reads the odd pages only.
type half struct{ blank }

func (half) Lines(_ context.Context, _ io.ReaderAt, _ int64, page int) ([]stamp.Line, error) {
	if page%2 == 0 {
		return nil, errors.New("damaged")
	}
	return []stamp.Line{{Text: "words"}}, nil
}

// The HTML before each page of the document is sent before that page is read.
func TestDocumentIsStreamed(t *testing.T) {
	t.Parallel()
	slow := &steppedReader{read: make(chan int), answer: make(chan struct{})}
	s, v := withDocument(t, pdftest.Book(contract), slow)
	server := httptest.NewServer(s.page)
	defer server.Close()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+of(v, 0), nil)
	s.must(err)
	r.Header.Set("Cookie", sessionCookie+"="+s.browserOf(annas).cookie())
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
	rest, err := io.ReadAll(a.Body)
	s.must(err)
	got += string(rest)
	answer{body: got}.contains(t, `alt="Blaðsíða 3 af 3"`, "words of page 3", `/pages/3/960?revision=0"`, `loading="lazy"`, "</html>").
		lacks(t, "style=", "ZgotmplZ")
}

// steppedReader sends the number of each page that it reads, and waits.
type steppedReader struct {
	blank
	read   chan int
	answer chan struct{}
}

func (s *steppedReader) Lines(_ context.Context, _ io.ReaderAt, _ int64, page int) ([]stamp.Line, error) {
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

// A fault is reported, also after the answer has begun; a client that has gone is not.
func TestFaultsWhileStreaming(t *testing.T) {
	t.Parallel()
	s, v := withDocument(t, pdftest.Book(contract), blank{})
	view, err := s.portal.ParticipantView(t.Context(), v.ID, v.Participants[0].ID)
	s.must(err)
	r := httptest.NewRequest(http.MethodGet, of(v, 0), nil)
	document, err := s.page.documentViewOf(t.Context(), view, "")
	s.must(err)
	broken := htmlPage{file: "participant.html", title: "place.asked.title", data: struct{ Failure, Tone string }{}}
	s.must(s.page.renderStreaming(httptest.NewRecorder(), r, broken, document))
	if faults := s.wantFaults(1); !strings.Contains(fmt.Sprint(faults), "participant.html") {
		t.Error(faults)
	}
	whole, err := s.page.participantPageOf(r, &view)
	s.must(err)
	gone := &goneAfter{ResponseWriter: httptest.NewRecorder(), left: 4000}
	s.must(s.page.renderStreaming(gone, r, htmlPage{file: "participant.html", title: whole.Title, data: whole}, whole.Document))
	if gone.left > 0 {
		t.Error(gone.left)
	}
}

// goneAfter is a client that has gone after so many bytes.
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
