package openid

import (
	"bufio"
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

//go:embed provider/*.mjs
var program embed.FS

// process is Node with the program. It serves one provider at a time, and the next one when that has ended: to start
// Node takes longer than most tests do.
type process struct {
	command *exec.Cmd
	in      io.Writer // the end of which tells it that the test's process has ended
	out     *bufio.Scanner
	folder  string // its program, its packages and its log
}

// idle are processes that are no provider at the moment.
var idle = make(chan *process, 8)

// newProcess takes one that is idle, or starts one. A fresh one has the environment as it is now.
func newProcess(t testing.TB, fresh bool) (*process, error) {
	t.Helper()
	packages, node := filepath.Dir(testenv.Tool(t, "openid/node_modules/oidc-provider")), testenv.Tool(t, "openid/bin/node")
	if !fresh {
		select {
		case s := <-idle:
			return s, nil
		default:
		}
	}
	folder, err := os.MkdirTemp("", "innsigli-openid-")
	if err != nil {
		return nil, err
	}
	s := &process{command: exec.Command(node, filepath.Join(folder, "main.mjs")), folder: folder}
	if err := s.start(packages); err != nil {
		os.RemoveAll(folder)
		return nil, err
	}
	return s, nil
}

func (s *process) start(packages string) error {
	sources, err := fs.Sub(program, "provider")
	if err == nil {
		err = os.CopyFS(s.folder, sources)
	}
	if err == nil {
		err = os.Symlink(packages, filepath.Join(s.folder, "node_modules"))
	}
	if err != nil {
		return err
	}
	log, err := os.Create(s.log())
	if err != nil {
		return err
	}
	defer log.Close()
	s.command.Stderr = log
	if s.in, err = s.command.StdinPipe(); err != nil {
		return err
	}
	out, err := s.command.StdoutPipe()
	if err != nil {
		return err
	}
	s.out = bufio.NewScanner(out)
	return s.command.Start()
}

func (s *process) log() string { return filepath.Join(s.folder, "log") }

// ask sends a line and waits for the answer.
func (s *process) ask(line, answer string) error {
	if _, err := fmt.Fprintln(s.in, line); err != nil {
		return err
	}
	for s.out.Scan() {
		if s.out.Text() == answer {
			return nil
		}
	}
	log, _ := os.ReadFile(s.log()) // what there is of it
	return fmt.Errorf("the process ended\n%s", log)
}

// free has the process end its provider, and keeps it for the next one.
func (s *process) free() {
	if err := s.ask("", "free"); err != nil {
		s.kill()
		return
	}
	select {
	case idle <- s:
	default:
		s.kill()
	}
}

func (s *process) kill() {
	_ = s.command.Process.Kill() // unless it has ended by itself
	_ = s.command.Wait()         // it was killed
	os.RemoveAll(s.folder)
}

// create makes the provider's folder.
func (p *Provider) create(options Options) {
	p.t.Helper()
	p.settings = p.configure(options)
	var err error
	if p.folder, err = os.MkdirTemp("", "innsigli-openid-"); err != nil {
		p.t.Fatal(err)
	}
}

// Go starts a provider again that was stopped, at the same address.
func (p *Provider) Go() {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.start(); err != nil {
		p.t.Fatalf("openidtest: starting the provider: %v", err)
	}
}

func (p *Provider) start() error {
	text, err := json.Marshal(p.settings)
	if err == nil {
		err = os.WriteFile(filepath.Join(p.folder, "settings.json"), text, 0o600)
	}
	if err == nil {
		p.process, err = newProcess(p.t, p.needsFresh())
	}
	if err != nil {
		return err
	}
	return p.process.ask(p.folder, "ready")
}

// Stop kills the provider, which breaks the connections to it.
func (p *Provider) Stop() {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.process != nil {
		p.process.kill()
		p.process = nil
	}
}

// end ends the provider and removes what it kept.
func (p *Provider) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.process != nil {
		if p.t.Failed() {
			log, _ := os.ReadFile(p.process.log()) // what there is of it
			p.t.Logf("openidtest: the log of the provider, and of those before it in its process:\n%s", log)
		}
		if p.needsFresh() {
			p.process.kill()
		} else {
			p.process.free()
		}
		p.process = nil
	}
	os.RemoveAll(p.folder)
}

// needsFresh reports whether Node has to be started for this provider alone: one that pings trusts the authority in
// NODE_EXTRA_CA_CERTS, which Node reads when it starts.
func (p *Provider) needsFresh() bool { return p.settings.Notify != "" }

func (p *Provider) address() string {
	return fmt.Sprintf("http://127.0.0.1:%d", p.settings.Port)
}
