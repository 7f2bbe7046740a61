package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"

	"github.com/innsigli/innsigli/ades/report"
	"github.com/innsigli/innsigli/sandbox"
)

type demoCommand struct {
	File  string `arg:"" optional:"" name:"file" help:"PDF to sign (default a sample)."`
	Out   string `short:"o" default:"signed.pdf" placeholder:"FILE" help:"File to write (default ${default}); sandbox-root.pem goes beside it."`
	Level string `default:"LT" help:"Level of the signature: B, T, LT or LTA (default ${default})."`
	rendererFlag
}

func (demoCommand) Help() string { return "Example: innsigli demo contract.pdf -o signed.pdf" }

// sample is the document that is signed when none is given.
//
//go:embed sample.pdf
var sample []byte

func (c demoCommand) Run(ctx context.Context, s streams) error {
	level, err := parseLevel(c.Level)
	if err != nil {
		return err
	}
	name, content := "sample.pdf", sample
	if c.File != "" {
		if content, err = os.ReadFile(c.File); err != nil {
			return err
		}
		name = filepath.Base(c.File)
	}
	folder, err := os.MkdirTemp("", "innsigli-demo-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	return c.withServer(ctx, s, filepath.Join(folder, "demo.db"), func(server *server, d *demoClient) error {
		if err := server.renderer.warm(ctx, s.say); err != nil {
			return err
		}
		signed, err := d.sign(ctx, name, content, level)
		if err != nil {
			return err
		}
		return c.finish(ctx, s, server, signed)
	})
}

// finish verifies the signed document and writes the files.
func (c demoCommand) finish(ctx context.Context, s streams, server *server, signed []byte) error {
	root := filepath.Join(filepath.Dir(c.Out), "sandbox-root.pem")
	if err := errors.Join(writeFile(c.Out, signed), writeFile(root, server.signers.own.RootPEM())); err != nil {
		return err
	}
	fmt.Fprintln(s.out)
	verifier := &verifier{roots: server.signers.own.Roots()}
	result, err := verifier.verify(ctx, c.Out)
	if err != nil {
		return err
	}
	if err := result.Text(s.out, report.English); err != nil {
		return err
	}
	fmt.Fprintf(s.out, "\nWrote %s (%d bytes) and %s.\nCheck it again with: innsigli verify %s --trust %s\n", c.Out, len(signed), root, c.Out, root)
	if !result.Passed {
		return errors.New("the signature that was just made does not verify")
	}
	return nil
}

// withServer calls f while a sandbox runs on a store of its own.
func (c demoCommand) withServer(ctx context.Context, s streams, store string, f func(*server, *demoClient) error) error {
	server, err := setup{
		place:     place{path: store},
		masterKey: store + ".key",
		keys:      sandbox.P256,
		retention: defaultRetention,
		renderer:  c.cache(),
		log:       slog.New(slog.NewTextHandler(s.talk, &slog.HandlerOptions{Level: slog.LevelWarn})), // it prints each request itself
	}.open(ctx)
	if err != nil {
		return err
	}
	credentials, err := server.credentials(ctx, "", "")
	if err != nil {
		return errors.Join(err, server.close())
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return errors.Join(err, server.close())
	}
	base := "http://" + listener.Addr().String()
	fmt.Fprintf(s.out, "Sandbox at %s\n\n", base)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var work sync.WaitGroup
	var failed error
	err = server.serve(ctx, listener, base, "", func() error {
		work.Go(func() {
			defer stop()
			failed = f(server, &demoClient{base: base, credentials: credentials, out: s.out})
		})
		return nil
	})
	work.Wait()
	return errors.Join(err, failed, server.close())
}
