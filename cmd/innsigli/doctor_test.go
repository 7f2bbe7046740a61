package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	catest "github.com/innsigli/innsigli/internal/test/ca"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	openidtest "github.com/innsigli/innsigli/internal/test/openid"
	postgrestest "github.com/innsigli/innsigli/internal/test/postgres"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
	"github.com/innsigli/innsigli/server/doctor"
	"github.com/innsigli/innsigli/storage/bolt"
	"github.com/innsigli/innsigli/storage/sealed"
	"github.com/innsigli/innsigli/webhook/delivery"
)

// examined runs "innsigli doctor --json" and returns what was found by what it is about: the
// verdicts, each once.
func examined(t *testing.T, want int, flags ...string) (verdicts map[string]string, all string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	status := run(t.Context(), append([]string{"doctor", "--json", "--listen", "127.0.0.1:0"}, flags...), &stdout, &stderr)
	printed := stdout.String()
	if status != want || stderr.Len() > 0 {
		t.Errorf("exit status %d, want %d\n%s%s", status, want, printed, &stderr)
	}
	verdicts = make(map[string]string)
	for line := range strings.Lines(printed) {
		var f doctor.Finding
		if err := json.Unmarshal([]byte(line), &f); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if f.Verdict == "doubt" && machines.MatchString(f.Says) {
			f.Verdict = "ok"
		}
		if !strings.Contains(verdicts[f.Check], string(f.Verdict)) {
			verdicts[f.Check] = strings.TrimSpace(verdicts[f.Check] + " " + string(f.Verdict))
		}
	}
	return verdicts, printed
}

// machines is what a doctor says of how quick a store is and how full a disk, which is the affair of the machine that
// the tests run on.
var machines = regexp.MustCompile(`answers in \S+$|^\d+ MB are free in `)

// A server that has all it needs is well, on Postgres and beside a running server on a file; what is wrong is
// found, each by its own line.
func TestDoctor(t *testing.T) {
	testenv.Slow(t, "a whole production is checked")
	t.Parallel()
	p := newProduction(t, "", postgrestest.Database(t))
	p.ca = catest.New(t)
	p.provider = openidtest.Start(t, openidtest.Options{Redirects: []string{"https://sign.example/login"}})
	smtp := startMailServer(t, func(int, string) error { return nil })
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {}))
	t.Cleanup(front.Close)
	p.tsa = catest.Serve(t, p.ca) + sandboxca.PathTimestamp
	p.configure(t, productionOptions{})
	issuers, err := p.ca.Issuers()
	if err != nil {
		t.Fatal(err)
	}
	p.write(t, "issuers.p7b", issuers)
	right := strings.Replace(string(testenv.ReadFile(t, filepath.Join(p.folder, "innsigli.toml"))), "[trust]", "[trust]\nintermediates = [\"issuers.p7b\"]", 1)
	p.write(t, "innsigli.toml", []byte(right))
	output(t, done, "migrate", "--store", p.store)
	flags := func(more ...string) []string {
		return append([]string{"--environment", "production", "--base-url", front.URL, "--store", p.store, "--master-key-file", filepath.Join(p.folder, "master.key"),
			"--config", filepath.Join(p.folder, "innsigli.toml"), "--mail", smtp.address}, more...)
	}
	well := map[string]string{
		"configuration": "ok", "store": "ok", "webhook keys": "ok", "master key": "ok", "timestamp[0]": "ok", "trust": "ok", "revocation": "ok",
		"metadata": "ok", "acr values": "ok", "delivery": "ok", "keys": "ok", "clock": "ok", "client": "ok", "endpoints": "ok", "login": "ok",
		"mail": "ok", "base URL": "ok", "renderer": "ok",
	}
	got, said := examined(t, done, flags()...)
	if diff := cmp.Diff(well, got); diff != "" {
		t.Errorf("all is right (-want +got):\n%s\n%s", diff, said)
	}
	if len(smtp.mails()) > 0 || strings.Contains(said, p.provider.Secret) {
		t.Errorf("mail was sent, or a secret told:\n%s", said)
	}

	other := filepath.Join(t.TempDir(), "other.key")
	if err := sealed.MakeFile(other); err != nil {
		t.Fatal(err)
	}
	sealWebhookKey(t, p.store, filepath.Join(p.folder, "master.key"))
	late := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Date", time.Now().Add(-time.Hour).UTC().Format(http.TimeFormat))
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	t.Cleanup(late.Close)
	for name, test := range map[string]struct {
		old, new string // in the configuration
		flags    []string
		want     map[string]string // what is not as it was
		says     string
	}{
		"another master key":     {flags: []string{"--master-key-file", other}, want: map[string]string{"master key": "fault"}, says: "encrypted with another master key"},
		"no timestamp authority": {old: p.tsa, new: "http://127.0.0.1:1/", want: map[string]string{"timestamp[0]": "fault"}},
		"no mail server":         {flags: []string{"--mail", "smtp://127.0.0.1:1?tls=none"}, want: map[string]string{"mail": "fault"}, says: "Check the host and the port in --mail"},
		"no provider": {old: `client-id = "` + p.provider.ClientID + `"`, new: `client-id = "unknown"`,
			want: map[string]string{"client": "fault", "login": "fault"}, says: "the provider may have registered the client with others"},
		"no server at the base URL": {flags: []string{"--base-url", "http://127.0.0.1:1"}, want: map[string]string{"base URL": "doubt"}},
		"a server that is not well": {flags: []string{"--base-url", late.URL}, want: map[string]string{"base URL": "fault", "clock": "ok fault"}, says: "the server is not ready"},
		"no intermediates":          {old: "intermediates = [\"issuers.p7b\"]", new: "", want: map[string]string{"revocation": "doubt"}},
	} {
		t.Run(name, func(t *testing.T) {
			if test.old != "" && !strings.Contains(right, test.old) {
				t.Fatalf("no %s in\n%s", test.old, right)
			}
			conf := filepath.Join(p.folder, "changed.toml")
			if err := os.WriteFile(conf, []byte(strings.ReplaceAll(right, test.old, test.new)), 0o600); err != nil {
				t.Fatal(err)
			}
			if test.old == "" {
				conf = filepath.Join(p.folder, "innsigli.toml")
			}
			status, want := done, make(map[string]string)
			for what, verdict := range well {
				want[what] = verdict
			}
			for what, verdict := range test.want {
				want[what] = verdict
				if strings.Contains(verdict, "fault") {
					status = failed
				}
			}
			got, said := examined(t, status, flags(append([]string{"--config", conf}, test.flags...)...)...)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-want +got:\n%s\n%s", diff, said)
			}
			if !strings.Contains(said, test.says) {
				t.Errorf("no %q in\n%s", test.says, said)
			}
		})
	}
}

