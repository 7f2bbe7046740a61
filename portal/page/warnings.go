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
		} else if code == inspect.PageNotDrawn && notShown != "" {
			view.Pages = displayRanges(notShown)
			list = append(list, view)
		}
	}
	return list
}

// wholeDocument stands for all pages of a document of which none can be shown.
const wholeDocument = "all"

// notShown returns the pages of the document that cannot be shown, such as "3,7-9": those without a size, those that could
// not be drawn when a picture of them was requested, and those after the last that is shown. It is empty if there are none, and wholeDocument if
// the file cannot be read. sizes are nil in that case.
func (p *Page) notShown(ctx context.Context, view *portal.ParticipantView, sizes *pageSizes) (string, error) {
	if sizes == nil {
		return wholeDocument, nil
	}
	rev, _ := p.currentRevision(*view)
	pages, err := p.undrawn(ctx, rev)
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

// undrawnLifetime is how long the page remembers that a page could not be drawn: longer than an invitation is valid. Each
// attempt to draw it begins the time anew.
const undrawnLifetime = 2 * portal.InvitationTime

func undrawnKey(rev docRevision) []byte {
	return recordKey("undrawn", fmt.Sprintf("%s/%d", rev.process, rev.revision))
}

// undrawn returns the pages of a document that could not be drawn, in order.
func (p *Page) undrawn(ctx context.Context, rev docRevision) (pages []int, err error) {
	record, err := p.config.Store.Record(ctx, undrawnKey(rev))
	switch {
	case errors.Is(err, storage.ErrNotFound), err == nil && !p.now(ctx).Before(record.Expires):
		return nil, nil
	case err == nil:
		err = json.Unmarshal(record.Value, &pages)
	}
	if err != nil {
		return nil, fmt.Errorf("page: reading which pages could not be drawn: %w", err)
	}
	return pages, nil
}

// noteUndrawn notes that a page could not be drawn, on all servers.
func (p *Page) noteUndrawn(ctx context.Context, rev docRevision, page int) error {
	return storage.InTx(ctx, p.config.Tx, func(ctx context.Context) error {
		pages, err := p.undrawn(ctx, rev)
		if err != nil {
			return err
		}
		if i, known := slices.BinarySearch(pages, page); !known {
			pages = slices.Insert(pages, i, page)
		}
		value, err := json.Marshal(pages)
		if err == nil {
			err = p.config.Store.PutRecord(ctx, Record{Key: undrawnKey(rev), Value: value, Expires: p.now(ctx).Add(undrawnLifetime).Truncate(time.Second)})
		}
		if err != nil {
			return fmt.Errorf("page: noting a page that could not be drawn: %w", err)
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
