package openid

import (
	"bytes"
	"encoding/json"
	"net/http"
	"time"
)

// Login says who is at the browser, by kennitala or phone number, when a login does not say so
// in login_hint.
func (p *Provider) Login(hint string) {
	p.t.Helper()
	p.order("login", map[string]any{"hint": hint}, nil)
}

// Fault is something that goes wrong on the way. Faults of one endpoint happen in the order in
// which they were planned. net/http repeats a GET by itself where a connection that it had used
// before is cut.
type Fault struct {
	Endpoint Endpoint
	Times    int               // 0: once
	Handled  bool              // the provider does what it was asked, and its answer is lost
	Status   int               // of the answer instead; 0: the connection is cut
	Header   map[string]string // such as Retry-After
	Body     string
	Slow     time.Duration // before each byte of the body but the first
}

// Fault plans a fault.
func (p *Provider) Fault(f Fault) {
	p.t.Helper()
	p.order("fault", map[string]any{
		"endpoint": f.Endpoint, "times": f.Times, "handled": f.Handled, "status": f.Status,
		"header": f.Header, "body": f.Body, "slow": f.Slow.Milliseconds(),
	}, nil)
}

// RotateKeys has a new key sign ID tokens. The old ones stay published or not.
func (p *Provider) RotateKeys(keep bool) {
	p.t.Helper()
	p.order("rotate", map[string]any{"keep": keep}, nil)
}

// order has the provider carry out an order, at an address that only tests know. answer may
// be nil.
func (p *Provider) order(name string, argument map[string]any, answer any) {
	p.t.Helper()
	text, err := json.Marshal(argument)
	if err != nil {
		p.t.Fatal(err)
	}
	resp, err := http.Post(p.address()+"/control/"+p.settings.Secret+"/"+name, "application/json", bytes.NewReader(text))
	if err != nil {
		p.t.Fatalf("openidtest: %s: %v", name, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		p.t.Fatalf("openidtest: %s: %s", name, resp.Status)
	}
	if answer == nil {
		return
	}
	if err := json.NewDecoder(resp.Body).Decode(answer); err != nil {
		p.t.Fatalf("openidtest: %s: %v", name, err)
	}
}
