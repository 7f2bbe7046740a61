package validators

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// standing is a program of .ci/serve, which runs others, because it takes longer to start than
// most of what they do. It is started for the first question and stays up for all tests of a
// binary. Where INNSIGLI_VALIDATORS names a folder with sockets of such programs, as .ci/run has it, the program
// whose name a socket has is asked there instead: one is started then for the tests of all packages.
type standing struct {
	sync.Mutex
	name    string // of its socket
	command []string

	requests io.Writer
	answers  *bufio.Reader
	end      func() error // ends it and says how it ended; nil until it is asked, and after its end
}

// programs are those that stay up, by their names.
var programs sync.Map

// ask returns what another program prints that a program of .ci/serve runs with arguments.
func ask(t testing.TB, name string, command, arguments []string) []byte {
	t.Helper()
	program, _ := programs.LoadOrStore(name, &standing{name: name, command: command})
	answer, err := program.(*standing).ask(arguments)
	if err != nil {
		t.Fatalf("%s: %v", arguments[0], err)
	}
	return answer
}

// ask waits until others have their answers. A program that has none is ended, and the next to
// ask has a new one. An answer may take as long as the test may.
func (s *standing) ask(arguments []string) ([]byte, error) {
	s.Lock()
	defer s.Unlock()
	if s.end == nil {
		if err := s.start(); err != nil {
			return nil, err
		}
	}
	answer, err := s.exchange(arguments)
	if err != nil {
		err = fmt.Errorf("%w, %w", err, s.end())
		s.end = nil
	}
	return answer, err
}

func (s *standing) start() error {
	if folder := os.Getenv("INNSIGLI_VALIDATORS"); folder != "" {
		if conn, err := net.Dial("unix", filepath.Join(folder, s.name)); err == nil {
			s.requests, s.answers, s.end = conn, bufio.NewReader(conn), conn.Close
			return nil
		}
	}
	command := exec.Command(s.command[0], s.command[1:]...)
	command.Env = environment()
	complaints := new(bytes.Buffer)
	command.Stderr = complaints
	requests, err := command.StdinPipe()
	if err != nil {
		return err
	}
	answers, err := command.StdoutPipe()
	if err != nil {
		return err
	}
	if err := command.Start(); err != nil {
		return err
	}
	s.requests, s.answers = requests, bufio.NewReader(answers)
	s.end = func() error {
		command.Process.Kill()
		return fmt.Errorf("%w\n%s", command.Wait(), complaints)
	}
	return nil
}

// exchange writes a line and reads those up to an empty one.
func (s *standing) exchange(arguments []string) (answer []byte, err error) {
	request, err := json.Marshal(arguments)
	if err != nil {
		return nil, err
	}
	if _, err := s.requests.Write(append(request, '\n')); err != nil {
		return nil, err
	}
	for {
		line, err := s.answers.ReadBytes('\n')
		if err != nil {
			return nil, fmt.Errorf("%w after %q", err, answer)
		}
		if len(line) == 1 {
			return answer, nil
		}
		answer = append(answer, line...)
	}
}
