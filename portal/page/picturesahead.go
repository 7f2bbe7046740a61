package page

import (
	"context"
	"time"
)

// Bounds of what is drawn ahead.
const (
	maxEarly   = 8 // documents that wait for it
	earlyPages = 2
	earlyAgain = 10 * time.Minute // until the same edition may be drawn ahead again
)

// earlyWidths are those of the pictures that browsers most likely ask for first, phones and others. The
// second is made of the first where drawing takes long.
var earlyWidths = []int{widest, usualWidth}

// early is a document whose first pages may be asked for soon.
type early struct {
	edition
	open opener
}

// ahead has the first pages of a document drawn and read while somebody logs in. When too many wait
// for that, this one is not: nobody has a right to it. Nor does a link that is opened again and again
// make for more work than one that is opened once.
func (p *pictures) ahead(of edition, open opener) {
	select {
	case p.early <- early{of, open}:
	default:
	}
}

// drawAhead draws one document at a time, and sees to it that nothing is kept for too long.
func (p *pictures) drawAhead() {
	minute := time.NewTicker(time.Minute)
	defer minute.Stop()
	begun := make(map[edition]time.Time)
	for {
		select {
		case e := <-p.early:
			if _, already := begun[e.edition]; !already {
				begun[e.edition] = cacheTime()
				p.drawEarly(e)
			}
		case <-minute.C:
			for of, at := range begun {
				if cacheTime().Sub(at) > earlyAgain {
					delete(begun, of)
				}
			}
			p.lock.Lock()
			p.shelf.forget(cacheTime())
			p.lock.Unlock()
		case <-p.life.Done():
			return
		}
	}
}

// drawEarly draws the first pages of a document. What fails will be seen by who looks at it.
func (p *pictures) drawEarly(e early) {
	ctx, cancel := context.WithTimeout(p.life, patience)
	defer cancel()
	sizes, err := p.sizes(ctx, e.edition, e.open)
	if err != nil {
		return
	}
	for n := 1; n <= min(earlyPages, len(sizes.pages)); n++ {
		for _, width := range earlyWidths {
			if _, err := p.picture(ctx, e.edition, e.open, n, width); err != nil {
				return
			}
		}
		if _, err := p.text(ctx, e.edition, e.open, n); err != nil {
			return
		}
	}
}
