// Package pdfium draws pages and reads their text with PDFium, compiled to WebAssembly. It needs no
// C compiler, and it parses untrusted files in a sandbox.
//
//	renderer := pdfium.New(pdfium.Options{Cache: "/var/lib/innsigli/pdfium"})
//	defer renderer.Close()
//	go renderer.Warm(ctx) // takes seconds the first time, a tenth of a second later
//
// A program that draws at once calls Warm without go: a rendering waits only for Options.Wait.
//
// The sandbox has no files, no network, no environment and no output. It reads only the given
// document, has at most 256 MiB of memory for a page, and [Options].Memory for all pages together, and
// stops when the context of a rendering ends. It runs no script and no action of a document.
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

// ErrClosed: the renderer has been closed.
var ErrClosed = errors.New("pdfium: renderer is closed")

// Options configure a renderer. The zero value works, but production should set Cache.
type Options struct {
	// Cache is a folder for compiled code; "": none. It is created if absent, for its owner alone.
	// With it a renderer is ready within a tenth of a second, without it within several seconds.
	// The code in it runs outside the sandbox, so no other user may be able to write to it. Several
	// processes of the same user may share it. The renderer does not use a folder that is damaged,
	// cannot be written, or belongs to or can be written by other users: it then compiles again,
	// which only takes time.
	Cache string

	// Compile is called before PDFium is compiled into an empty Cache. Compiling takes about 400 MB
	// of memory. A program that has to stay small lets another process compile, by [Renderer.Warm]
	// with the same Cache. Whatever Compile returns, this process compiles what is still missing.
	// nil: this process compiles everything.
	Compile func(ctx context.Context) error

	// Instances is how many pages are drawn or read at once; other callers wait. 0: GOMAXPROCS + 1, but at
	// least 3, so that a page that takes long does not keep all others waiting. An idle instance holds 18
	// to 32 MiB.
	Instances int

	// Memory is how many bytes of memory all instances have together, at least 32 MiB each. An instance has at most
	// 256 MiB. A page that needs more, or more than Memory leaves for it beside the 32 MiB of each other instance,
	// cannot be drawn. While others have the memory that a page needs, the page waits as it waits for a processor.
	// The memory of an instance is returned to the system at once when a page has failed, or when it is more than
	// 32 MiB after a page. 0: 256 MiB, and 48 MiB for each instance but one.
	Memory int64

	// Wait is how long a rendering waits in all until the renderer is ready, an instance is free, and the
	// instance has a processor. Then the error is [stamp.ErrNotReady]. 0: 8 s.
	Wait time.Duration

	// Limit is how long a page may take beside that wait: the time of a processor and that for reading the
	// document. 0: 1.8 s. A page that takes longer cannot be drawn, however busy the machine is. Only Linux
	// tells how long a page had a processor; elsewhere all time counts from when an instance is free.
	Limit time.Duration
}

const (
	minInstances = 3
	defaultWait  = 8 * time.Second
	defaultLimit = 1800 * time.Millisecond
	maxPixels    = 4 << 20
	maxDocument  = math.MaxInt32 // PDFium's offsets have 32 bits here
)

// Renderer draws pages and reads their text. Several goroutines may use it at once.
type Renderer struct {
	options  Options
	lifetime context.Context // ends with Close
	end      context.CancelFunc
	engine   engine
	budget   *memoryBudget
	slots    chan struct{} // has an element for each page that is being drawn or read

	running sync.WaitGroup // counts renderings and the preparation
	lock    sync.Mutex     // protects the fields below
	idle    []*instance
	closed  bool
}

var (
	_ stamp.Renderer = (*Renderer)(nil)
	_ stamp.Renderer = Limited{}
)

// New returns a renderer. Its first use prepares it, or [Renderer.Warm].
func New(o Options) *Renderer {
	if o.Instances <= 0 {
		o.Instances = max(minInstances, runtime.GOMAXPROCS(0)+1)
	}
	if o.Memory <= 0 {
		o.Memory = maxMemory + int64(o.Instances-1)*sharedMemory
	}
	if o.Wait <= 0 {
		o.Wait = defaultWait
	}
	if o.Limit <= 0 {
		o.Limit = defaultLimit
	}
	r := &Renderer{options: o, slots: make(chan struct{}, o.Instances), budget: newMemoryBudget(o.Memory, o.Instances)}
	r.lifetime, r.end = context.WithCancel(context.Background())
	r.engine.done = make(chan struct{})
	return r
}

