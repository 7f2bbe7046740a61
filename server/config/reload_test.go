package config

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	catest "github.com/innsigli/innsigli/internal/test/ca"
	testenv "github.com/innsigli/innsigli/internal/test/env"

	"github.com/innsigli/innsigli/ades/online"
)

// reloaded is a configuration file that is reloaded without a server.
type reloaded struct {
	reload
	log     bytes.Buffer
	written time.Time // the last file
}

// newReload reads conf.toml in a new folder, which beside it has root.pem and other.pem,
// the roots of two authorities.
func newReload(t *testing.T, content string) *reloaded {
	t.Helper()
	r := &reloaded{written: time.Now()}
	r.path, r.read, r.sources = filepath.Join(t.TempDir(), "conf.toml"), ReadFile, new(liveSources)
	r.reload.log = slog.New(slog.NewTextHandler(&r.log, nil))
	for _, name := range []string{"root.pem", "other.pem"} {
		ca := catest.New(t)
		r.write(t, name, string(ca.RootPEM()))
	}
	r.configure(t, content)
	return r
}

// write writes a file in the folder, each a second later than the one before, whatever
// the clock of the file system counts in.
func (r *reloaded) write(t *testing.T, name, content string) {
	t.Helper()
	path := r.file(name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	r.written = r.written.Add(time.Second)
	if err := os.Chtimes(path, r.written, r.written); err != nil {
		t.Fatal(err)
	}
}

func (r *reloaded) file(name string) string { return filepath.Join(filepath.Dir(r.path), name) }

// configure writes the configuration and reads it.
func (r *reloaded) configure(t *testing.T, content string) {
	t.Helper()
	r.write(t, "conf.toml", content)
	r.load()
}

// A change is noticed once the files have come to rest, whichever of them it is, and only
// once.
func TestChangedFiles(t *testing.T) {
	const conf = "[trust]\nroots = [\"root.pem\"]\n"
	for name, change := range map[string]func(*testing.T, *reloaded){
		"the configuration": func(t *testing.T, r *reloaded) { r.write(t, "conf.toml", conf+"\n") },
		"same length": func(t *testing.T, r *reloaded) {
			r.write(t, "conf.toml", strings.Replace(conf, "root.pem", "rood.pem", 1))
		},
		"a root":         func(t *testing.T, r *reloaded) { r.write(t, "root.pem", "shorter") },
		"a root is gone": func(t *testing.T, r *reloaded) { os.Remove(r.file("root.pem")) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newReload(t, conf)
			look := func(when string, want bool) {
				t.Helper()
				if got := r.changed(); got != want {
					t.Errorf("%s: changed %t", when, got)
				}
			}
			look("before", false)
			change(t, r)
			look("just now", false)
			change(t, r)
			if name != "a root is gone" {
				look("while it is being written", false)
			}
			look("at rest", true)
			r.load()
			look("when read", false)
			look("when read", false)
		})
	}
}

// A file that was missing is noticed when it is there.
func TestMissingFileComes(t *testing.T) {
	r := newReload(t, "[trust]\nroots = [\"later.pem\"]\n")
	if r.sources.current.Load() != nil || !strings.Contains(r.log.String(), "later.pem: no such file") {
		t.Errorf("taken without its file: %s", &r.log)
	}
	r.write(t, "later.pem", string(testenv.ReadFile(t, r.file("root.pem"))))
	if r.changed() || !r.changed() {
		t.Error("the file that came was not noticed")
	}
	if r.load(); len(r.sources.current.Load().file.Roots) != 1 {
		t.Error("the root that came is not trusted")
	}
}

// A configuration is taken whole or not at all, and a faulty one is logged with every
// fault.
func TestFaultyReload(t *testing.T) {
	r := newReload(t, "[trust]\nroots = [\"root.pem\"]\n")
	before := r.sources.current.Load()
	r.configure(t, "[trust]\nroots = [\"other.pem\"]\ncolour = 1\n[[timestamp]]\nurl = \"ftp://tsa.example\"\n")
	if r.sources.current.Load() != before {
		t.Error("a faulty configuration was taken")
	}
	for _, fault := range []string{"trust.colour: ", "timestamp[0].url: "} {
		if strings.Count(r.log.String(), fault) != 1 {
			t.Errorf("fault %s is not logged once:\n%s", fault, &r.log)
		}
	}
}

// Clients are kept through any number of reloads, unless what they are made of changes.
// Whom they trust and which password they send is that of now.
func TestReloadKeepsClients(t *testing.T) {
	const (
		first   = "[[timestamp]]\nurl = \"https://first.example/\"\ncertificate = \"chain.pem\"\nkey = \"key.pem\"\n"
		second  = "[[timestamp]]\nurl = \"http://second.example/\"\npassword-file = \"password\"\nusername = \"u\"\n"
		private = "[trust]\nprivate-addresses = [\"10.0.0.0/8\"]\n"
	)
	r := newReload(t, "")
	catest.WriteSigner(t, r.file("."), catest.New(t)) // and its root.pem
	r.write(t, "password", "one\n")
	taken := func(content string) (revocation *online.Revocation, all []*online.TSA) {
		t.Helper()
		r.configure(t, content)
		c := r.sources.current.Load()
		for _, a := range c.time {
			all = append(all, a.(*online.TSA))
		}
		return c.revocation, all
	}
	revocation, one := taken(first)
	if one[0].Client == nil {
		t.Fatal("no client of its own")
	}
	again, two := taken("[trust]\nroots = [\"root.pem\"]\n" + second + first)
	if again != revocation || len(two) != 2 || two[1].Client != one[0].Client || two[0].Client != nil {
		t.Error("clients were made anew when a root and another authority came")
	}
	if two[1].Roots.Equal(one[0].Roots) {
		t.Error("the root that came is not trusted")
	}
	r.write(t, "password", "two\n")
	again, three := taken(first + second)
	if again != revocation || len(three) != 2 || three[0].Client != one[0].Client || three[1].Password != "two" {
		t.Error("clients were made anew when the order changed, or the password is the old one")
	}
	catest.WriteSigner(t, r.file("."), catest.New(t))
	if again, four := taken(private + first + second); again == revocation || four[0].Client == one[0].Client {
		t.Error("clients are not those of the new private addresses and the new certificate")
	}
}
