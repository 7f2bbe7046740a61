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

// The provider is asked at its own pace, whatever its client's is.
func TestProductionPace(t *testing.T) {
	testenv.Slow(t, "people are asked at the pace of production")
	t.Parallel()
	concurrently(t, 4, []subtest{
		{"interval", keepsInterval},
		{"slow_down", slowsDown},
		{"expiry that the provider tells of", func(t *testing.T) { expires(t, false) }},
		{"expiry while the provider is away", func(t *testing.T) { expires(t, true) }},
	})
}

// milli is how much sooner the provider may note a call than it came: it notes whole milliseconds.
const milli = time.Millisecond

// However often the client polls, an interval is between two questions (CIBA Core 1.0 7.3), and
// before the first.
func keepsInterval(t *testing.T) {
	const interval = 3 * time.Second
	p := startProduction(t, installed(t), productionOptions{provider: openidtest.Options{Interval: interval}})
	who := numbered(1)
	p.person(t, who, openidtest.Answer{Polls: 2})
	r := newRequest(who, "IdpApp", "")
	before := time.Now()
	started := p.client.must(t, http.MethodPost, "/api/v1/signing", r.body)
	if r.pollingID = started.PollingID; started.ExpiresIn != 290 {
		t.Errorf("the request lives %d s, of ten minutes that the provider gives it", started.ExpiresIn)
	}
	r.pause = 100 * time.Millisecond
	a, err := r.goOn(t.Context(), p.client)
	if err != nil {
		t.Fatal(err)
	}
	p.checkSigned(t, &r, a)
	for i, prompt := range p.prompts(who) {
		if len(prompt.polls) < 2 {
			t.Errorf("prompt %d: asked for %d times", i, len(prompt.polls))
		}
		// The calls are made an interval apart, and come at some time later: each is at least so many intervals
		// after what came before all of them.
		for n, poll := range prompt.polls {
			if pause := poll.At.Sub(before); pause < time.Duration(n+1)*interval-milli {
				t.Errorf("prompt %d: asked for the %d. time after %v", i, n+1, pause)
			}
		}
		before = prompt.polls[len(prompt.polls)-1].At
	}
}

// A provider that says slow_down is asked five seconds later from then on (CIBA Core 1.0 11),
// also for the next answer. The client hears it once.
func slowsDown(t *testing.T) {
	p := startProduction(t, installed(t), productionOptions{provider: eager})
	who := numbered(1)
	p.person(t, who, openidtest.Answer{Delay: time.Second})
	p.provider.Fault(openidtest.Fault{Endpoint: openidtest.Token, Status: http.StatusBadRequest, Body: `{"error":"slow_down"}`})
	r := newRequest(who, "IdpSim", "")
	before := time.Now()
	r.pollingID = p.client.must(t, http.MethodPost, "/api/v1/signing", r.body).PollingID
	told, a := 0, reply{}
	for a.SignedFile == nil {
		var err error
		if a, err = p.client.call(t.Context(), http.MethodGet, "/api/v1/signing/"+r.pollingID, nil); err != nil {
			t.Fatal(err)
		}
		switch {
		case a.ErrorCode == "SlowDown":
			told++
		case a.Status != http.StatusOK && a.ErrorCode != "AuthorizationPending":
			t.Fatalf("%v\n%s", a, p.logs())
		}
		pause(2 * time.Second)
	}
	p.checkSigned(t, &r, a)
	calls := p.calls(openidtest.Token)
	if told != 1 || len(calls) != 3 { // slow_down, and two answers
		t.Fatalf("the client was told to slow down %d times, and the provider asked %d times", told, len(calls))
	}
	// The first call is made a second after the prompt, the second six after that, the last six after a new prompt.
	if first, last := calls[1].At.Sub(before), calls[2].At.Sub(calls[1].At); first < 7*time.Second-milli || last < 6*time.Second-milli {
		t.Errorf("the provider was asked again after %v, and for the next answer after %v", first, last)
	}
}

// Who does not answer ends the request when the provider's time is over, also when the provider
// is not there to say so. That is answered again and again.
func expires(t *testing.T, away bool) {
	const life = 5 * time.Second
	p := startProduction(t, installed(t), productionOptions{provider: openidtest.Options{Interval: time.Second, Expires: life}})
	who := numbered(1)
	p.person(t, who, openidtest.Answer{Silent: true})
	for _, method := range []string{"IdpApp", "IdpSim"} {
		began := time.Now()
		started := p.client.must(t, http.MethodPost, "/api/v1/signing", startText(document, who, method, "B", ""))
		// The provider's time begins when it is asked, in the course of the call.
		lives, call := time.Duration(started.ExpiresIn)*time.Second, time.Since(began) // time: the more it takes, the more is allowed
		if lives < life || lives > (life+call).Round(time.Second) {
			t.Errorf("%s: the request lives %v after a call of %v", method, lives, call)
		}
		if away {
			p.provider.Stop()
		}
		for range 2 {
			if a := p.finish(t, started.PollingID); a.Status != http.StatusBadRequest || a.ErrorCode != "ExpiredToken" {
				t.Fatalf("%s: %v\n%s", method, a, p.logs())
			}
		}
		// The provider counts whole seconds, so it may call it a day up to one sooner.
		if ended := time.Now(); ended.Before(began.Add(life - time.Second)) {
			t.Errorf("%s: it ended after %v", method, ended.Sub(began))
		}
		if away {
			p.provider.Go()
		}
	}
}

// signer is one in a crowd, with a document of its own.
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
	const busy = 5
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
