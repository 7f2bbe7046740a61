package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/innsigli/innsigli/internal/authority"
	"github.com/innsigli/innsigli/internal/pdftest"
	"github.com/innsigli/innsigli/internal/validators"
)

// authorityServer serves an authority at the addresses in its certificates.
func authorityServer(t *testing.T) (*authority.Authority, *httptest.Server) {
	t.Helper()
	ca, err := authority.New(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	ca.At(server.URL)
	if _, err := ca.Renew(time.Now()); err != nil {
		t.Fatal(err)
	}
	answer := func(w http.ResponseWriter, b []byte, err error) {
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Write(b)
	}
	posted := func(kind string, f func([]byte, time.Time) []byte) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			w.Header().Set("Content-Type", kind)
			answer(w, f(body, time.Now()), err)
		}
	}
	made := func(f func(time.Time) ([]byte, error)) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			b, err := f(time.Now())
			answer(w, b, err)
		}
	}
	mux.HandleFunc("POST "+authority.PathTimestamp, posted("application/timestamp-reply", ca.Timestamp))
	mux.HandleFunc("POST "+authority.PathOCSP, posted("application/ocsp-response", ca.OCSP))
	mux.HandleFunc("GET "+authority.PathCRL, made(ca.CRL))
	mux.HandleFunc("GET "+authority.PathRootCRL, made(ca.RootCRL))
	mux.HandleFunc("GET "+authority.PathIssuers, made(func(time.Time) ([]byte, error) { return ca.Issuers() }))
	return ca, server
}

// writeSigner writes chain.pem, key.pem and root.pem for a signer of the authority.
func writeSigner(t *testing.T, folder string, ca *authority.Authority) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := ca.Issue("Local Signer", "0101302989", key.Public(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	var chain bytes.Buffer
	for _, c := range append([]*x509.Certificate{cert}, ca.Chain()...) {
		pem.Encode(&chain, &pem.Block{Type: "CERTIFICATE", Bytes: c.Raw})
	}
	for name, content := range map[string][]byte{
		"chain.pem": chain.Bytes(), "root.pem": ca.RootPEM(), "in.pdf": pdftest.Build(pdftest.Options{}),
		"key.pem": pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8}),
	} {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// program runs the program in this process, in a folder.
func program(t *testing.T, folder string, args ...string) (status int, out, talk string) {
	t.Helper()
	t.Chdir(folder)
	var stdout, stderr bytes.Buffer
	status = run(t.Context(), args, &stdout, &stderr)
	return status, stdout.String(), stderr.String()
}

// cli.md: "innsigli sign" makes every level and "innsigli extend" raises to each, over
// HTTP from addresses in certificates; EU DSS finds that level and passes it.
func TestSignAndExtendToEachLevel(t *testing.T) {
	ca, server := authorityServer(t)
	folder := t.TempDir()
	writeSigner(t, folder, ca)
	over := []string{"--tsa", server.URL + authority.PathTimestamp, "--trust", "root.pem", "--insecure-allow-private-addresses"}
	must := func(args ...string) {
		t.Helper()
		if status, _, talk := program(t, folder, append(args, over...)...); status != done {
			t.Fatalf("innsigli %v: exit status %d: %s", args, status, talk)
		}
	}
	formats := map[bool]map[string]string{true: {}, false: {}} // by whether they may lack revocation data
	made := func(name, level string) {
		formats[level == "B" || level == "T"][filepath.Join(folder, name)] = "PAdES-BASELINE-" + level
	}
	for _, level := range []string{"B", "T", "LT", "LTA"} {
		must("sign", "in.pdf", "--cert", "chain.pem", "--key", "key.pem", "--level", level, "-o", level+".pdf")
		made(level+".pdf", level)
	}
	for _, step := range [][3]string{
		{"B", "T", "T"}, {"B", "LT", "LT"}, {"B", "LTA", "LTA"}, {"T", "LTA", "LTA"}, {"LT", "LTA", "LTA"},
		{"LTA", "LTA", "LTA"}, {"LTA", "T", "LTA"}, // reached already
	} {
		name := step[0] + "-to-" + step[1] + ".pdf"
		must("extend", step[0]+".pdf", "--level", step[1], "-o", name)
		made(name, step[2])
	}
	for optional, want := range formats {
		options := validators.DSSOptions{Roots: []*x509.Certificate{ca.Root()}, RevocationOptional: optional}
		for _, report := range validators.DSS(t, options, slices.Sorted(maps.Keys(want))...) {
			if s := report.Signatures; len(s) != 1 || s[0].Format != want[report.File] || s[0].Indication != "TOTAL_PASSED" {
				t.Errorf("%s: want %s: %+v", report.File, want[report.File], s)
			}
		}
	}
}

// A level that cannot be had is an error, and nothing is written.
func TestLevelsThatCannotBeHad(t *testing.T) {
	ca, server := authorityServer(t)
	folder := t.TempDir()
	writeSigner(t, folder, ca)
	sign := []string{"sign", "in.pdf", "--cert", "chain.pem", "--key", "key.pem", "-o", "out.pdf"}
	extend := []string{"extend", "in.pdf", "-o", "out.pdf"}
	tsa := server.URL + authority.PathTimestamp
	for _, test := range []struct {
		name   string
		args   []string
		status int
		says   string
	}{
		{"no TSA", append(sign, "--level", "T"), failed, "no authority is configured"},
		{"TSA that is none", append(sign, "--level", "T", "--tsa", "ftp://tsa.example"), usage, "is no http or https URL"},
		{"TSA that answers something else", append(sign, "--level", "T", "--tsa", server.URL+authority.PathCRL), failed, "no timestamp"},
		{"addresses that are not public", append(sign, "--level", "LT", "--tsa", tsa), failed, "address not allowed"},
		{"level that is none", append(sign, "--level", "Q"), usage, "level"},
		{"nothing signed", append(extend, "--level", "LT", "--trust", "root.pem"), failed, "has no signature"},
		{"no roots", append(extend, "--level", "LT"), usage, "--trust"},
		{"to level B", append(extend, "--level", "B"), usage, "--level"},
	} {
		t.Run(test.name, func(t *testing.T) {
			status, _, talk := program(t, folder, test.args...)
			if status != test.status || !strings.Contains(talk, test.says) {
				t.Errorf("exit status %d, want %d; %q does not say %q", status, test.status, talk, test.says)
			}
			if _, err := os.Stat(filepath.Join(folder, "out.pdf")); err == nil {
				t.Error("a file was written")
			}
		})
	}
}
