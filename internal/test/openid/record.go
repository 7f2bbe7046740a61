package openid

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"
)

// Asked is a request at the endpoint of CIBA that reached the provider, refused or not.
type Asked struct {
	At     time.Time
	ID     string            // auth_req_id; "": refused
	Form   map[string]string // as it was sent
	Header map[string]any    // of the request object
	Claims map[string]any    // of the request object
}

// Asked returns all requests so far.
func (p *Provider) Asked() []Asked {
	p.t.Helper()
	var noted []struct {
		At   int64
		ID   string
		Body map[string]string
	}
	p.order("asked", nil, &noted)
	asked := make([]Asked, len(noted))
	for i, n := range noted {
		asked[i] = Asked{At: time.UnixMilli(n.At), ID: n.ID, Form: n.Body}
		if parts := strings.Split(n.Body["request"], "."); len(parts) == 3 {
			asked[i].Header, asked[i].Claims = object(parts[0]), object(parts[1])
		}
	}
	return asked
}

// object is a part of a JWS, nil where it is no JSON object.
func object(part string) map[string]any {
	text, err := base64.RawURLEncoding.DecodeString(part)
	if err != nil {
		return nil
	}
	var o map[string]any
	_ = json.Unmarshal(text, &o) // nil is the answer
	return o
}

// Polled is a question for an answer that reached the provider.
type Polled struct {
	At    time.Time
	ID    string // auth_req_id
	Error string // of the answer; "": it was the tokens
}

// Polled returns all questions so far.
func (p *Provider) Polled() []Polled {
	p.t.Helper()
	var noted []struct {
		At        int64
		ID, Error string
	}
	p.order("polled", nil, &noted)
	polled := make([]Polled, len(noted))
	for i, n := range noted {
		polled[i] = Polled{time.UnixMilli(n.At), n.ID, n.Error}
	}
	return polled
}

// Call is a request at any endpoint.
type Call struct {
	At            time.Time
	Endpoint      Endpoint
	Method        string
	Authorization string // the header
	Status        int    // of the answer; 0: there was none
}

// Calls returns all calls so far, those that met a fault among them.
func (p *Provider) Calls() []Call {
	p.t.Helper()
	var noted []struct {
		At                    int64
		Endpoint              Endpoint
		Method, Authorization string
		Status                int
	}
	p.order("calls", nil, &noted)
	calls := make([]Call, len(noted))
	for i, n := range noted {
		calls[i] = Call{time.UnixMilli(n.At), n.Endpoint, n.Method, n.Authorization, n.Status}
	}
	return calls
}
