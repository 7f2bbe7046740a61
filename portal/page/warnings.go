package page

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/innsigli/innsigli/pades/inspect"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/stamp"
	"github.com/innsigli/innsigli/storage"
)

// warningView is a kind of warning about the document, with the pages that have it.
type warningView struct {
	Key   string // of the catalogue
	Pages string // such as "1–3, 7"; empty: the document as a whole
}

// warningsOf returns the warnings about a document in the order of their codes. notShown has the pages that were not
// shown, as [Page.notShown] returns them.
func warningsOf(warnings []inspect.Warning, notShown string) (list []warningView) {
	for _, code := range inspect.Codes() {
		var pages []int
		found := false
		for _, w := range warnings {
			if w.Code != code {
				continue
			}
			found = true
			if w.Page > 0 {
				pages = append(pages, w.Page)
			}
		}
		if view := (warningView{"warning." + strings.ToLower(string(code)), displayRanges(pageRanges(pages))}); found {
			list = append(list, view)
		} else if code == inspect.PageNotShown && notShown != "" {
			view.Pages = displayRanges(notShown)
			list = append(list, view)
		}
	}
	return list
}

// wholeDocument stands for all pages of a document of which none can be shown. It is in the evidence log.
const wholeDocument = "all"

// notShown returns the pages of the document that cannot be shown, such as "3,7-9": those without a size, those that could
// not be drawn when a picture of them was requested, and those after the last that is shown. It is empty if there are none,
// and wholeDocument if the file cannot be read. sizes are nil in that case.
func (p *Page) notShown(ctx context.Context, view *portal.ParticipantView, sizes *pageSizes) (string, error) {
	if sizes == nil {
		return wholeDocument, nil
	}
	rev, _ := p.currentRevision(*view)
	pages, _, err := p.notDrawn(ctx, rev)
	if err != nil {
		return "", err
	}
	for i, size := range sizes.pages {
		if size == (stamp.Size{}) {
			pages = append(pages, i+1)
		}
	}
	list := pageRanges(pages)
	if shown := len(sizes.pages); shown < sizes.total {
		list = strings.TrimPrefix(list+","+pageRange(shown+1, sizes.total), ",")
	}
	return list, nil
}

// notShownNow is notShown for a document whose page sizes are not known. Errors: errBusy, or an error of the store.
func (p *Page) notShownNow(ctx context.Context, view *portal.ParticipantView) (string, error) {
	rev, open := p.currentRevision(*view)
	sizes, err := p.pictures.sizes(ctx, rev, open)
	if err != nil && !errors.Is(err, errUnreadable) {
		return "", err
	}
	return p.notShown(ctx, view, sizes)
}

// notDrawnLifetime is how long the page remembers that a page could not be drawn: longer than an invitation is valid.
const notDrawnLifetime = 2 * portal.InvitationTime

func notDrawnKey(rev docRevision) []byte {
	return recordKey("not-drawn", fmt.Sprintf("%s/%d", rev.process, rev.revision))
}

// notDrawn returns the pages of a document that could not be drawn, in order, and when that is forgotten.
func (p *Page) notDrawn(ctx context.Context, rev docRevision) (pages []int, expires time.Time, err error) {
	record, err := p.config.Store.Record(ctx, notDrawnKey(rev))
	switch {
	case errors.Is(err, storage.ErrNotFound), err == nil && !p.now(ctx).Before(record.Expires):
		return nil, time.Time{}, nil
	case err == nil:
		err = json.Unmarshal(record.Value, &pages)
	}
	if err != nil {
		return nil, time.Time{}, fmt.Errorf("page: reading which pages could not be drawn: %w", err)
	}
	return pages, record.Expires, nil
}

// noteDrawing notes, for all servers, whether a page could be drawn. It writes only if that is news, or if half the lifetime
// of the note is over.
func (p *Page) noteDrawing(ctx context.Context, rev docRevision, page int, drawn bool) error {
	read := func(ctx context.Context) (pages []int, news bool, err error) {
		pages, expires, err := p.notDrawn(ctx, rev)
		if err != nil {
			return nil, false, err
		}
		i, noted := slices.BinarySearch(pages, page)
		switch {
		case drawn && noted:
			return slices.Delete(pages, i, i+1), true, nil
		case !drawn && !noted:
			return slices.Insert(pages, i, page), true, nil
		}
		return pages, !drawn && expires.Before(p.now(ctx).Add(notDrawnLifetime/2)), nil
	}
	if _, news, err := read(ctx); err != nil || !news { // most pictures need no transaction
		return err
	}
	return storage.InTx(ctx, p.config.Tx, func(ctx context.Context) error {
		pages, news, err := read(ctx)
		switch {
		case err != nil || !news:
			return err
		case len(pages) == 0:
			err = p.config.Store.DeleteRecord(ctx, notDrawnKey(rev))
		default:
			var value []byte
			if value, err = json.Marshal(pages); err == nil {
				err = p.config.Store.PutRecord(ctx, Record{Key: notDrawnKey(rev), Value: value, Expires: p.now(ctx).Add(notDrawnLifetime).Truncate(time.Second)})
			}
		}
		if err != nil {
			return fmt.Errorf("page: noting whether a page could be drawn: %w", err)
		}
		return nil
	})
}

// pageRanges returns page numbers as a list of ranges, such as "1-3,7".
func pageRanges(pages []int) string {
	pages = slices.Compact(slices.Sorted(slices.Values(pages)))
	var list []string
	for i := 0; i < len(pages); {
		last := i
		for last+1 < len(pages) && pages[last+1] == pages[last]+1 {
			last++
		}
		list = append(list, pageRange(pages[i], pages[last]))
		i = last + 1
	}
	return strings.Join(list, ",")
}

func pageRange(first, last int) string {
	if first == last {
		return fmt.Sprint(first)
	}
	return fmt.Sprintf("%d-%d", first, last)
}

// displayRanges returns ranges as a person reads them. It is empty for the document as a whole.
func displayRanges(ranges string) string {
	if ranges == wholeDocument {
		return ""
	}
	return strings.NewReplacer("-", "–", ",", ", ").Replace(ranges)
}
