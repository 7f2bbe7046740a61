package postgres

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// Durable is a server that flushes what it stores, and that is killed as a loss of power kills it. It runs on Linux
// only, and as root.
type Durable struct {
	server  Server // its folder has all but the files of the database
	data    string
	command *exec.Cmd // nil while the server does not run
	ended   chan struct{}
	log     bytes.Buffer // may be read when the server has ended
}

// NewDurable creates the files of a server in data, a folder that does not exist, and flushes them. Its socket is in folder.
func NewDurable(ctx context.Context, folder, data string) (*Durable, error) {
	programs, err := findPrograms()
	if err != nil {
		return nil, err
	}
	d := &Durable{server: Server{programs: programs, folder: folder, password: rand.Text()}, data: data}
	if d.server.address, err = testenv.FreeAddress(); err != nil {
		return nil, err
	}
	for _, path := range []string{folder, data} {
		if err = os.MkdirAll(path, 0o700); err == nil {
			err = handOver(path)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := flush(filepath.Dir(data)); err != nil { // which initdb does not
		return nil, err
	}
	// Small segments are reused after few transactions, so that their names change too.
	return d, d.server.initialize(ctx, data, "--wal-segsize=1")
}

// flush flushes the names in a folder.
func flush(folder string) error {
	f, err := os.Open(folder)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// URL returns the URL of the database.
func (d *Durable) URL() string { return d.server.URL("postgres") }

// Start starts the server, which recovers what it had stored, and waits until it answers. Checkpoints follow each other
// closely: after a few MiB of log.
func (d *Durable) Start(ctx context.Context) error {
	_, port, err := net.SplitHostPort(d.server.address)
	if err != nil {
		return err
	}
	d.log.Reset()
	command := exec.Command(filepath.Join(d.server.programs, "postgres"),
		"-D", d.data, "-k", d.server.folder, "-h", "127.0.0.1", "-p", port,
		"-c", "max_wal_size=4MB", "-c", "min_wal_size=2MB", "-c", "checkpoint_timeout=30s", "-c", "max_connections=100")
	command.Dir, command.Stderr = d.server.folder, &d.log
	if err := serve(command); err != nil {
		return err
	}
	if err := isolate(command); err != nil {
		return err
	}
	if err := command.Start(); err != nil {
		return err
	}
	d.command, d.ended = command, make(chan struct{})
	go func() {
		defer close(d.ended)
		_ = command.Wait() // it is killed
	}()
	return d.answers(ctx)
}

// answers waits until the server answers, as long as it runs.
func (d *Durable) answers(ctx context.Context) error {
	for {
		conn, err := pgx.Connect(ctx, d.URL())
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			d.Kill()
			return ctx.Err()
		case <-d.ended:
			return fmt.Errorf("the Postgres server ended: %w\n%s", err, d.log.Bytes())
		}
	}
}

// Kill kills all processes of the server, and returns when they have ended.
func (d *Durable) Kill() {
	if d.command != nil {
		_ = d.command.Process.Kill() // it may have ended
		<-d.ended
		d.command = nil
	}
}
