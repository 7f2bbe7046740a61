package main

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"github.com/innsigli/innsigli/ades/report"
	"github.com/innsigli/innsigli/idp/audkenni"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	openidtest "github.com/innsigli/innsigli/internal/test/openid"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
)

// signer is one person of a crowd, with a document of their own.
type signer struct {
	who      person
	method   string
	document []byte
	code     string // that the client was told
	signed   []byte
}

// A crowd signs at once through one server, and one of them several documents. Each gets the
// own document with the own signature, and was told the code on the own phone.
func TestProductionCrowd(t *testing.T) {
	testenv.Slow(t, "a crowd signs")
	t.Parallel()
	const busy = 4 // so that one person has five requests at once, as many as the limit permits
	crowd := inFull(50, 20)
	// The provider is a process that many others may keep waiting: that it is away is no part of this.
	p := startProduction(t, build(t), productionOptions{provider: eager, keys: "timeout = \"1m\"\nrequest-lifetime = \"10m\"\n"})
	all := make([]signer, crowd)
	for i := range all {
		who := numbered(max(i, busy))
		p.person(t, who, openidtest.Answer{Delay: time.Duration(i*41%1500) * time.Millisecond})
		all[i] = signer{who: who, method: []string{"IdpApp", "IdpSim"}[i%2], document: pdftest.Build(pdftest.Options{Catalog: fmt.Sprintf("/Number %d", i)})}
	}
	var group errgroup.Group
	for i := range all {
		group.Go(func() error { return all[i].sign(t, p.client) })
	}
	if err := group.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, p.logs())
	}
	t.Logf("figure: %d requests at once took %.1f calls to the provider each", crowd, float64(len(p.provider.Calls()))/float64(crowd))
	p.checkCrowd(t, all)
	codes := make(map[person][]string)
	for _, s := range all {
		codes[s.who] = append(codes[s.who], s.code)
	}
	for who, told := range codes {
		slices.Sort(told)
		if diff := cmp.Diff(p.shown(who), told); diff != "" {
			t.Errorf("the codes on the phone of %s, and those that the client was told: %s", who.name, diff)
		}
	}
}

// sign goes from the start of a request to the signed document.
func (s *signer) sign(t *testing.T, c *client) error {
	a, err := c.call(t.Context(), http.MethodPost, "/api/v1/signing", strings.NewReader(startText(s.document, s.who, s.method, "Lt", "")))
	for id := a.PollingID; err == nil; pause(2 * time.Second) {
		if a.Code != "" {
			s.code = a.Code
		}
		switch {
		case a.SignedFile != nil:
			s.signed = a.SignedFile
			return nil
		case a.Status != http.StatusOK && a.ErrorCode != "AuthorizationPending" && a.Status != http.StatusServiceUnavailable:
			return fmt.Errorf("%s by %s: %v", s.who.name, s.method, a)
		}
		a, err = c.call(t.Context(), http.MethodGet, "/api/v1/signing/"+id, nil)
	}
	return err
}

// checkCrowd: each document is its signer's, and so is its one signature. The program verifies them
// all, which is faster without the race detector.
func (p *production) checkCrowd(t *testing.T, crowd []signer) {
	t.Helper()
	p.write(t, "root.pem", p.ca.RootPEM())
	args := []string{"verify", "--json", "--trust", "root.pem"}
	for i, s := range crowd {
		args = append(args, strconv.Itoa(i)+".pdf")
		p.write(t, strconv.Itoa(i)+".pdf", s.signed)
	}
	command := exec.Command(p.program, args...)
	command.Dir = p.folder
	verified, err := command.Output()
	if err != nil {
		t.Errorf("verifying the documents: %v", err)
	}
	lines := strings.Split(strings.TrimSpace(string(verified)), "\n")
	if len(lines) != len(crowd) {
		t.Fatalf("%d documents were verified:\n%s", len(lines), verified)
	}
	for i, s := range crowd {
		var got report.Document
		if err := json.Unmarshal([]byte(lines[i]), &got); err != nil {
			t.Fatal(err)
		}
		if !bytes.HasPrefix(s.signed, s.document) || !got.Passed || len(got.Signatures) != 1 || got.Signatures[0].Format != "PAdES-BASELINE-LT" ||
			got.Signatures[0].SerialNumber != s.who.kennitala {
			t.Errorf("the document of %s by %s: %s", s.who.name, s.method, lines[i])
		}
	}
}

// shown are the codes that a person's phone showed with what was signed: by the app that of the
// digest, and on a SIM that in the text.
func (p *production) shown(who person) (codes []string) {
	for _, prompt := range p.prompts(who) {
		text := prompt.Claims["binding_message"].(string)
		digest, err := base64.StdEncoding.DecodeString(prompt.Claims["binding_content"].(string))
		switch acr := prompt.Claims["acr_values"]; {
		case acr == "sim-sign-pkcs1" && strings.HasSuffix(text, "contract.pdf"): // or else the certificate is learnt
			codes = append(codes, text[:4])
		case acr == "app-sign-with-certificate" && err == nil:
			codes = append(codes, audkenni.VerificationCode(digest))
		}
	}
	slices.Sort(codes)
	return codes
}

// A document's name and a reason that stand nowhere else. The character behind shownName is one
// to a reader and seven of Unicode's: of 60 there is no room for it.
const (
	shownName = "Leigusamningur um húsnæði að Ægisgötu 7, Þórshöfn á Langa"
	longName  = shownName + "👨‍👩‍👧‍👦.pdf"
	reason    = "Samþykki leigjanda"
)

// order is what a client asks for.
type order struct {
	person
	method, level string
}

func (o order) body() string {
	body := map[string]any{
		"file":   map[string]any{"type": "Pdf", "name": longName, "contentB64": document},
		"signer": map[string]any{"kennitala": o.kennitala, "phone": o.phone, "signingMethod": o.method, "reason": reason},
	}
	if o.level != "" {
		body["advancedSignatureSettings"] = map[string]any{"signatureLevel": o.level}
	}
	text, err := json.Marshal(body)
	if err != nil {
		panic(err) // it is of texts
	}
	return string(text)
}

// order makes a start call, whatever it comes to.
func (p *production) order(t *testing.T, o order) reply {
	t.Helper()
	a, err := p.client.call(t.Context(), http.MethodPost, "/api/v1/signing", strings.NewReader(o.body()))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func (p *production) poll(t *testing.T, id string) reply {
	t.Helper()
	a, err := p.client.call(t.Context(), http.MethodGet, "/api/v1/signing/"+id, nil)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// beside is another server, with the same people, provider and authority.
func (p *production) beside(t *testing.T, o productionOptions) *production {
	t.Helper()
	other := newProduction(t, p.program, o.store, "--config", "innsigli.toml")
	other.ca, other.tsa, other.provider = p.ca, p.tsa, p.provider
	other.keepsToItself(t)
	other.configure(t, o)
	other.run(t)
	other.client = other.account(t, other.store)
	return other
}

// renew gives a person another key and certificate.
func (p *production) renew(t *testing.T, one openidtest.Person) openidtest.Person {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	one.Key, one.Certificate = key, p.certificate(t, person{one.Name, one.Kennitala, one.Phone}, key)
	p.provider.Person(one)
	return one
}