// sealWebhookKey has a store keep a key of webhooks, as a server's first start does.
func sealWebhookKey(t *testing.T, store, masterKey string) {
	t.Helper()
	output(t, done, "webhook", "rotate-key", "--store", store, "--master-key-file", masterKey)
}

// Of a configuration with faults each is named, and the store looked at all the same.
func TestDoctorOfFaults(t *testing.T) {
	folder := shortFolder(t)
	flags := []string{"--environment", "sandbox", "--base-url", "ftp://sign.example", "--store", "bolt:" + filepath.Join(folder, "store.db"), "--tls-cert", "none.pem"}
	got, said := examined(t, failed, flags...)
	if diff := cmp.Diff(map[string]string{"configuration": "fault doubt", "store": "ok", "disk": "ok"}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for _, want := range []string{"--base-url: ", "--tls-key: is missing", "is created at the first start"} {
		if !strings.Contains(said, want) {
			t.Errorf("no %q in\n%s", want, said)
		}
	}
}

// A key of webhooks that another program stored without sealing is a fault, whose advice is not to look for another master key.
func TestDoctorOfPlainSecret(t *testing.T) {
	folder := shortFolder(t)
	key, store := filepath.Join(folder, "master.key"), filepath.Join(folder, "store.db")
	if err := sealed.MakeFile(key); err != nil {
		t.Fatal(err)
	}
	db, err := bolt.Open(store, bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	at := time.Now().UTC().Truncate(time.Microsecond)
	err = db.InTx(t.Context(), func(ctx context.Context) error {
		return db.Webhooks().CreateKey(ctx, delivery.SigningKey{Number: 1, Public: []byte("public"), Private: []byte("chosen"), CreatedAt: at})
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	got, said := examined(t, failed, "--environment", "sandbox", "--base-url", "http://127.0.0.1:1", "--store", "bolt:"+store, "--master-key-file", key)
	if got["master key"] != "fault" || !strings.Contains(said, "is not encrypted") || !strings.Contains(said, "find out who can write to it") || strings.Contains(said, "chosen") {
		t.Errorf("%v\n%s", got, said)
	}
}

// Beside a server on a file, what is sealed in the file is asked of it. Its certificate is looked at where clients
// meet it.
func TestDoctorBesideServer(t *testing.T) {
	t.Parallel()
	for host, verdict := range map[string]string{"127.0.0.1": "doubt", "sign.example": "doubt fault"} {
		folder := shortFolder(t)
		catest.WriteTLS(t, folder, host, time.Now().Add(5*24*time.Hour))
		store, key, other := "bolt:"+filepath.Join(folder, "store.db"), filepath.Join(folder, "master.key"), filepath.Join(folder, "other.key")
		p := serveIn(t, installed(t), folder, nil, "--environment", "sandbox", "--base-url", "https://"+host, "--store", store, "--master-key-file", key,
			"--tls-cert", "tls.pem", "--tls-key", "tls.key")
		if err := sealed.MakeFile(other); err != nil {
			t.Fatal(err)
		}
		flags := []string{"--environment", "sandbox", "--base-url", strings.Replace(p.BaseURL, "http://", "https://", 1), "--store", store,
			"--tls-cert", filepath.Join(folder, "tls.pem"), "--tls-key", filepath.Join(folder, "tls.key")}
		for file, opens := range map[string]string{key: "ok", other: "fault"} {
			got, said := examined(t, failed, append(flags, "--master-key-file", file)...)
			want := map[string]string{"configuration": "ok", "store": "ok", "webhook keys": "ok", "master key": opens, "disk": "ok", "TLS": verdict, "base URL": "fault", "renderer": "ok"}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s, %s (-want +got):\n%s\n%s", host, filepath.Base(file), diff, said)
			}
			if !strings.Contains(said, "Clients refuse this certificate") || !strings.Contains(said, "expires on") {
				t.Errorf("of the certificate:\n%s", said)
			}
		}
	}
}
