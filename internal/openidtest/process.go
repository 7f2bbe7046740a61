package openidtest

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

	"github.com/innsigli/innsigli/internal/testenv"
)

//go:embed provider/*.mjs
var program embed.FS

// node is the program that runs the provider, the npm packages of which are beside it.
func node(t testing.TB) string {
	t.Helper()
	testenv.Tool(t, "openid/node_modules/oidc-provider")
	return testenv.Tool(t, "openid/bin/node")
}

// create makes the provider's folder: its program, its settings, and a way to the packages.
func (p *Provider) create(options Options) {
	p.t.Helper()
	p.settings = p.configure(options)
	var err error
	if p.folder, err = os.MkdirTemp("", "innsigli-openid-"); err != nil {
		p.t.Fatal(err)
	}
	sources, err := fs.Sub(program, "provider")
	if err == nil {
		err = os.CopyFS(p.folder, sources)
	}
	if err == nil {
		err = os.Symlink(testenv.Tool(p.t, "openid/node_modules"), filepath.Join(p.folder, "node_modules"))
	}
	if err != nil {
		os.RemoveAll(p.folder)
		p.t.Fatalf("openidtest: %v", err)
	}
}

// Go starts a provider again that was stopped, at the same address.
func (p *Provider) Go() {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.start(); err != nil {
		log, _ := os.ReadFile(p.log()) // what there is of it
		p.t.Fatalf("openidtest: starting the provider: %v\n%s", err, log)
	}
}

func (p *Provider) start() error {
	if err := p.writeSettings(); err != nil {
		return err
	}
	log, err := os.OpenFile(p.log(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(p.node, filepath.Join(p.folder, "main.mjs"), p.folder)
	cmd.Stderr = log
	if _, err := cmd.StdinPipe(); err != nil { // the end of which tells it that this process has ended
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	p.process = cmd
	return p.ready(out)
}

// ready waits until the provider says where it listens, or ends.
func (p *Provider) ready(out io.Reader) error {
	said := make(chan int, 1)
	go func() {
		defer close(said)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			var port int
			if _, err := fmt.Sscanf(lines.Text(), "ready %d", &port); err == nil {
				said <- port
			}
		}
	}()
	port, ok := <-said
	if !ok {
		return fmt.Errorf("it ended")
	}
	if p.settings.Port == 0 {
		p.settings.Port = port
	}
	return nil
}

// Stop kills the provider, which breaks the connections to it.
func (p *Provider) Stop() {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.kill()
}

func (p *Provider) kill() {
	if p.process == nil {
		return
	}
	_ = p.process.Process.Kill() // unless it has ended by itself
	_ = p.process.Wait()         // it was killed
	p.process = nil
}

// end ends the provider and removes what it kept.
func (p *Provider) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.t.Failed() {
		log, _ := os.ReadFile(p.log()) // what there is of it
		p.t.Logf("openidtest: the provider's log:\n%s", log)
	}
	p.kill()
	os.RemoveAll(p.folder)
}

func (p *Provider) log() string { return filepath.Join(p.folder, "log") }

func (p *Provider) writeSettings() error {
	text, err := json.Marshal(p.settings)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(p.folder, "settings.json"), text, 0o600)
}

func (p *Provider) address() string {
	return fmt.Sprintf("http://127.0.0.1:%d", p.settings.Port)
}
