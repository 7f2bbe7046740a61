package validators

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// standing is a program of .ci/serve, which runs others, because it takes longer to start than
// most of what they do. It stays up for all tests of a binary, and ends when its standard input
// does: with the binary.
type standing struct {
	sync.Mutex
	command []string
	limit   time.Duration // for one answer
	process *exec.Cmd     // nil until it is asked, and after its end

	requests   io.Writer
	answers    *bufio.Reader
	complaints *bytes.Buffer // to be read after the end
}

// programs are those that stay up, by their command lines.
var programs sync.Map

// ask returns what another program prints that a program of .ci/serve runs with arguments.
func ask(t testing.TB, command, arguments []string) []byte {
	t.Helper()
	program, _ := programs.LoadOrStore(strings.Join(command, "\x00"), &standing{command: command, limit: limit})
	answer, err := program.(*standing).ask(arguments)
	if err != nil {
		t.Fatalf("%s: %v", arguments[0], err)
	}
	return answer
}

// ask waits until others have their answers. A program that has none is ended, and the next to
// ask has a new one.
func (s *standing) ask(arguments []string) ([]byte, error) {
	s.Lock()
	defer s.Unlock()
	if s.process == nil {
		if err := s.start(); err != nil {
			return nil, err
		}
	}
	process := s.process.Process
	overdue := time.AfterFunc(s.limit, func() { process.Kill() })
	answer, err := s.exchange(arguments)
	if !overdue.Stop() {
		err = fmt.Errorf("no answer within %v", s.limit)
	}
	if err != nil {
		return nil, fmt.Errorf("%w, %w", err, s.end())
	}
	return answer, nil
}

func (s *standing) start() error {
	command := exec.Command(s.command[0], s.command[1:]...)
	command.Env = environment()
	s.complaints = new(bytes.Buffer)
	command.Stderr, command.WaitDelay = s.complaints, time.Minute
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
	s.process, s.requests, s.answers = command, requests, bufio.NewReader(answers)
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
		if err != nil || len(line) == 1 {
			return answer, err
		}
		answer = append(answer, line...)
	}
}

// end ends the program, if it has not ended, and says how it did.
func (s *standing) end() error {
	s.process.Process.Kill()
	err := s.process.Wait()
	s.process = nil
	return fmt.Errorf("%w\n%s", err, s.complaints)
}
