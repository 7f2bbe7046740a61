// Package pdfium draws pages and reads their text with PDFium, compiled to WebAssembly: no C compiler, and a sandbox
// around what parses foreign files.
//
//	renderer := pdfium.New(pdfium.Options{Cache: "/var/lib/innsigli/pdfium"})
//	defer renderer.Close()
//	go renderer.Warm(ctx) // seconds the first time, a tenth of one later
//
// The sandbox has no files, no network, no environment and no output. It reads the document it
// is given, has 256 MiB of memory at most, and stops when the context of a rendering ends. No
// script and no action of a document is run.
package pdfium

import (
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"math"
	"runtime"
	"sync"
	"time"

	"github.com/innsigli/innsigli/stamp"
)

// ErrClosed: the renderer was closed.
var ErrClosed = errors.New("pdfium: renderer is closed")

// Options are a renderer's choices. The zero value is right but for Cache.
type Options struct {
	// Cache is a folder for compiled code, made if absent, for its owner alone: with it a
	// renderer is ready within a tenth of a second, without it within several. What lies there
	// is run, outside of the sandbox: nobody else may write to it. Several processes of
	// that user may share it. One that is damaged, cannot be written, or belongs to or can be
	// written by others is done without, which costs time and nothing else. "": none.
	Cache string

	// Compile is called before PDFium is compiled into a Cache that has nothing yet. That takes some 400 MB
	// of memory: a program that is to stay small has another process do it, by [Renderer.Warm] with
	// the same Cache. What it leaves undone is done in this one, whatever it returns. nil: all of it.
	Compile func(ctx context.Context) error

	// Instances is how many pages are drawn or read at once, others wait. 0: as many as Go uses
	// processors. Each holds 20 to 32 MiB while it has nothing to do.
	Instances int

	// Wait is how long a rendering waits until the renderer is ready and an instance free, else
	// [stamp.ErrNotReady]. 0: 8 s.
	Wait time.Duration

	// Limit is how long a page may take from then on. 0: 1.8 s. One of which less than half went into
	// drawing it and reading the document is not to blame, but the machine: [stamp.ErrNotReady]. Only Linux tells.
	Limit time.Duration
}

const (
	defaultWait  = 8 * time.Second
	defaultLimit = 1800 * time.Millisecond
	maxPixels    = 4 << 20
	maxDocument  = math.MaxInt32 // PDFium's offsets are of 32 bits here
)

// Renderer draws pages and reads their text. It may be used by several goroutines.
type Renderer struct {
	options Options
	life    context.Context // until Close
	end     context.CancelFunc
	engine  engine
	slots   chan struct{} // one for each page that is being drawn

	running sync.WaitGroup // renderings and the preparation
	lock    sync.Mutex     // of what follows
	idle    []*instance
	closed  bool
}

var (
	_ stamp.Renderer = (*Renderer)(nil)
	_ stamp.Renderer = Limited{}
)

// New returns a renderer. It is made ready by its first use, or by [Renderer.Warm].
func New(o Options) *Renderer {
	if o.Instances <= 0 {
		o.Instances = runtime.GOMAXPROCS(0)
	}
	if o.Wait <= 0 {
		o.Wait = defaultWait
	}
	if o.Limit <= 0 {
		o.Limit = defaultLimit
	}
	r := &Renderer{options: o, slots: make(chan struct{}, o.Instances)}
	r.life, r.end = context.WithCancel(context.Background())
	r.engine.done = make(chan struct{})
	return r
}

// Warm makes the renderer ready, and says whether the cache was cold: then it takes seconds. An
// error is that of ctx, which does not end what was begun, [ErrClosed], or lasting.
func (r *Renderer) Warm(ctx context.Context) (cold bool, err error) {
	if err := r.enter(); err != nil {
		return false, err
	}
	defer r.running.Done()
	select {
	case <-r.prepare():
		return r.engine.cold, r.engine.err
	case <-ctx.Done():
		return false, ctx.Err()
	}
}

// Kept says whether the code of a renderer that is ready is in the folder Options.Cache. If it is not, the folder could
// not be used, and the next renderer is compiled again.
func (r *Renderer) Kept() bool {
	select {
	case <-r.engine.done:
		return r.engine.kept
	default:
		return false
	}
}

// tellAfter is how long a caller waits without being told why: ten times as long as a renderer
// takes that was compiled before.
const tellAfter = time.Second

// WarmTelling is [Renderer.Warm] for programs with a log or a terminal: where it takes long, it calls tell with what it
// is doing, and with what it took. Errors are those of Warm.
func (r *Renderer) WarmTelling(ctx context.Context, tell func(text string)) error {
	began := time.Now()
	soon, cancel := context.WithTimeout(ctx, tellAfter)
	defer cancel()
	cold, err := r.Warm(soon)
	late := errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil
	if late { // which has not stopped it
		tell(r.compiling())
		cold, err = r.Warm(ctx)
	}
	if err != nil {
		return fmt.Errorf("the page renderer: %w", err)
	}
	if late && cold {
		tell(fmt.Sprintf("compiled the page renderer in %v", time.Since(began).Round(100*time.Millisecond)) + r.notKept())
	}
	return nil
}

func (r *Renderer) compiling() string {
	if r.options.Cache == "" {
		return "compiling the page renderer"
	}
	return "compiling the page renderer, to be kept for the next time"
}

// notKept says why compiled code is not kept, where there is a folder for it.
func (r *Renderer) notKept() string {
	if r.options.Cache == "" || r.Kept() {
		return ""
	}
	return ", which was not kept: " + r.options.Cache + " has to be a folder that this user, and nobody else, can write to"
}

// Render is the method of [stamp.Renderer]. Besides, a picture of more than 4 Mi pixels is an
// error, and one whose sides are not to each other as those of the page, but for 1 % and a
// pixel.
func (r *Renderer) Render(ctx context.Context, src io.ReaderAt, size int64, page, width, height int) (*image.RGBA, error) {
	return r.Within(r.options.Limit).Render(ctx, src, size, page, width, height)
}
