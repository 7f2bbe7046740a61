package page

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strconv"
	"time"

	"github.com/innsigli/innsigli/portal"
)

const (
	sheetsAtOnce = 50 // pages of a document on one page of HTML
	eagerSheets  = 2  // of them whose pictures are loaded at once
	// textTime is how long reading the text of all of them may take: the form to sign comes after it.
	textTime = 8 * time.Second
)

// documentView is the document as part of a page: its pages first to last, of which the template
// document.html makes pictures with their text.
type documentView struct {
	Path        string // of the participant's page
	Revision    int    // that is shown
	Pages       int    // of the document
	Shown       int    // of them that can be shown; 0: none, the file is no PDF that can be read
	First, Last int
	Earlier     int // first page of the part before; 0: there is none
	Later       int
	Sheets      iter.Seq[sheet]
	live        *live
}

// live is the answer that a documentView is written to.
type live struct{ flush func() }

// document reads what is to be known of the document of a place before its pages are, and says from
// which page on they are to be shown. The pages are read as they are written: see [Page.stream].
// [portal.ErrChanged], [portal.ErrNotFound], errBusy, or a failure of the store.
func (p *Page) document(ctx context.Context, place portal.ParticipantView, from string) (documentView, error) {
	v := documentView{
		Path:     placePath(place.ID, place.Participant.ID),
		Revision: place.Revision(),
		Sheets:   func(func(sheet) bool) {},
		live:     &live{flush: func() {}},
	}
	of, open := p.edition(place)
	sizes, err := p.pictures.sizes(ctx, of, open)
	if errors.Is(err, errUndrawable) {
		return v, nil
	}
	if err != nil {
		return v, err
	}
	v.Pages, v.Shown = sizes.all, len(sizes.pages)
	v.turnTo(from)
	v.Sheets = p.sheets(ctx, &v, of, open, sizes)
	return v, nil
}

// edition is the document of a place as it is now, and how it is opened.
func (p *Page) edition(place portal.ParticipantView) (edition, opener) {
	return edition{place.ID, place.Revision()}, func(ctx context.Context) (portal.DocumentCopy, error) {
		return p.config.Portal.Open(ctx, place.ID, place.Participant.ID)
	}
}

// turnTo chooses the part with a page; the first part when there is no such page.
func (v *documentView) turnTo(page string) {
	n, err := strconv.Atoi(page)
	if err != nil || n < 1 || n > v.Shown {
		n = 1
	}
	v.First = (n-1)/sheetsAtOnce*sheetsAtOnce + 1
	v.Last = min(v.First+sheetsAtOnce-1, v.Shown)
	if v.First > 1 {
		v.Earlier = v.First - sheetsAtOnce
	}
	if v.Last < v.Shown {
		v.Later = v.Last + 1
	}
}

// Parted says whether there is more of the document than is on one page of HTML.
func (v documentView) Parted() bool { return v.Earlier > 0 || v.Later > 0 }

// sheets are the pages, each of which is read when it is written. What was written before is on its way
// by then. Once reading has taken too long, the others come without their text, and say so; how long the
// reader's connection takes does not matter.
func (p *Page) sheets(ctx context.Context, v *documentView, of edition, open opener, sizes *sizes) iter.Seq[sheet] {
	path, first, last, live := v.Path, v.First, v.Last, v.live
	return func(yield func(sheet) bool) {
		left := textTime
		for n := first; n <= last; n++ {
			live.flush()
			written, took, err := p.read(ctx, left, of, open, n)
			left -= took
			s := newSheet(fmt.Sprintf("%s/pages/%d", path, n), of.revision, n, sizes.pages[n-1])
			s.Eager = n < first+eagerSheets
			s.Unread = err != nil
			if err == nil {
				s.Lines = s.place(written.lines)
			}
			if !yield(s) {
				return
			}
		}
	}
}

// read reads the text of a page in the time that is left for that, and says how much of it that took.
func (p *Page) read(ctx context.Context, left time.Duration, of edition, open opener, page int) (*text, time.Duration, error) {
	began := time.Now() // time: a duration
	ctx, cancel := context.WithTimeout(ctx, left)
	defer cancel()
	written, err := p.pictures.text(ctx, of, open, page)
	return written, time.Since(began), err // time: a duration
}

// stream writes a page as show does, but sends what comes before a sheet of the document before the
// sheet is read: the browser lays out the page and asks for pictures meanwhile.
func (p *Page) stream(w http.ResponseWriter, r *http.Request, v view, document documentView) error {
	f := p.frame(r, v)
	f.head(w, v.status)
	if r.Method == http.MethodHead {
		return nil
	}
	document.live.flush = func() { http.NewResponseController(w).Flush() } // what fails here fails below
	if err := pages[v.file].Execute(toClient{w}, f); err != nil && !errors.Is(err, errGone) {
		p.tell(r.Context(), err) // too late for a page of its own
	}
	return nil
}

// errGone: the client reads no more of the answer.
var errGone = errors.New("the client is gone")

// toClient is an answer whose errors are errGone.
type toClient struct{ io.Writer }

func (c toClient) Write(b []byte) (int, error) {
	n, err := c.Writer.Write(b)
	if err != nil {
		err = fmt.Errorf("%w: %w", errGone, err)
	}
	return n, err
}
