package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/innsigli/innsigli/stamp/pdfium"
)

// rendererFlag says where the code of the page renderer is kept once it was compiled.
type rendererFlag struct {
	RendererCache string `placeholder:"FOLDER" help:"Folder of what finds free spots for stamps: a renderer of pages, which takes seconds to compile once (default STORE.pdfium beside a store of the form bolt:PATH, else innsigli/pdfium in the user's cache folder)."`
}

// cache is the folder where there is no store that stays; empty if the user has none for caches either.
func (f rendererFlag) cache() string {
	if f.RendererCache != "" {
		return f.RendererCache
	}
	folder, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(folder, "innsigli", "pdfium")
}

// cacheBeside is the folder of a server.
func (f rendererFlag) cacheBeside(p place) string {
	if p.inPostgres() {
		return f.cache()
	}
	return cmp.Or(f.RendererCache, p.path+".pdfium")
}

// pageRenderer is the renderer of a process.
type pageRenderer struct {
	*pdfium.Renderer
	cache string
}

func newRenderer(cache string) pageRenderer {
	return pageRenderer{pdfium.New(pdfium.Options{Cache: cache}), cache}
}

// warm makes the renderer ready, and says so where that takes seconds: somebody may be waiting.
func (r pageRenderer) warm(ctx context.Context, say func(text string)) error {
	began := time.Now()
	if compiled, _ := filepath.Glob(filepath.Join(r.cache, "*", "*")); len(compiled) == 0 { // by version and machine
		say("compiling the page renderer, which is kept for the next time")
	}
	cold, err := r.Warm(ctx)
	if err != nil {
		return fmt.Errorf("the page renderer: %w", err)
	}
	if cold {
		say(fmt.Sprintf("compiled the page renderer in %v", time.Since(began).Round(100*time.Millisecond)))
	}
	return nil
}
