package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// house is what the servers of a trial share.
type house struct {
	folder  string // of the program, the master key and the trace
	program string
	store   string // URL
}

// newHouse builds the program with its failpoints, which write the trace.
func newHouse(ctx context.Context, store string) (*house, error) {
	folder, err := os.MkdirTemp("", "trial")
	if err != nil {
		return nil, err
	}
	h := &house{folder: folder, program: filepath.Join(folder, "innsigli"), store: store}
	build := exec.CommandContext(ctx, "go", "build", "-tags", "failpoints", "-o", h.program, "github.com/innsigli/innsigli/cmd/innsigli")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := build.CombinedOutput(); err != nil {
		return nil, errors.Join(fmt.Errorf("building the program: %w\n%s", err, output), h.remove())
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
	house   *house
	address string
	root    []byte // PEM

	process *exec.Cmd
	ended   chan error
	talk    bytes.Buffer
}

// newServer reserves an address and starts the server there.
func (h *house) newServer(ctx context.Context) (*server, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &server{house: h, address: listener.Addr().String()}
	listener.Close()
	return s, s.start(ctx)
}

// start starts the process and waits until it listens.
func (s *server) start(ctx context.Context) error {
	command := exec.Command(s.house.program, "sandbox", "--json", "--listen", s.address, "--store", s.house.store,
		"--client-id", clientID, "--client-secret", clientSecret, "--master-key-file", filepath.Join(s.house.folder, "master.key"))
	command.Env = append(os.Environ(), "INNSIGLI_TRACE="+s.house.trace())
	command.Stderr = &s.talk
	endWithUs(command)
	stdout, err := command.StdoutPipe()
	if err != nil {
		return err
	}
	if err := command.Start(); err != nil {
		return err
	}
	line, err := bufio.NewReader(stdout).ReadBytes('\n')
	ended := make(chan error, 1)
	go func() {
		io.Copy(io.Discard, stdout)
		ended <- command.Wait()
	}()
	var ready struct {
		RootCertificate string `json:"rootCertificate"`
	}
	if err == nil {
		err = json.Unmarshal(line, &ready)
	}
	if err != nil {
		command.Process.Kill()
		<-ended
		return fmt.Errorf("server at %s does not listen: %w\n%s", s.address, err, s.talk.Bytes())
	}
	s.process, s.ended, s.root = command, ended, []byte(ready.RootCertificate)
	return ctx.Err()
}

// kill ends the process as the end of its machine does, and notes that in the trace.
func (s *server) kill() error {
	s.process.Process.Kill()
	<-s.ended
	return note(s.house.trace(), fmt.Sprintf("killed %d %d\n", s.process.Process.Pid, time.Now().UnixMilli()))
}

// stop ends the process as an operator does, and returns what it had complained of.
func (s *server) stop() error {
	s.process.Process.Signal(os.Interrupt)
	select {
	case err := <-s.ended:
		if err != nil {
			return fmt.Errorf("server at %s ended badly: %w\n%s", s.address, err, s.talk.Bytes())
		}
	case <-time.After(30 * time.Second):
		s.process.Process.Kill()
		<-s.ended
		return fmt.Errorf("server at %s did not stop\n%s", s.address, s.talk.Bytes())
	}
	return nil
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
