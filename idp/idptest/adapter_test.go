package idptest

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
)

// adapter is a correct Provider for network. The app's certificate is the answer to a prompt of its own; the SIM's is
// remembered by the caller, or part of a CMS.
type adapter struct {
	*network
	cms    bool // the SIM's answers are
	wrongs      // on purpose
}

// wrongs are mistakes in the adapter. Other mistakes are made by wrapping it.
type wrongs struct {
	noContinue    bool // an answer is returned with what it leads to
	keepsExpired  bool // a certificate that is known is good for ever
	forgetsKnown  bool
	missesRenewal bool
	fatalFaults   bool // a fault ends the conversation
	anyState      bool // States are not looked at
	oldStates     bool // version 0 is taken for version 1
	sharedSecret  bool // of notifications, between conversations
}

func (a *adapter) Traits(m idp.Method) idp.Traits {
	if m == idp.SIM && a.cms {
		return idp.Traits{CMS: true, Algorithm: ades.Algorithm{Hash: crypto.SHA256, Scheme: ades.ECDSA}}
	}
	return idp.Traits{Remember: m == idp.SIM}
}

func (a *adapter) Begin(ctx context.Context, key string, p idp.Person, _ idp.Text, known *x509.Certificate) (idp.State, idp.Event, error) {
	n := noted{note{Kennitala: p.Kennitala, Method: p.Method}, sealedNote{Ping: rand.Text()}}
	if a.sharedSecret {
		n.Ping = key
	}
	if p.Method == idp.SIM {
		code, _ := rand.Int(rand.Reader, big.NewInt(10_000))
		n.Code = fmt.Sprintf("%04d", code)
	}
	state := idp.State{Provider: "network", Version: 1, Key: key, Expires: time.Now().Add(networkExpiry)}
	if a.Traits(p.Method).CMS {
		return a.write(state, n, idp.NeedDigest{Code: n.Code})
	}
	good := known != nil && (a.keepsExpired || time.Now().Before(known.NotAfter))
	if a.Traits(p.Method).Remember && good && !a.forgetsKnown {
		n.Certificate = known.Raw
		return a.write(state, n, idp.NeedDigest{Certificate: known, Code: n.Code})
	}
	return a.ask(ctx, state, n)
}

func (a *adapter) Sign(ctx context.Context, state idp.State, digests []ades.Digest) (idp.State, idp.Event, error) {
	n, err := a.read(state)
	if err == nil && len(digests) == 0 {
		err = errors.New("nothing to sign")
	}
	if err != nil {
		return state, nil, err
	}
	n.Signing, n.Digests = true, digests
	if n.Method == idp.App {
		n.Code = fmt.Sprintf("%04d", int(digests[0].Sum[0])<<4)
	}
	return a.ask(ctx, state, n)
}

func (a *adapter) Poll(ctx context.Context, state idp.State) (idp.State, idp.Event, error) {
	n, err := a.read(state)
	if err != nil {
		return state, nil, err
	}
	if n.Reply != nil {
		return a.follow(ctx, state, n)
	}
	if !n.Asked {
		return a.needDigest(state, n)
	}
	answer, failure, err := a.take(ctx, n.Prompt)
	switch {
	case errors.Is(err, errPending):
		return state, n.waiting(), nil
	case err != nil:
		return a.fault(state, err)
	case failure != nil:
		return state, idp.Failed{Failure: *failure}, nil
	}
	if n.Reply = &answer; a.noContinue {
		return a.follow(ctx, state, n)
	}
	return a.write(state, n, idp.Continue{})
}

// follow returns the event after an answer, and fetches what else it needs.
func (a *adapter) follow(ctx context.Context, state idp.State, n noted) (idp.State, idp.Event, error) {
	if err := a.reach(ctx); err != nil {
		return a.fault(state, err)
	}
	r := *n.Reply
	same := a.Traits(n.Method).CMS || string(r.Certificate) == string(n.Certificate) || a.missesRenewal
	if n.Signing && same {
		return state, idp.Signed{Values: r.Values}, nil
	}
	if n.Signing && n.Method == idp.App { // its code would be another
		return state, idp.Failed{Failure: idp.Failure{Code: idp.CertificateValidationError}}, nil
	}
	n.Certificate, n.Reply, n.Asked = r.Certificate, nil, false
	return a.needDigest(state, n)
}

func (a *adapter) ask(ctx context.Context, state idp.State, n noted) (idp.State, idp.Event, error) {
	id, failure, err := a.network.ask(ctx, prompt{kennitala: n.Kennitala, digests: n.Digests, asCMS: a.Traits(n.Method).CMS})
	if err != nil {
		return a.fault(state, err)
	}
	if failure != nil {
		return state, idp.Failed{Failure: *failure}, nil
	}
	n.Prompt, n.Reply, n.Asked = id, nil, true
	return a.write(state, n, n.waiting())
}

func (a *adapter) fault(state idp.State, err error) (idp.State, idp.Event, error) {
	if a.fatalFaults {
		return state, idp.Failed{Failure: idp.Failure{Code: idp.CommunicationError}}, nil
	}
	return state, nil, err
}

func (n noted) waiting() idp.Event { return idp.Waiting{Code: n.Code, RetryAfter: networkDelay} }

func (a *adapter) needDigest(state idp.State, n noted) (idp.State, idp.Event, error) {
	event := idp.NeedDigest{Code: n.Code}
	if !a.Traits(n.Method).CMS {
		var err error
		if event.Certificate, err = x509.ParseCertificate(n.Certificate); err != nil {
			return state, nil, err
		}
	}
	return a.write(state, n, event)
}

// Notification reads the key from the path and the secret from the header.
func (a *adapter) Notification(r *http.Request) (string, func(idp.State) bool, error) {
	secret := r.Header.Get("Authorization")
	return r.URL.Path, func(s idp.State) bool {
		n, err := a.read(s)
		return err == nil && n.Ping == secret
	}, nil
}

type note struct {
	Kennitala   string
	Method      idp.Method
	Code        string
	Asked       bool // a person is
	Signing     bool
	Certificate []byte
	Digests     []ades.Digest
}

type sealedNote struct {
	Prompt, Ping string
	Reply        *reply
}

// noted is the content of a State.
type noted struct {
	note
	sealedNote
}

func (a *adapter) write(state idp.State, n noted, event idp.Event) (idp.State, idp.Event, error) {
	var err, sealing error
	state.Public, err = json.Marshal(n.note)
	state.Secret, sealing = json.Marshal(n.sealedNote)
	return state, event, errors.Join(err, sealing)
}

func (a *adapter) read(state idp.State) (n noted, err error) {
	version := state.Version
	if a.oldStates && version == 0 {
		version = 1
	}
	if !a.anyState && (state.Provider != "network" || version != 1) {
		return n, errors.New("the state is another's")
	}
	if err := errors.Join(json.Unmarshal(state.Public, &n.note), json.Unmarshal(state.Secret, &n.sealedNote)); err != nil && !a.anyState {
		return n, err
	}
	if _, ok := a.people[n.Kennitala]; !ok && !a.anyState {
		return n, errors.New("the state belongs to no conversation")
	}
	return n, nil
}
