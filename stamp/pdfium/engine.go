package pdfium

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/klippa-app/go-pdfium"
	"github.com/klippa-app/go-pdfium/webassembly"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/innsigli/innsigli/stamp"
)

const (
	maxMemory = 256 << 20 // of an instance
	wasmPage  = 64 << 10  // what the memory of WebAssembly is counted in

	// compilers are at work at once: two, because a single one does not heed the end of its
	// context, and no more, because the server answers meanwhile.
	compilers = 2
	// cacheTries: the entry is damaged, it was removed and the next cannot be written, and the
	// code that was compiled is in memory.
	cacheTries = 3
)

// engine is PDFium compiled, of which instances are made.
type engine struct {
	begin sync.Once
	done  chan struct{} // closed when the fields below are set
	pool  pdfium.Pool
	cache wazero.CompilationCache // nil: none
	cold  bool
	kept  bool // in the folder of the cache
	err   error
}

// prepare has the engine made if nobody did, and returns what is closed then. Nobody's
// patience ends it, only Close.
func (r *Renderer) prepare() <-chan struct{} {
	e := &r.engine
	e.begin.Do(func() {
		r.running.Go(func() {
			defer close(e.done)
			if e.err = e.make(r.life, r.options); r.life.Err() != nil {
				e.err = ErrClosed
			}
		})
	})
	return e.done
}

// turn waits for the engine, and for one of the slots, which it takes.
func (r *Renderer) turn(ctx context.Context) error {
	patience := time.NewTimer(r.options.Wait)
	defer patience.Stop()
	select {
	case <-r.prepare():
	case <-patience.C:
		return stamp.ErrNotReady
	case <-ctx.Done():
		return ctx.Err()
	}
	if r.engine.err != nil {
		return r.engine.err
	}
	select {
	case r.slots <- struct{}{}:
		return nil
	case <-patience.C:
		return stamp.ErrNotReady
	case <-ctx.Done():
		return ctx.Err()
	}
}

// make compiles PDFium, or takes it from the cache. A cache that fails is no reason to fail:
// what is in it may be damaged, and it may not be writable.
func (e *engine) make(ctx context.Context, o Options) (err error) {
	ctx = experimental.WithCompilationWorkers(ctx, compilers)
	if folder := o.Cache; folder != "" && ownFolder(folder) {
		before := entries(folder)
		if len(before) == 0 && o.Compile != nil {
			_ = o.Compile(ctx) // as its documentation has it
		}
		e.cache, _ = wazero.NewCompilationCacheWithDir(folder)
		for try := 0; try < cacheTries && e.cache != nil && ctx.Err() == nil; try++ {
			if e.pool, err = start(ctx, e.cache); err == nil {
				after := entries(folder)
				e.cold, e.kept = len(before) == 0 || !slices.Equal(before, after), len(after) > 0
				return nil
			}
			if ctx.Err() != nil {
				break
			}
			for _, entry := range entries(folder) {
				os.Remove(entry.path)
			}
		}
	}
	if e.cold = true; ctx.Err() == nil {
		e.pool, err = start(ctx, nil)
	}
	return err
}

// entry is a file of the cache. What was written again has another time.
type entry struct {
	path    string
	written int64
}

func entries(folder string) (list []entry) {
	paths, _ := fs.Glob(os.DirFS(folder), "wazero-*/*")
	for _, name := range paths {
		path := filepath.Join(folder, filepath.FromSlash(name))
		if stat, err := os.Lstat(path); err == nil && stat.Mode().IsRegular() {
			list = append(list, entry{path, stat.ModTime().UnixNano()})
		}
	}
	return list
}

// start makes a pool of instances, which has no limit: the renderer counts. The code asks at
// every turn of a loop whether it has to stop. Without that, it would not only outlast its
// deadline: Go's collector, and with it the whole program, would wait for it.
func start(ctx context.Context, cache wazero.CompilationCache) (pdfium.Pool, error) {
	config := wazero.NewRuntimeConfig().WithCloseOnContextDone(true).WithMemoryLimitPages(maxMemory / wasmPage)
	if cache != nil {
		config = config.WithCompilationCache(cache)
	}
	pool, err := webassembly.Init(webassembly.Config{
		Context:       ctx,
		MaxTotal:      -1,
		FSConfig:      wazero.NewFSConfig(), // nil would be all of the machine's files
		Stdout:        io.Discard,
		Stderr:        io.Discard,
		RuntimeConfig: config,
	})
	if err != nil {
		return nil, fmt.Errorf("pdfium: preparing: %w", err)
	}
	return pool, nil
}

// close frees the engine, whose instances were closed.
func (e *engine) close() error {
	var failures []error
	if e.pool != nil {
		failures = append(failures, e.pool.Close())
	}
	if e.cache != nil {
		failures = append(failures, e.cache.Close(context.Background()))
	}
	return errors.Join(failures...)
}
