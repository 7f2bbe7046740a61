package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"os"

	"github.com/innsigli/innsigli/internal/durable"
	"github.com/innsigli/innsigli/server"
	"github.com/innsigli/innsigli/server/config"
	"github.com/innsigli/innsigli/server/operator"
)

type signingCommand struct {
	Complete signingComplete `cmd:"" help:"Complete the signature of a request whose timestamp or revocation data was not available in time."`
}

func (signingCommand) Help() string {
	return "Example: innsigli signing complete 9d0f8a52-58f3-4e0b-8a53-6c1f3f1d7c55 -o contract.pdf --store bolt:innsigli.db"
}

type signingComplete struct {
	storeFlag
	config.CommandFlags
	Request string `arg:"" help:"ID of the request: its pollingId."`
	Out     string `short:"o" required:"" placeholder:"FILE" help:"File to write, which only its owner can read. An existing file is replaced."`
}

func (signingComplete) Help() string {
	return "A signing request ends with InternalError if a timestamp authority, OCSP responder or CRL does not answer in time. The server keeps the signature value of the person for as long as ended requests ([retention]). This command adds the value to the document, with the timestamps and revocation data of the level that the client asked for, and writes the signed document to FILE. It never writes a lower level. The person is not asked again.\n\n" +
		"The request stays failed: the client was told so, and gets no document. The signature is not counted. Before the first byte is written, the evidence log gets an entry signature.recovered with the SHA-256 of the document. If the command ends before the file is complete, repeat it: it makes another document, with an entry of its own.\n\n" +
		"The signature of a participant of a signing process is not added to the document of the process: the participant was told that it failed, and may have signed again or declined since. FILE is the document that the participant signed, with this signature.\n\n" +
		"If a server runs on a store of the form bolt:PATH, it does this with its own configuration. Otherwise the command needs --environment, --config and --master-key-file as the servers have them.\n\n" +
		"Example: innsigli signing complete 9d0f8a52-58f3-4e0b-8a53-6c1f3f1d7c55 -o contract.pdf --store bolt:innsigli.db\n\n" +
		"Example: innsigli signing complete 9d0f8a52-58f3-4e0b-8a53-6c1f3f1d7c55 -o contract.pdf --store 'postgres://innsigli@db.example/innsigli?sslmode=verify-full' --master-key-file master.key --config innsigli.toml"
}

func (c signingComplete) Run(ctx context.Context, s streams, known variables) error {
	write := func(o operator.Operator) error { return c.write(ctx, o) }
	err := c.operateOr(ctx, write, func(config.Store) error { return c.withConfiguration(ctx, known, write) })
	if err == nil {
		fmt.Fprintf(s.stderr, "Wrote %s. The request stays failed.\n", c.Out)
	}
	return err
}

// withConfiguration opens the store as a server with the configuration does, and calls f on it.
func (c signingComplete) withConfiguration(ctx context.Context, known variables, f func(operator.Operator) error) (err error) {
	conf, faults := config.Read(c.Flags(c.Store, c.DatabaseFlag), os.Environ(), known)
	if err := faults.Err(); err != nil {
		return err
	}
	d, err := conf.OpenForCommand(ctx, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	requests, err := server.NewSigning(ctx, d.Server)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, requests.Close(ctx)) }()
	return f(operator.New(d.Server.Backend, operator.Options{Signing: requests}))
}

// write writes the document to the file, whole or not at all. The evidence log has the document before the file has a byte of it.
func (c signingComplete) write(ctx context.Context, o operator.Operator) error {
	var began byteCount
	var failed error
	err := writeWith(c.Out, 0o600, func(w io.Writer) error {
		failed = o.CompleteSigning(ctx, c.Request, io.MultiWriter(&began, w))
		return failed
	})
	if err == nil {
		err = durable.SyncParent(c.Out)
	}
	if err == nil || began == 0 && !cutOff(failed) {
		return err
	}
	return fmt.Errorf("%w; the evidence log may have an entry signature.recovered about a document that is not in the file: repeat the command, which makes another document and records it", err)
}

// cutOff reports whether an answer of the server was lost, with which it may have recorded a document.
func cutOff(err error) bool {
	var lost *url.Error
	return errors.As(err, &lost) || errors.Is(err, io.ErrUnexpectedEOF)
}

// byteCount counts the bytes that are written to it.
type byteCount int64

func (n *byteCount) Write(p []byte) (int, error) {
	*n += byteCount(len(p))
	return len(p), nil
}
