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

// rendererFlag sets the folder of the compiled page renderer.
type rendererFlag struct {
	RendererCache string `placeholder:"FOLDER" help:"Folder for the compiled page renderer, which finds free space for stamps (default innsigli/pdfium in the user's cache folder)."`
}

// folder returns the folder of the compiled page renderer; empty if the user has no cache folder.
func (f rendererFlag) folder() string { return cmp.Or(f.RendererCache, config.UserRendererFolder()) }

func (f rendererFlag) renderer() *pdfium.Renderer {
	folder := f.folder()
	return pdfium.New(pdfium.Options{Cache: folder, Compile: func(ctx context.Context) error { return compileApart(ctx, folder) }})
}

// compileApart compiles the page renderer in another process of this program, which gets no environment. The compilation
// needs four times the memory of a server; it is released when the process ends.
func compileApart(ctx context.Context, cache string) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	c := exec.CommandContext(ctx, program)
	c.Args, c.Env = []string{"innsigli", "compile-renderer", "--renderer-cache=" + cache}, []string{}
	return c.Run()
}

// compileCommand is the hidden command of that process.
type compileCommand struct{ rendererFlag }

func (c compileCommand) Run(ctx context.Context) error {
	r := pdfium.New(pdfium.Options{Cache: c.folder()})
	_, err := r.Warm(ctx)
	return errors.Join(err, r.Close())
}
