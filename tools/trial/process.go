package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// process is a program that is killed and started again.
type process struct {
	program     string
	arguments   []string
	environment []string // besides our own

	command *exec.Cmd
	ended   chan error
	talk    bytes.Buffer
}

// build builds a program of this module with its failpoints.
func build(ctx context.Context, program, pkg string) error {
	return buildWith(ctx, program, pkg, "failpoints")
}

// buildWith builds a program of this module with build tags, as releases are built.
func buildWith(ctx context.Context, program, pkg, tags string) error {
	command := exec.CommandContext(ctx, "go", "build", "-tags", tags, "-o", program, "github.com/innsigli/innsigli/"+pkg)
	command.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("building the program: %w\n%s", err, output)
	}
	return nil
}

// startSilent starts a process that prints nothing.
func (p *process) startSilent() error {
	p.command, p.ended = nil, make(chan error, 1)
	command := exec.Command(p.program, p.arguments...)
	command.Env = append(os.Environ(), p.environment...)
	command.Stderr = &p.talk
	endWithUs(command)
	if err := command.Start(); err != nil {
		return err
	}
	p.command = command
	go func() { p.ended <- command.Wait() }()
	return nil
}

// start starts the process and returns the first line that it prints, once it does.
func (p *process) start() (ready []byte, err error) {
	p.command, p.ended = nil, make(chan error, 1)
	command := exec.Command(p.program, p.arguments...)
	command.Env = append(os.Environ(), p.environment...)
	command.Stderr = &p.talk
	endWithUs(command)
	stdout, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, err
	}
	ready, err = bufio.NewReader(stdout).ReadBytes('\n')
	go func() {
		io.Copy(io.Discard, stdout)
		p.ended <- command.Wait()
	}()
	if err != nil {
		command.Process.Kill()
		<-p.ended
		return nil, fmt.Errorf("%s is not ready: %w\n%s", p.arguments, err, p.talk.Bytes())
	}
	p.command = command
	return ready, nil
}

// kill ends the process as the end of its machine does.
func (p *process) kill() {
	p.command.Process.Kill()
	<-p.ended
}

// stopTime is how long a process may take to stop.
const stopTime = 30 * time.Second

// stop ends the process as an operator does, and returns what it had complained of.
func (p *process) stop() error {
	p.command.Process.Signal(os.Interrupt)
	err := p.wait(stopTime)
	if err != nil {
		return fmt.Errorf("%s ended badly: %w\n%s", p.arguments, err, p.talk.Bytes())
	}
	return nil
}

// wait waits for the process to end, for so long.
func (p *process) wait(long time.Duration) error {
	select {
	case err := <-p.ended:
		return err
	case <-time.After(long):
		p.kill()
		return errors.New("it did not end")
	}
}
