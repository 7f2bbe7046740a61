package httpapi_test

import (
	"bytes"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/busysignal"
	"github.com/innsigli/innsigli/httpapi"
	"github.com/innsigli/innsigli/idp"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/sandbox"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage/bolt"
)

// BenchmarkSigning measures whole signings of a PDF of 100 KB at level LT on bbolt, one after another, from the start call to the
// poll that delivers the document: processor time of the server with its test authority and its client in one process
// (ms-cpu), and commits. The floor (x-floor) is measured in turns with it: the answers of the same authority, one SHA-256
// of the document, one signature, each signature under the answers verified once, and four writes that are flushed.
func BenchmarkSigning(b *testing.B) {
	s := newBenchServer(b)
	body := s.body(pdftest.Build(pdftest.Options{Payload: 100_000}))
	f := s.floor(b)
	s.sign(b, body) // the first one finds chains
	before := s.commits(b)
	var cpu, floor time.Duration
	for b.Loop() {
		began := cpuTime(b)
		s.sign(b, body)
		signed := cpuTime(b)
		f.run(b)
		cpu, floor = cpu+signed-began, floor+cpuTime(b)-signed
	}
	n := float64(b.N)
	b.ReportMetric(0, "ns/op") // it would include the floor
	b.ReportMetric(cpu.Seconds()*1000/n, "ms-cpu")
	b.ReportMetric(floor.Seconds()*1000/n, "ms-cpu-floor")
	b.ReportMetric(cpu.Seconds()/floor.Seconds(), "x-floor")
	s.wait(b)
	b.ReportMetric(float64(s.commits(b)-before)/n, "commits")
}

// cpuTime returns the processor time of this process.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// benchServer is the API on a store of its own, as a sandbox wires it.
type benchServer struct {
	http.Handler
	path    string // of the store
	token   string
	people  *sandbox.Sandbox
	service *signing.Service
}

func newBenchServer(b *testing.B) *benchServer {
	b.Helper()
	must := func(err error) {
		b.Helper()
		if err != nil {
			b.Fatal(err)
		}
	}
	s := &benchServer{path: filepath.Join(b.TempDir(), "bench.db")}
	db, err := bolt.Open(s.path, bolt.Options{})
	must(err)
	b.Cleanup(func() { db.Close() })
	s.people, err = sandbox.Open(b.Context(), db.Sandbox(), db, sandbox.Options{})
	must(err)
	accounts := account.New(db.Accounts(), db, account.Options{})
	owner, err := accounts.CreateAccount(b.Context(), "Example Ltd.")
	must(err)
	client, secret, err := accounts.CreateClient(b.Context(), owner.ID, "archive", []string{account.ScopeSignatures})
	must(err)
	signals := busysignal.New(db.BusySignals(), db, busysignal.Options{})
	sources := s.people.Sources()
	sources.Chains = new(ades.Chains)
	s.service = signing.New(db.Requests(), db, db.Documents(), db.Jobs(), db.EvidenceLog(), s.people, signals, signing.Options{
		Expiry: sandbox.Expiry, IgnoreInterval: true, SingleProcess: true, EndDelay: time.Second, Ledger: accounts,
		Sources: func() ades.Sources { return sources },
	})
	s.Handler = httpapi.New(httpapi.Config{
		BaseURL: "http://example.is", Accounts: accounts, Signals: signals, Signing: s.service, Sandbox: s.people, TestCA: s.people,
		Address: func(*http.Request) netip.Addr { return netip.IPv6Loopback() },
	})
	form := "grant_type=client_credentials&client_id=" + client.ID + "&client_secret=" + secret
	s.token = s.call(b, http.MethodPost, tokens, formType, []byte(form)).member(b, "access_token")
	user, err := json.Marshal(person)
	must(err)
	s.call(b, http.MethodPost, "/api/v1/sandbox/users", "application/json", user)
	return s
}

// sink takes an answer as a client does that has room for it, and keeps its beginning.
type sink struct {
	header http.Header
	status int
	begin  []byte
	size   int
}

func (w *sink) Header() http.Header    { return w.header }
func (w *sink) WriteHeader(status int) { w.status = status }
func (w *sink) Flush()                 {}

func (w *sink) Write(p []byte) (int, error) {
	w.begin = append(w.begin, p[:min(len(p), 4096-len(w.begin))]...)
	w.size += len(p)
	return len(p), nil
}

