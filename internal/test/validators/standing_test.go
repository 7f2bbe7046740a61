package validators

import (
	"crypto/x509"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// What a program throws is an error of who asked, with its words; who asks next has an answer.
func TestStandingProgramThatThrows(t *testing.T) {
	unsigned := filepath.Join(testenv.Corpus(t, "pdf"), "160F-2019.pdf")
	for name, test := range map[string]struct {
		command []string
		program string
		message string // about a root that is not there
	}{
		"Java":   {serveJava(t, "dss"), "Validate", "Exception"},
		"Python": {servePyHanko(t, "pyhanko"), script(t, "pyhanko/validate.py"), "FileNotFoundError"},
	} {
		t.Run(name, func(t *testing.T) {
			s := &standing{command: test.command}
			answer, err := s.ask([]string{test.program, "--root", "/nowhere.pem", unsigned})
			if err == nil || !strings.Contains(err.Error(), "exit status 1") || !strings.Contains(err.Error(), test.message) {
				t.Errorf("%q, %v", answer, err)
			}
			if answer, err := s.ask([]string{test.program, unsigned}); err != nil || !strings.Contains(string(answer), unsigned) {
				t.Errorf("%q, %v", answer, err)
			}
			if s.end == nil {
				t.Fatal("it did not stay up")
			}
			s.end()
		})
	}
}

// A program with a socket answers several clients at the same time. An exception ends the answers to the client that
// caused it, and to no other.
func TestProgramWithASocket(t *testing.T) {
	echo := filepath.Join(testenv.Root(t), "internal", "test", "validators", "testdata", "echo.py")
	unsigned := filepath.Join(testenv.Corpus(t, "pdf"), "160F-2019.pdf")
	folder, err := os.MkdirTemp("", "") // a socket's path is at most a hundred bytes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	t.Setenv("INNSIGLI_VALIDATORS", folder)
	for name, test := range map[string]struct {
		command, good, bad []string
		answer, message    string
	}{
		"dss": {
			serveJava(t, "dss"), []string{"Validate", unsigned}, []string{"Validate", "--root", "/nowhere.pem"},
			unsigned, "Exception",
		},
		"pyhanko": {
			servePyHanko(t, "pyhanko"), []string{echo, "said"}, []string{script(t, "pyhanko/validate.py"), "--root", "/nowhere.pem", unsigned},
			"said\n", "FileNotFoundError",
		},
	} {
		t.Run(name, func(t *testing.T) {
			server := exec.CommandContext(t.Context(), test.command[0], append(test.command[1:], filepath.Join(folder, name))...)
			server.Env = environment()
			if err := server.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { server.Process.Kill(); server.Wait() })
			testenv.Wait(t, "the socket", func() bool {
				conn, err := net.Dial("unix", filepath.Join(folder, name))
				if err == nil {
					conn.Close()
				}
				return err == nil
			})
			var asking sync.WaitGroup
			for i := range 3 {
				asking.Go(func() {
					s := &standing{name: name, command: []string{"/nowhere"}} // so that nothing is started
					for range 2 {
						if i == 0 {
							if answer, err := s.ask(test.bad); err == nil || !strings.Contains(err.Error(), test.message) {
								t.Errorf("%q, %v", answer, err)
							}
						}
						if answer, err := s.ask(test.good); err != nil || !strings.Contains(string(answer), test.answer) {
							t.Errorf("%q, %v", answer, err)
						}
					}
				})
			}
			asking.Wait()
		})
	}
}

// Each client gets its own answers, to the last line, and no other process is started.
func TestStandingProgramAskedByMany(t *testing.T) {
	echo := filepath.Join(testenv.Root(t), "internal", "test", "validators", "testdata", "echo.py")
	s := &standing{command: servePyHanko(t, "pyhanko")}
	var asking sync.WaitGroup
	for i := range 20 {
		asking.Go(func() {
			words := strings.Fields(strings.Repeat(string(rune('a'+i))+" ", 1000*i+1))
			answer, err := s.ask(append([]string{echo}, words...))
			if want := strings.Join(words, "\n") + "\n"; err != nil || string(answer) != want {
				t.Errorf("%c: %d bytes, want %d; %v", 'a'+i, len(answer), len(want), err)
			}
		})
	}
	asking.Wait()
	s.end()
}

// What was asked before changes no answer: a root that was trusted for one file is none for the
// next, and what each program says of a file is the same again.
func TestStandingProgramForgets(t *testing.T) {
	f := newFixture(t)
	claim := VeraPDFClaim{"2b", f.path}
	ask := func(roots []*x509.Certificate) []any {
		return []any{
			DSS(t, DSSOptions{Roots: roots, RevocationOptional: true}, f.path),
			DSS(t, DSSOptions{Roots: roots}, f.path), PyHanko(t, roots, f.path), VeraPDF(t, claim),
		}
	}
	before := ask(nil)
	if trusting := ask(f.roots); cmp.Equal(before[0], trusting[0]) || cmp.Equal(before[2], trusting[2]) {
		t.Errorf("the root makes no difference: %v", trusting)
	}
	if diff := cmp.Diff(before, ask(nil), cmpopts.IgnoreFields(DSSSignature{}, "BestTime")); diff != "" {
		t.Errorf("-before +after:\n%s", diff)
	}
}
