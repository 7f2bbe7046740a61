package main

import (
	"cmp"
	"context"
	"errors"
	"os"
	"os/exec"

	"github.com/innsigli/innsigli/server/config"
	"github.com/innsigli/innsigli/stamp/pdfium"
)

// rendererFlag says where the code of the page renderer is kept once it was compiled.
type rendererFlag struct {
	RendererCache string `placeholder:"FOLDER" help:"Folder for the compiled page renderer, which finds free space for stamps (default innsigli/pdfium in the user's cache folder)."`
}

// folder is empty if the user has no folder for caches.
func (f rendererFlag) folder() string { return cmp.Or(f.RendererCache, config.UserRendererFolder()) }

func (f rendererFlag) renderer() *pdfium.Renderer {
	folder := f.folder()
	return pdfium.New(pdfium.Options{Cache: folder, Compile: func(ctx context.Context) error { return compileApart(ctx, folder) }})
}

// compileApart has the page renderer compiled by this program in a process of its own, which is told nothing
// else: it takes four times the memory that a server takes, and gives it back when it ends.
func compileApart(ctx context.Context, cache string) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	c := exec.CommandContext(ctx, program)
	c.Args, c.Env = []string{"innsigli", "compile-renderer", "--renderer-cache=" + cache}, []string{}
	return c.Run()
}

// compileCommand is that process.
type compileCommand struct{ rendererFlag }

func (c compileCommand) Run(ctx context.Context) error {
	r := pdfium.New(pdfium.Options{Cache: c.folder()})
	_, err := r.Warm(ctx)
	return errors.Join(err, r.Close())
}
