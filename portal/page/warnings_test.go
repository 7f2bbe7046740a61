package page

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"image"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/pades/inspect"
	"github.com/innsigli/innsigli/stamp"
)

// TestWarningsAreShown checks that the page shows each kind of warning with its pages, and nothing for an ordinary document
// (spec 3.12).
func TestWarningsAreShown(t *testing.T) {
	t.Parallel()
	const script = "/AA << /O << /S /JavaScript /JS (a) >> >>"
	f := newFixture(t)
	f.users()
	warned := f.inviteTo(pdftest.Build(pdftest.Options{Page: script, Catalog: "/AcroForm << /Fields [] /XFA [] >>"}))
	f.open(warned, 0, anna)
	b := f.browserOf(annas)
	b.get(of(warned, 0)).says(t, http.StatusOK, "warnings.title", "warning.javascript", "warning.xfa", "!warning.embeddedfiles").contains(t, "(bls. 1)")
	b.get(of(warned, 0), "Accept-Language", "en").contains(t, words().text("en", "warning.javascript")+" (page 1)", words().text("en", "warnings.title"))
	f.signs(warned, 0, annas)
	b.get(of(warned, 0)).says(t, http.StatusOK, "warning.xfa")
	clean := f.opened()
	f.browserOf(annas).get(of(clean, 0)).says(t, http.StatusOK, "!warnings.title", "!sign.notshown.document")
}

// TestEachWarningHasWords checks that the catalogue has every code.
func TestEachWarningHasWords(t *testing.T) {
	t.Parallel()
	for _, code := range inspect.Codes() {
		for _, v := range warningsOf([]inspect.Warning{{Code: code, Page: 7}, {Code: code, Page: 2}, {Code: code}, {Code: code, Page: 3}}, "") {
			if words()[v.Key] == nil || v.Pages != "2–3, 7" {
				t.Errorf("%s: %+v", code, v)
			}
		}
	}
}

// withoutPage is a renderer that cannot draw page 2.
type withoutPage struct{ blank }

func (w withoutPage) Render(ctx context.Context, r io.ReaderAt, size int64, page, width, height int) (*image.RGBA, error) {
	if page == 2 {
		return nil, errors.New("test: not drawn")
	}
	return w.blank.Render(ctx, r, size, page, width, height)
}

// TestPagesThatWereNotShown checks that a person confirms a page that could not be drawn before they sign, that the server
// demands it whatever the form has, and that the evidence log has the page (spec 3.12).
func TestPagesThatWereNotShown(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(c *Config) { c.Renderer = withoutPage{} })
	f.users()
	v := f.inviteTo(pdftest.Build(pdftest.Options{Pages: 3}))
	f.open(v, 0, anna)
	b := f.browserOf(annas)
	b.get(of(v, 0)).says(t, http.StatusOK, "!sign.notshown.pages")
	for n, status := range map[string]int{"1": http.StatusOK, "2": http.StatusUnprocessableEntity, "3": http.StatusOK} {
		if a := b.get(of(v, 0, "/pages/", n, "/640?revision=0")); a.status != status {
			t.Errorf("page %s: status %d, want %d", n, a.status, status)
		}
	}
	b.get(of(v, 0)).says(t, http.StatusOK, "warning.pagenotshown", "sign.notshown.pages").contains(t, `name="notshown" value="2" required`)
	for _, wrong := range []string{"", "1", "all", "2,3"} {
		b.post(of(v, 0, "/sign"), "method", "IdpApp", "revision", "0", "notshown", wrong).
			says(t, http.StatusUnprocessableEntity, "sign.notshown.fault", "sign.title").contains(t, `value="2"`)
	}
	if f.stored(v).Turn != nil {
		t.Fatal("the signature has begun")
	}
	a := b.post(of(v, 0, "/sign"), "method", "IdpApp", "revision", "0", "notshown", "2")
	if !strings.Contains(a.location, "attempt=") {
		t.Fatalf("%d %s", a.status, a.text())
	}
	entries, err := f.db.EvidenceLog().Entries(t.Context(), v.ID)
	f.must(err)
	var begun struct{ NotShown string }
	f.must(json.Unmarshal(entries[len(entries)-1].Facts, &begun))
	if begun.NotShown != "2" {
		t.Errorf("the evidence log has %s", entries[len(entries)-1].Facts)
	}
}

