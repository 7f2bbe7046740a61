package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	catest "github.com/innsigli/innsigli/internal/test/ca"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/internal/test/validators"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
	"github.com/innsigli/innsigli/server/operator"
	"github.com/innsigli/innsigli/storage/bolt"
)

// A signature whose timestamp authority is down until the request has ended is completed by the operator, through the
// server and without one. The client hears which authority it was, and nothing more.
func TestSigningComplete(t *testing.T) {
	testenv.Slow(t, "servers start again and again")
	t.Parallel()
	ca := catest.New(t)
	authority := catest.Serve(t, ca)
	folder := shortFolder(t)
	path := func(name string) string { return filepath.Join(folder, name) }
	write := func(name, content string) {
		t.Helper()
		if err := os.WriteFile(path(name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const down = "[[timestamp]]\nurl = \"http://127.0.0.1:1/tsa?key=secret\"\n"
	write("root.pem", string(ca.RootPEM()))
	write("innsigli.toml", down)

	p := startServer(t, folder)
	store := "bolt:" + path("store.db")
	c := p.account(t, store)
	c.addPeople(t, people[0])
	id := c.must(t, http.MethodPost, "/api/v1/signing", startText(document, people[0], "IdpApp", "Lt", "")).PollingID
	poll := func() reply {
		t.Helper()
		a, err := c.call(t.Context(), http.MethodGet, "/api/v1/signing/"+id, nil)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	p.waitUntil(t, func() bool { poll(); return strings.Contains(p.talk(), "step=signature.postponed") })
	output(t, failed, "signing", "complete", id, "-o", path("signed.pdf"), "--store", store) // the server still tries to
	if rest, err := p.stop(); err != nil || rest != "" {
		t.Errorf("stopping: %v, stdout %q", err, rest)
	}
	signedEarlier(t, path("store.db"), id, 20*time.Minute)

	p = startServer(t, folder)
	c.base = p.BaseURL
	var a reply
	p.waitUntil(t, func() bool { a = poll(); return a.ErrorCode != "AuthorizationPending" })
	const reason = "the timestamp authority at 127.0.0.1:1 could not be reached, or did not answer"
	if want := "The signature could not be completed: " + reason + "."; a.ErrorCode != "InternalError" || !strings.Contains(string(a.Body), want) {
		t.Errorf("%v\n%s", a, p.talk())
	}
	p.waitUntil(t, func() bool {
		return strings.Contains(p.talk(), `step=signature.failed errorCode=InternalError reason="`+reason)
	})
	if log := p.talk(); strings.Contains(log, "key=secret") {
		t.Error(log)
	}
	gone := func() {
		t.Helper()
		if a := poll(); a.Status != http.StatusNotFound {
			t.Errorf("%v", a)
		}
	}
	gone()
	complete := func(name string, flags ...string) (status int, stderr string) {
		var to, said bytes.Buffer
		status = run(t.Context(), append([]string{"signing", "complete", id, "-o", path(name), "--store", store}, flags...), &to, &said)
		return status, said.String()
	}
	if status, said := complete("none.pdf"); status != failed || !strings.Contains(said, reason) {
		t.Errorf("while it is down: exit status %d, %s", status, said)
	}
	if files, err := filepath.Glob(path("none.pdf*")); err != nil || files != nil {
		t.Errorf("%v, %v", files, err)
	}

	write("innsigli.toml", fmt.Sprintf("[trust]\nroots = [\"root.pem\"]\nprivate-addresses = [\"127.0.0.0/8\"]\n[[timestamp]]\nurl = %q\n", authority+sandboxca.PathTimestamp))
	p.hangUp(t)
	p.waitFor(t, "configuration reloaded", 1)
	root := p.root(t)
	if status, said := complete(filepath.Join("missing", "signed.pdf")); status != failed || !strings.Contains(said, "missing") {
		t.Errorf("into a folder that does not exist: exit status %d, %s", status, said)
	}
	recorded := func(want ...string) {
		t.Helper()
		entries := output(t, done, "evidence", "export", "--request", id, "--store", store)
		if n := strings.Count(entries, `"kind":"signature.recovered"`); n != len(want) {
			t.Errorf("%d times signature.recovered, want %d:\n%s", n, len(want), entries)
		}
		for _, sum := range want {
			if !strings.Contains(entries, sum) {
				t.Errorf("the evidence log has no document %s:\n%s", sum, entries)
			}
		}
	}
	recorded() // no document was written
	var sums []string
	for range 2 {
		if status, said := complete("signed.pdf"); status != done {
			t.Fatalf("exit status %d, %s", status, said)
		}
		content, err := os.ReadFile(path("signed.pdf"))
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(content)
		sums = append(sums, hex.EncodeToString(sum[:]))
	}
	recorded(sums...)
	gone()
	p.waitFor(t, "step=signature.recovered", 2)
	if rest, err := p.stop(); err != nil || rest != "" {
		t.Errorf("stopping: %v, stdout %q", err, rest)
	}
	if status, said := complete("without.pdf", "--environment", "sandbox", "--config", path("innsigli.toml")); status != done {
		t.Fatalf("without a server: exit status %d, %s", status, said)
	}
	if status, said := complete("without.pdf", "--environment", "sandbox", "--config", path("missing.toml")); status != failed || !strings.Contains(said, "--config") {
		t.Errorf("exit status %d, %s", status, said)
	}
	id = "7f8a4b1e-26c8-4b0f-9f43-4a2f6f6f0001"
	if status, said := complete("without.pdf", "--environment", "sandbox", "--config", path("innsigli.toml")); status != failed || !strings.Contains(said, "does not exist, or is no longer stored") {
		t.Errorf("exit status %d, %s", status, said)
	}

	for _, name := range []string{"signed.pdf", "without.pdf"} {
		content, err := os.ReadFile(path(name))
		if err != nil {
			t.Fatal(err)
		}
		checkTimestampedBy(t, content, root, ca)
		if info, err := os.Stat(path(name)); err != nil || info.Mode() != 0o600 {
			t.Errorf("%v, %v", info.Mode(), err)
		}
	}
	write("roots.pem", string(ca.RootPEM())+string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root.Raw})))
	if report := output(t, done, "verify", path("signed.pdf"), "--trust", path("roots.pem")); !strings.Contains(report, "PAdES-BASELINE-LT") {
		t.Error(report)
	}
	t.Run("EU DSS", func(t *testing.T) {
		for i, report := range validators.DSS(t, validators.DSSOptions{Roots: []*x509.Certificate{root, ca.Root()}}, path("signed.pdf"), path("without.pdf")) {
			if s := report.Signatures; len(s) != 1 || s[0].Indication != "TOTAL_PASSED" || s[0].Format != "PAdES-BASELINE-LT" {
				t.Errorf("file %d: %+v", i, s)
			}
		}
	})
}

// completing is an operator whose answer ends with an error after so many bytes of the document.
type completing struct {
	operator.Operator
	bytes int
	err   error
}

func (o completing) CompleteSigning(_ context.Context, _ string, w io.Writer) error {
	_, err := io.WriteString(w, "document"[:o.bytes])
	return errors.Join(o.err, err)
}

// The command says that a document may be recorded that is not in the file, where that is so, and leaves the file alone.
func TestSigningCompleteThatIsCutOff(t *testing.T) {
	refused, lost := errors.New("refused"), &url.Error{Op: "Post", URL: "http://server/", Err: errors.New("lost")}
	for name, test := range map[string]struct {
		o       completing
		perhaps bool
	}{
		"refused":                       {completing{err: refused}, false},
		"without an answer":             {completing{err: fmt.Errorf("the server: %w", lost)}, true},
		"before the first byte":         {completing{err: io.ErrUnexpectedEOF}, true},
		"between two bytes":             {completing{bytes: 3, err: refused}, true},
		"after the last byte":           {completing{bytes: 8, err: refused}, true},
		"an answer that is not cut off": {completing{bytes: 8}, false},
	} {
		t.Run(name, func(t *testing.T) {
			c := signingComplete{Request: "id", Out: filepath.Join(t.TempDir(), "signed.pdf")}
			if err := os.WriteFile(c.Out, []byte("before"), 0o600); err != nil {
				t.Fatal(err)
			}
			err := c.write(t.Context(), test.o)
			if (err == nil) != (test.o.err == nil) || test.o.err != nil && !errors.Is(err, test.o.err) {
				t.Errorf("%v, want %v", err, test.o.err)
			}
			if perhaps := err != nil && strings.Contains(err.Error(), "the evidence log may have an entry"); perhaps != test.perhaps {
				t.Error(err)
			}
			want := "before"
			if test.o.err == nil {
				want = "document"
			}
			if content, err := os.ReadFile(c.Out); err != nil || string(content) != want {
				t.Errorf("the file is %q, %v", content, err)
			}
			if files, err := filepath.Glob(c.Out + ".*"); err != nil || files != nil {
				t.Errorf("%v, %v", files, err)
			}
		})
	}
}

// signedEarlier moves the time at which a signature was given back, while no server runs.
func signedEarlier(t *testing.T, path, id string, by time.Duration) {
	t.Helper()
	db, err := bolt.Open(path, bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	err = db.InTx(t.Context(), func(ctx context.Context) error {
		r, err := db.Requests().Request(ctx, id)
		if err != nil {
			return err
		}
		r.SignedAt, r.NextTry = r.SignedAt.Add(-by), r.NextTry.Add(-by)
		r.Revision++
		return db.Requests().UpdateRequest(ctx, r)
	})
	if err := db.Close(); err != nil {
		t.Error(err)
	}
	if err != nil {
		t.Fatal(err)
	}
}
