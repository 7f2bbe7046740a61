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

	"github.com/klippa-app/go-pdfium"
	"github.com/klippa-app/go-pdfium/webassembly"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

const (
	// compilers is how many goroutines compile at once: two, because a single one ignores the end
	// of its context, and no more, because the server answers requests at the same time.
	compilers = 2
	// cacheTries bounds the attempts to use the cache. The first attempt may find a damaged entry,
	// which is then removed, the second may fail to write the entry again, and the third finds the
	// compiled code in memory.
	cacheTries = 3
)

// engine is compiled PDFium, which makes instances.
type engine struct {
	begin sync.Once
	done  chan struct{} // closed when the fields below are set
	pool  pdfium.Pool
	cache wazero.CompilationCache // nil: none
	cold  bool
	kept  bool // the compiled code is in the cache's folder
	err   error

	making sync.Mutex    // held while an instance is made
	next   *linearMemory // of the instance that is made; nil: it has been taken
}

// Allocate implements [experimental.MemoryAllocator]: it returns the memory of the instance that is being made.
func (e *engine) Allocate(uint64, uint64) experimental.LinearMemory {
	m := e.next
	e.next = nil
	return m
}

// prepare starts loading the engine on its first call, and returns a channel that is closed when
// the engine is loaded. Only Close stops the loading.
func (r *Renderer) prepare() <-chan struct{} {
	e := &r.engine
	e.begin.Do(func() {
		r.running.Go(func() {
			defer close(e.done)
			if e.err = e.load(r.lifetime, r.options); r.lifetime.Err() != nil {
				e.err = ErrClosed
			}
		})
	})
	return e.done
}

// load loads PDFium from the cache or compiles it. If the cache fails, because it is damaged or
// cannot be written, load does without it.
func (e *engine) load(ctx context.Context, o Options) (err error) {
	ctx = experimental.WithMemoryAllocator(experimental.WithCompilationWorkers(ctx, compilers), e)
	if folder := o.Cache; folder != "" && privateFolder(folder) {
		before := cacheEntries(folder)
		if len(before) == 0 && o.Compile != nil {
			_ = o.Compile(ctx) // documented as ignored
		}
		e.cache, _ = wazero.NewCompilationCacheWithDir(folder)
		for try := 0; try < cacheTries && e.cache != nil && ctx.Err() == nil; try++ {
			if e.pool, err = newPool(ctx, e.cache); err == nil {
				after := cacheEntries(folder)
				e.cold, e.kept = len(before) == 0 || !slices.Equal(before, after), len(after) > 0
				return nil
			}
			if ctx.Err() != nil {
				break
			}
			for _, entry := range cacheEntries(folder) {
				os.Remove(entry.path)
			}
		}
	}
	if e.cold = true; ctx.Err() == nil {
		e.pool, err = newPool(ctx, nil)
	}
	return err
}

// privateFolder makes a folder unless it exists, and reports whether the code in it can be trusted:
// the folder belongs to the current user, and no other user may write to it.
func privateFolder(path string) bool {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return false
	}
	stat, err := os.Stat(path)
	return err == nil && stat.IsDir() && onlyUserCanWrite(stat)
}

// cacheEntry is a file of the cache. A file that is written again has another time.
type cacheEntry struct {
	path    string
	written int64
}

func cacheEntries(folder string) (list []cacheEntry) {
	paths, _ := fs.Glob(os.DirFS(folder), "wazero-*/*")
	for _, name := range paths {
		path := filepath.Join(folder, filepath.FromSlash(name))
		if stat, err := os.Lstat(path); err == nil && stat.Mode().IsRegular() {
			list = append(list, cacheEntry{path, stat.ModTime().UnixNano()})
		}
	}
	return list
}

// newPool makes a pool of instances without a limit, because the renderer counts them. The compiled
// code checks in every loop whether its context has ended. Without that check, it would exceed its
// deadline, and Go's garbage collector, and so the whole program, would wait for it. PDFium uses the exceptions of
// WebAssembly. The memory of an instance is limited by its linearMemory.
func newPool(ctx context.Context, cache wazero.CompilationCache) (pdfium.Pool, error) {
	config := wazero.NewRuntimeConfig().WithCloseOnContextDone(true).WithCoreFeatures(api.CoreFeaturesV2 | experimental.CoreFeaturesExceptionHandling)
	if cache != nil {
		config = config.WithCompilationCache(cache)
	}
	pool, err := webassembly.Init(webassembly.Config{
		Context:       ctx,
		MaxTotal:      -1,
		FSConfig:      wazero.NewFSConfig(), // nil would give access to all files of the machine
		Stdout:        io.Discard,
		Stderr:        io.Discard,
		RuntimeConfig: config,
	})
	if err != nil {
		return nil, fmt.Errorf("pdfium: preparing: %w", err)
	}
	return pool, nil
}

// close frees the engine after its instances have been closed.
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
