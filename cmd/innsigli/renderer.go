package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/innsigli/innsigli/stamp/pdfium"
)

// rendererFlag says where the code of the page renderer is kept once it was compiled.
type rendererFlag struct {
	RendererCache string `placeholder:"FOLDER" help:"Folder for the compiled page renderer, which finds free spots for stamps (default innsigli/pdfium in the user's cache folder)."`
}

// cache is empty if the user has no folder for caches.
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

// storedRendererFlag is that of a server, whose store stays.
type storedRendererFlag struct {
	RendererCache string `placeholder:"FOLDER" help:"Folder for the compiled page renderer, which finds free spots for stamps (default STORE.pdfium beside a store of the form bolt:PATH, else innsigli/pdfium in the user's cache folder)."`
}

func (f storedRendererFlag) cacheBeside(p place) string {
	if p.inPostgres() {
		return rendererFlag(f).cache()
	}
	return cmp.Or(f.RendererCache, p.path+".pdfium")
}

// pageRenderer is the renderer of a process.
type pageRenderer struct {
	*pdfium.Renderer
	cache string
}

func newRenderer(cache string) pageRenderer {
	return pageRenderer{pdfium.New(pdfium.Options{Cache: cache, Compile: compileApart(cache)}), cache}
}

// compileApart has the page renderer compiled by this program in a process of its own, which is told nothing
// else: it takes four times the memory that a server takes, and gives it back when it ends.
func compileApart(cache string) func(context.Context) error {
	return func(ctx context.Context) error {
		program, err := os.Executable()
		if err != nil {
			return err
		}
		c := exec.CommandContext(ctx, program)
		c.Args, c.Env = []string{"innsigli", "compile-renderer", "--renderer-cache=" + cache}, []string{}
		return c.Run()
	}
}

// compileCommand is that process.
type compileCommand struct{ rendererFlag }

func (c compileCommand) Run(ctx context.Context) error {
	r := pdfium.New(pdfium.Options{Cache: c.cache()})
	_, err := r.Warm(ctx)
	return errors.Join(err, r.Close())
}

// silence is how long somebody may wait without being told why: ten times what a renderer
// takes that was compiled before.
const silence = time.Second

// warm makes the renderer ready, and says so where that takes long.
func (r pageRenderer) warm(ctx context.Context, say func(text string)) error {
	began := time.Now()
	soon, cancel := context.WithTimeout(ctx, silence)
	defer cancel()
	cold, err := r.Warm(soon)
	late := errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil
	if late { // which has not stopped it
		say(r.compiling())
		cold, err = r.Warm(ctx)
	}
	if err != nil {
		return fmt.Errorf("the page renderer: %w", err)
	}
	if late && cold {
		say(fmt.Sprintf("compiled the page renderer in %v", time.Since(began).Round(100*time.Millisecond)) + r.lost())
	}
	return nil
}

// lost says that what was compiled is not kept, where there is a folder for it.
func (r pageRenderer) lost() string {
	if r.cache == "" || r.Kept() {
		return ""
	}
	return ", which was not kept: " + r.cache + " has to be a folder that this user, and nobody else, can write to"
}

func (r pageRenderer) compiling() string {
	if r.cache == "" {
		return "compiling the page renderer"
	}
	return "compiling the page renderer, to be kept for the next time"
}
