package page

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"time"

	"github.com/innsigli/innsigli/portal"
)

// Bounds of what is kept and of what is under way.
const (
	keptBytes  = 64 << 20
	keptFor    = 10 * time.Minute // after the last use
	failedFor  = time.Minute      // until something that failed is tried again
	maxWaiting = 1024             // for a turn
	maxOfOne   = 64               // of them of one process: more than there are sheets on a page of HTML
	patience   = 30 * time.Second // of who waits for a turn
)

var (
	// errBusy: others are drawn now.
	errBusy = errors.New("too many pages are being drawn")
	// errUndrawable: the page is damaged, or too much for the renderer.
	errUndrawable = errors.New("the page cannot be drawn or read")
	// errEnding: the server ends.
	errEnding = errors.New("pages are not drawn any more")
)

// edition is the document of a process between two signatures.
type edition struct {
	process  string
	revision int
}

// key is what is kept: a picture, the text of a page (of width 0), or the sizes of all (page 0).
type key struct {
	edition
	page, width int
}

// kept is what is kept under a key.
type kept interface{ weight() int } // in bytes, about

// opener opens the document that an edition is of.
type opener func(ctx context.Context) (portal.DocumentCopy, error)

// pictures are the pages of documents as they are shown, with their text. What was made is kept for a
// while, and what several ask for at once is made once. As many are made at once as there are processors, less
// one, and at least one: the renderer has an instance more for others, such as who looks for the place of a stamp.
// The memory that they take is that of what is kept, and of a page for each of these. How large pages are is found out beside that, without a renderer: no
// page of HTML waits until others are drawn.
type pictures struct {
	renderer Renderer
	turns    *turns          // to draw a page, or to read it
	sizing   *turns          // to find out how large all are
	life     context.Context // until close
	end      context.CancelFunc
	running  sync.WaitGroup
	early    chan early // to be drawn ahead

	lock    sync.Mutex // of what follows
	shelf   *shelf
	flights map[key]*flight
}

func newPictures(r Renderer) *pictures {
	atOnce := max(1, runtime.GOMAXPROCS(0)-1)
	p := &pictures{
		renderer: r,
		turns:    newTurns(atOnce, maxWaiting, maxOfOne),
		sizing:   newTurns(atOnce, maxWaiting, maxOfOne),
		early:    make(chan early, maxEarly),
		shelf:    newShelf(keptBytes, keptFor),
		flights:  make(map[key]*flight),
	}
	p.life, p.end = context.WithCancel(context.Background())
	p.running.Go(p.drawAhead)
	return p
}

// close ends what is under way, and waits for it.
func (p *pictures) close() {
	p.lock.Lock() // no flight begins from now on
	p.end()
	p.lock.Unlock()
	p.running.Wait()
}
