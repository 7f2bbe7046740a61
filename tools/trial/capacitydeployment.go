package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
)

const (
	// personTime is how long a client waits for the person, who takes 2 seconds in a server with simulated people.
	personTime = 2050 * time.Millisecond
	// people are so many that none has several requests that wait.
	people = 10_000
)

// deployment is servers with the settings of production on one store, and a client that calls them.
type deployment struct {
	*house
	servers []*server
	client  http.Client
	token   string
	content []byte // the document
	encoded string
}

// newDeployment starts the servers.
func newDeployment(ctx context.Context, store string, c capacity) (_ *deployment, err error) {
	if strings.HasPrefix(store, "bolt:") && c.servers != 1 {
		return nil, errors.New("a file is for one server")
	}
	h, err := newHouseOf(ctx, store, func(program string) error {
		if c.program != "" {
			return nil
		}
		return buildWith(ctx, program, "cmd/innsigli", "")
	})
	if err != nil {
		return nil, err
	}
	if c.program != "" {
		h.program = c.program
	}
	first, err := h.newPortal(ctx, "client-rate = 0", "connections-per-address = 10000", "connections = 10000")
	if err != nil {
		return nil, errors.Join(err, h.remove())
	}
	p := &deployment{house: h, servers: []*server{first.server}, token: first.accounts[0].token}
	p.client.Timeout = time.Minute
	p.client.Transport = &http.Transport{MaxIdleConnsPerHost: 1000}
	p.content = pdftest.Build(pdftest.Options{Payload: c.size})
	p.encoded = base64.StdEncoding.EncodeToString(p.content)
	for len(p.servers) < c.servers {
		next, err := first.another(ctx)
		if err != nil {
			return nil, errors.Join(err, p.stop(), h.remove())
		}
		p.servers = append(p.servers, next)
	}
	return p, nil
}

// another starts another server like this one, on its store.
func (p *pagesServer) another(ctx context.Context) (*server, error) {
	address, err := testenv.FreeAddress()
	if err != nil {
		return nil, err
	}
	next := &pagesServer{server: &server{house: p.house, address: address}, house: p.house}
	next.process = process{program: p.program}
	for _, argument := range p.arguments {
		next.arguments = append(next.arguments, strings.ReplaceAll(argument, p.address, address))
	}
	if err := next.process.startSilent(); err != nil {
		return nil, err
	}
	if err := next.awaitReady(ctx); err != nil {
		return nil, errors.Join(err, next.stop())
	}
	return next.server, nil
}

func (p *deployment) stop() error {
	p.client.CloseIdleConnections()
	var errs []error
	for _, s := range p.servers {
		errs = append(errs, s.stop())
	}
	return errors.Join(errs...)
}

// gap is a random time between two independent signings, of which so many begin in a second on average.
func gap(rate float64) time.Duration {
	return time.Duration(rand.ExpFloat64() / rate * float64(time.Second))
}

// begun is a signing whose person was asked.
type begun struct {
	at   time.Time     // when it was to begin
	busy time.Duration // until the answer to the start call
	due  time.Time     // when the person has answered
	id   string
	err  error
}

// begin starts the signing with a number, which was to begin at a time.
func (p *deployment) begin(ctx context.Context, number int, at time.Time) (b begun) {
	b.at = at
	who := number % people
	body := fmt.Sprintf(`{"signer":{"kennitala":"%010d","phone":"%07d","signingMethod":"IdpSim"},"advancedSignatureSettings":{"signatureLevel":"Lt"},`+
		`"file":{"type":"Pdf","name":"contract.pdf","contentB64":%q}}`, 101300000+who, 5500000+who/100*1000+who%100, p.encoded)
	a, _, err := p.call(ctx, http.MethodPost, "/api/v1/signing", body)
	now := time.Now()
	b.busy, b.due, b.id, b.err = now.Sub(at), now.Add(personTime), a.PollingID, err
	if err == nil && a.Status != http.StatusOK {
		b.err = fmt.Errorf("start: %v", a)
	}
	return b
}

// finish polls when the person has answered, until the document is there. Times are since signings count.
func (p *deployment) finish(ctx context.Context, b begun, count time.Time) signed {
	s := signed{began: b.at.Sub(count), err: b.err}
	pause(ctx, time.Until(b.due))
	began := time.Now()
	for s.err == nil {
		a, length, err := p.call(ctx, http.MethodGet, "/api/v1/signing/"+b.id, "")
		switch {
		case err != nil:
			s.err = err
		case a.Status == http.StatusOK && length <= int64(len(p.encoded)):
			s.err = fmt.Errorf("the signed document has %d characters, of %d", length, len(p.encoded))
		case a.ErrorCode != "AuthorizationPending" && a.Status != http.StatusOK:
			s.err = fmt.Errorf("poll: %v", a)
		case a.ErrorCode == "AuthorizationPending":
			if pause(ctx, 2*time.Second); time.Since(began) > drain {
				s.err = errors.New("the person's answer has not arrived")
			}
			continue
		}
		break
	}
	now := time.Now()
	s.took, s.ended = b.busy+now.Sub(began), now.Sub(count)
	return s
}

// call makes a call at one of the servers. Of a document it returns the length alone: the trial's own work is not what is
// tried.
func (p *deployment) call(ctx context.Context, method, path, body string) (a answer, length int64, err error) {
	request, err := http.NewRequestWithContext(ctx, method, "http://"+p.servers[rand.IntN(len(p.servers))].address+path, strings.NewReader(body))
	if err != nil {
		return a, 0, err
	}
	request.Header.Set("Authorization", "Bearer "+p.token)
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := p.client.Do(request)
	if err != nil {
		return a, 0, err
	}
	defer response.Body.Close()
	if a.Status = response.StatusCode; method == http.MethodGet && a.Status == http.StatusOK {
		length, err = io.Copy(io.Discard, response.Body)
		return a, length, err
	}
	err = json.NewDecoder(response.Body).Decode(&a)
	return a, 0, err
}
