package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// house is what the servers of a trial share.
type house struct {
	folder  string // of the program, the master key and the trace
	program string
	store   string // URL
}

// newHouse builds the program with its failpoints, which write the trace.
func newHouse(ctx context.Context, store string) (*house, error) {
	return newHouseOf(ctx, store, func(program string) error { return build(ctx, program, "cmd/innsigli") })
}

// newHouseOf has the program made at a path.
func newHouseOf(ctx context.Context, store string, makeProgram func(program string) error) (*house, error) {
	folder, err := os.MkdirTemp("", "trial")
	if err != nil {
		return nil, err
	}
	h := &house{folder: folder, program: filepath.Join(folder, "innsigli"), store: store}
	if err := makeProgram(h.program); err != nil {
		return nil, errors.Join(err, h.remove())
	}
	return h, nil
}

func (h *house) remove() error { return os.RemoveAll(h.folder) }

// trace is the file in which servers note their calls to the provider.
func (h *house) trace() string { return filepath.Join(h.folder, "trace") }

// The credentials of the client that every server of a trial makes or finds.
const clientID, clientSecret = "trial", "secret-of-the-trial"

// server is a process that is killed and started again at the same address.
type server struct {
	process
	house   *house
	address string
	root    []byte // PEM
}

// newServer reserves an address and starts the server there.
func (h *house) newServer(ctx context.Context) (*server, error) {
	address, err := testenv.FreeAddress()
	if err != nil {
		return nil, err
	}
	s := &server{house: h, address: address}
	s.process = process{
		program: h.program,
		arguments: []string{"sandbox", "--json", "--listen", s.address, "--store", h.store,
			"--client-id", clientID, "--client-secret", clientSecret, "--master-key-file", filepath.Join(h.folder, "master.key")},
		environment: []string{"INNSIGLI_TRACE=" + h.trace()},
	}
	return s, s.start(ctx)
}

// start starts the process and waits until it listens.
func (s *server) start(ctx context.Context) error {
	line, err := s.process.start()
	if err != nil {
		return err
	}
	var ready struct {
		RootCertificate string `json:"rootCertificate"`
	}
	if err := json.Unmarshal(line, &ready); err != nil {
		s.process.kill()
		return fmt.Errorf("server at %s says %q: %w", s.address, line, err)
	}
	s.root = []byte(ready.RootCertificate)
	return ctx.Err()
}

// kill also notes the death in the trace.
func (s *server) kill() error {
	s.process.kill()
	return note(s.house.trace(), fmt.Sprintf("killed %d %d\n", s.command.Process.Pid, time.Now().UnixMilli()))
}

// note appends a line to a file that others append to as well.
func note(path, line string) error {
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.WriteString(line)
	return errors.Join(err, file.Close())
}