// Render implements [stamp.Renderer]. It also returns an error for a picture of more than 4 Mi
// pixels, and for one whose aspect ratio differs from that of the page by more than 1 % and a
// pixel.
func (r *Renderer) Render(ctx context.Context, src io.ReaderAt, size int64, page, width, height int) (*image.RGBA, error) {
	return r.Within(r.options.Limit).Render(ctx, src, size, page, width, height)
}

// Instances returns how many pages are drawn or read at once.
func (r *Renderer) Instances() int { return r.options.Instances }

// Memory returns how many bytes of memory all instances may have together.
func (r *Renderer) Memory() int64 {
	return max(r.options.Memory, keptMemory*int64(r.options.Instances))
}

// Warm prepares the renderer. cold reports whether it had to compile PDFium, which takes seconds.
// The error is that of ctx, which does not stop the preparation, [ErrClosed], or a permanent
// failure.
func (r *Renderer) Warm(ctx context.Context) (cold bool, err error) {
	if err := r.beginUse(); err != nil {
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

// Ready returns nil when the renderer is prepared. Before that it begins with the preparation, waits for nothing, and
// returns [stamp.ErrNotReady]. Other errors are [ErrClosed] and a permanent failure.
func (r *Renderer) Ready() error {
	if err := r.beginUse(); err != nil {
		return err
	}
	defer r.running.Done()
	select {
	case <-r.prepare():
		return r.engine.err
	default:
		return stamp.ErrNotReady
	}
}

// IsCached reports whether the compiled code of a ready renderer is in the folder Options.Cache. If it
// is not, the folder could not be used, and the next renderer compiles again.
func (r *Renderer) IsCached() bool {
	select {
	case <-r.engine.done:
		return r.engine.kept
	default:
		return false
	}
}

// notifyAfter is how long WarmNotify waits before it reports the reason: ten times as long as it
// takes to load compiled code.
const notifyAfter = time.Second

// WarmNotify is [Renderer.Warm] for programs with a log or a terminal. If the preparation takes
// long, it calls tell with what the renderer is doing and later with the time that it took. Errors
// are those of Warm.
func (r *Renderer) WarmNotify(ctx context.Context, tell func(text string)) error {
	began := time.Now()
	soon, cancel := context.WithTimeout(ctx, notifyAfter)
	defer cancel()
	cold, err := r.Warm(soon)
	late := errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil
	if late { // the preparation continues
		tell(r.compiling())
		cold, err = r.Warm(ctx)
	}
	if err != nil {
		return fmt.Errorf("the page renderer: %w", err)
	}
	if late && cold {
		tell(fmt.Sprintf("compiled the page renderer in %v", time.Since(began).Round(100*time.Millisecond)) + r.whyNotCached())
	}
	return nil
}

func (r *Renderer) compiling() string {
	if r.options.Cache == "" {
		return "compiling the page renderer"
	}
	return "compiling the page renderer: the result is kept for the next start"
}

// whyNotCached returns why compiled code is not in Options.Cache, or "" if it is or there is no such
// folder.
func (r *Renderer) whyNotCached() string {
	if r.options.Cache == "" || r.IsCached() {
		return ""
	}
	return ", which was not kept: " + r.options.Cache + " has to be a folder that only this user can write to"
}

// Close stops running renderings, which return [ErrClosed], waits until they have ended, and frees
// the resources of the renderer.
func (r *Renderer) Close() error {
	r.lock.Lock()
	closed := r.closed
	r.closed = true
	r.lock.Unlock()
	if closed {
		return nil
	}
	r.end()
	r.running.Wait()
	for _, i := range r.idle {
		i.close()
	}
	r.idle = nil
	return r.engine.close()
}

// beginUse counts a caller, for whom Close waits.
func (r *Renderer) beginUse() error {
	r.lock.Lock()
	defer r.lock.Unlock()
	if r.closed {
		return ErrClosed
	}
	r.running.Add(1)
	return nil
}