// TestPageIsDrawnLater checks that a page that failed once is confirmed only until it is shown.
func TestPageIsDrawnLater(t *testing.T) {
	t.Parallel()
	s, v := withDocument(t, pdftest.Build(pdftest.Options{Pages: 3}), blank{})
	rev := docRevision{process: v.ID}
	for _, page := range []int{1, 2} {
		s.must(s.page.noteDrawing(t.Context(), rev, page, false)) // by another server
	}
	b := s.browserOf(annas)
	for _, step := range []struct{ draw, notShown string }{{"3", "1-2"}, {"2", "1"}, {"1", ""}} {
		b.get(of(v, 0, "/pages/", step.draw, "/640?revision=0")).says(t, http.StatusOK)
		a := b.get(of(v, 0))
		if want := `name="notshown" value="` + step.notShown + `"`; step.notShown != "" {
			a.contains(t, want)
		} else {
			a.says(t, http.StatusOK, "!warning.pagenotshown", "!sign.notshown.pages")
		}
	}
}

// TestNotDrawnIsWrittenOnce checks that a page that fails again is written again only when half of the lifetime is over.
func TestNotDrawnIsWrittenOnce(t *testing.T) {
	t.Parallel()
	s, v := withDocument(t, pdftest.Build(pdftest.Options{Pages: 3}), withoutPage{})
	store := &countingStore{Store: s.page.config.Store}
	s.page.config.Store = store
	b := s.browserOf(annas)
	fails := func(wantPuts int) {
		t.Helper()
		store.puts = 0
		b.get(of(v, 0, "/pages/2/640?revision=0")).says(t, http.StatusUnprocessableEntity)
		if store.puts != wantPuts {
			t.Errorf("%d writes, want %d", store.puts, wantPuts)
		}
	}
	fails(1)
	fails(0)
	key := notDrawnKey(docRevision{process: v.ID})
	record, err := store.Record(t.Context(), key)
	s.must(err)
	record.Expires = record.Expires.Add(-notDrawnLifetime/2 - time.Minute)
	s.must(s.db.InTx(t.Context(), func(ctx context.Context) error { return store.Store.PutRecord(ctx, record) }))
	fails(1)
	fails(0)
}

// countingStore counts what is written, and its reads of a key fail with an error.
type countingStore struct {
	Store
	puts int
	key  []byte
	err  error
}

func (c *countingStore) PutRecord(ctx context.Context, r Record) error {
	c.puts++
	return c.Store.PutRecord(ctx, r)
}

func (c *countingStore) Record(ctx context.Context, key []byte) (Record, error) {
	if bytes.Equal(key, c.key) {
		return Record{}, c.err
	}
	return c.Store.Record(ctx, key)
}

// TestNotDrawnIsNotNoted checks that a person gets the picture or its placeholder when the store fails.
func TestNotDrawnIsNotNoted(t *testing.T) {
	t.Parallel()
	s, v := withDocument(t, pdftest.Build(pdftest.Options{Pages: 3}), withoutPage{})
	s.page.config.Store = &countingStore{Store: s.page.config.Store, key: notDrawnKey(docRevision{process: v.ID}), err: errors.New("test: the disk is full")}
	b := s.browserOf(annas)
	b.get(of(v, 0, "/pages/2/640?revision=0")).says(t, http.StatusUnprocessableEntity).contains(t, "<svg")
	b.get(of(v, 0, "/pages/1/640?revision=0")).says(t, http.StatusOK)
	s.wantFaults(2)
}

// TestNothingIsShown checks that a document that cannot be shown at all has to be confirmed too.
func TestNothingIsShown(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	v := f.invite()
	view, err := f.portal.ParticipantView(t.Context(), v.ID, v.Participants[0].ID)
	f.must(err)
	for want, sizes := range map[string]*pageSizes{
		"all":    nil,
		"":       {pages: []stamp.Size{a4, a4, a4}, total: 3},
		"2":      {pages: []stamp.Size{a4, {}, a4}, total: 3},
		"4":      {pages: []stamp.Size{a4, a4, a4}, total: 4},
		"4-2000": {pages: []stamp.Size{a4, a4, a4}, total: 2000},
	} {
		got, err := f.page.notShown(t.Context(), &view, sizes)
		f.must(err)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	f.must(f.page.noteDrawing(t.Context(), docRevision{"an account", v.ID, 0}, 3, false))
	f.must(f.page.noteDrawing(t.Context(), docRevision{"an account", v.ID, 0}, 1, false))
	got, err := f.page.notShown(t.Context(), &view, &pageSizes{pages: []stamp.Size{a4, a4, a4}, total: 9})
	f.must(err)
	if want := "1,3,4-9"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
