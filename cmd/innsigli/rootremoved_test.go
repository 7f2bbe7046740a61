package main

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/innsigli/innsigli/ades"
)

// A root that the configuration has no more is trusted no more, from the next request on.
// The sandbox stands in for a production server, which has no root of its own.
func TestRootRemoved(t *testing.T) {
	r := newReload(t, "")
	server := openServer(t, place{path: filepath.Join(shortFolder(t), "store.db")}, r.reload.log)
	server.evidence.own = func() ades.Sources {
		own := server.signers.own.Sources()
		own.Roots = nil
		return own
	}
	r.evidence = server.evidence
	r.write(t, "root.pem", string(server.signers.own.RootPEM()))
	c := clientIn(t, server)
	for _, step := range []struct {
		conf string
		want string // error code; empty: signed
	}{
		{"[trust]\nroots = [\"other.pem\", \"root.pem\"]\n", ""},
		{"[trust]\nroots = [\"other.pem\"]\n", "CertificateValidationError"},
		{"[trust]\nroots = [\"root.pem\"]\n", ""},
		{"", "CertificateValidationError"},
	} {
		r.configure(t, step.conf)
		started := c.must(t, http.MethodPost, "/api/v1/signing", startText(document, people[0], "IdpApp", "Lt", ""))
		if a, err := c.pollOn(t.Context(), started.PollingID); err != nil || a.ErrorCode != step.want || (len(a.SignedFile) > 0) != (step.want == "") {
			t.Errorf("roots of %q: %v, %v, want %q", step.conf, a, err, step.want)
		}
	}
}

// openServer opens a server on a store, for the time of the test.
func openServer(t *testing.T, in place, log *slog.Logger) *server {
	t.Helper()
	return setup{place: in, log: log}.openFor(t)
}

// openFor opens a server with the usual master key and retention, for the time of the test.
func (c setup) openFor(t *testing.T) *server {
	t.Helper()
	c.masterKey, c.retention = masterKeyFlag{}.file(c.place), defaultRetention
	server, err := c.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.close(); err != nil {
			t.Error(err)
		}
	})
	return server
}

// clientIn is a client of a server in this process, which has the people.
func clientIn(t *testing.T, server *server) *client {
	t.Helper()
	if _, err := server.credentials(t.Context(), clientID, clientSecret); err != nil {
		t.Fatal(err)
	}
	listener := httptest.NewServer(server.handler("http://sandbox.example"))
	t.Cleanup(listener.Close)
	c := clientOf(listener.URL)
	_, token, err := c.issue(clientID, clientSecret)
	if err != nil {
		t.Fatal(err)
	}
	c.token = token.AccessToken
	c.addPeople(t, people...)
	return c
}