// call makes a call and returns the answer.
func (s *benchServer) call(b *testing.B, method, path, contentType string, body []byte) *sink {
	b.Helper()
	r := httptest.NewRequestWithContext(b.Context(), method, path, bytes.NewReader(body))
	r.Header.Set("Content-Type", contentType)
	if s.token != "" {
		r.Header.Set("Authorization", "Bearer "+s.token)
	}
	w := &sink{header: http.Header{}, status: http.StatusOK}
	s.ServeHTTP(w, r)
	if w.status != http.StatusOK && w.status != http.StatusCreated {
		b.Fatalf("%s %s: %d %s", method, path, w.status, w.begin)
	}
	return w
}

// member returns a member of an answer.
func (w *sink) member(b *testing.B, name string) (value string) {
	b.Helper()
	var members map[string]json.RawMessage
	if err := json.Unmarshal(w.begin, &members); err != nil || json.Unmarshal(members[name], &value) != nil {
		b.Fatalf("%s in %s", name, w.begin)
	}
	return value
}

// body returns the body of a start call.
func (s *benchServer) body(document []byte) []byte {
	return fmt.Appendf(nil, `{"file":{"type":"Pdf","name":"contract.pdf","contentB64":%q},"signer":{"kennitala":%q,"phone":%q,"signingMethod":%q},"advancedSignatureSettings":{"signatureLevel":"Lt"}}`,
		base64.StdEncoding.EncodeToString(document), kennitala, phone, idp.SIM)
}

// sign makes one signing.
func (s *benchServer) sign(b *testing.B, body []byte) {
	id := s.call(b, http.MethodPost, "/api/v1/signing", "application/json", body).member(b, "pollingId")
	if w := s.call(b, http.MethodGet, "/api/v1/signing/"+id, "", nil); w.size < len(body) {
		b.Fatalf("an answer of %d bytes", w.size)
	}
}

// wait waits for what the service stores after its answers.
func (s *benchServer) wait(b *testing.B) {
	b.Helper()
	if err := s.service.Close(b.Context()); err != nil {
		b.Fatal(err)
	}
}

// commits returns the number of transactions that were committed to the store: the higher one in the two meta pages of bbolt.
func (s *benchServer) commits(b *testing.B) int {
	b.Helper()
	file, err := os.Open(s.path)
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	page := make([]byte, 1<<17)
	if _, err := file.ReadAt(page, 0); err != nil && !errors.Is(err, io.EOF) {
		b.Fatal(err)
	}
	second := binary.NativeEndian.Uint32(page[24:])
	return int(max(binary.NativeEndian.Uint64(page[64:]), binary.NativeEndian.Uint64(page[second+64:])))
}

// signingFloor does what no server can leave out.
type signingFloor struct {
	document []byte
	key      *rsa.PrivateKey
	user     *x509.Certificate
	issuer   *x509.Certificate
	sources  ades.Sources
	file     *os.File
}

func (s *benchServer) floor(b *testing.B) *signingFloor {
	b.Helper()
	f := &signingFloor{document: make([]byte, 100_000), sources: s.people.Sources()}
	var err error
	if f.key, err = rsa.GenerateKey(rand.Reader, 2048); err != nil {
		b.Fatal(err)
	}
	chain, err := s.people.Issue("Sandbox Signer", kennitala, f.key.Public())
	if err != nil {
		b.Fatal(err)
	}
	f.user, f.issuer = chain[0], chain[1]
	if f.file, err = os.Create(filepath.Join(b.TempDir(), "floor")); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { f.file.Close() })
	return f
}

func (f *signingFloor) run(b *testing.B) {
	sum := sha256.Sum256(f.document)
	value, err := f.key.Sign(rand.Reader, sum[:], crypto.SHA256)
	if err == nil {
		err = rsa.VerifyPKCS1v15(&f.key.PublicKey, crypto.SHA256, sum[:], value)
	}
	if err == nil { // the authority verifies what it has signed
		_, err = f.sources.Time.Timestamp(b.Context(), crypto.SHA256, sum[:])
	}
	if err == nil {
		_, err = f.sources.Revocation.Revocation(b.Context(), f.user, f.issuer, time.Time{})
	}
	for range 4 {
		if err == nil {
			_, err = f.file.WriteAt(f.document[:4096], 0)
		}
		if err == nil {
			err = syscall.Fdatasync(int(f.file.Fd()))
		}
	}
	if err != nil {
		b.Fatal(err)
	}
}
