package audkenni

import (
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/idp/ciba"
)

// newConversation returns a conversation before its first request.
func (p *Provider) newConversation(key string, person idp.Person, text idp.Text) (*conversation, error) {
	person.Kennitala = idp.KennitalaFromIdentifier(person.Kennitala)
	c := &conversation{key: key, expires: time.Now().Add(initialLifetime).UTC()}
	c.Person, c.Phase = person, ready
	c.Document = truncate(singleLine(text.Document), maxLongText)
	switch {
	case person.Kennitala == "":
		return nil, errors.New("audkenni: the person has no kennitala")
	case person.Method == idp.SIM && p.options.SIM.Hint.value(person) == "":
		return nil, fmt.Errorf("audkenni: %s: the person has no phone number", idp.SIM)
	case !p.options.Ping:
		return c, nil
	}
	var err error
	c.Notification, err = newNotificationToken(key)
	return c, err
}

// value returns the login_hint for a person.
func (h Hint) value(person idp.Person) string {
	switch h {
	case HintKennitala:
		return person.Kennitala
	case HintLocalPhone:
		if local, ok := idp.LocalPhone(person.Phone); ok {
			return local
		}
	}
	return person.Phone
}

const (
	providerName = "audkenni"
	stateVersion = 1

	// initialLifetime is the lifetime of a conversation before its first request. Later, Auðkenni determines it.
	initialLifetime = 10 * time.Minute
)

// errState is the error of a state that cannot be parsed. It has no details, which could contain a secret.
var errState = errors.New("audkenni: the state cannot be read")

// phase is the phase of a conversation between calls.
type phase string

const (
	choosing phase = "choosing" // the request for the app's certificate is open
	learning phase = "learning" // the request for the SIM's certificate is open
	ready    phase = "ready"    // the caller can prepare the digest
	signing  phase = "signing"  // the request for the signature is open
)

// conversation is the content of a State.
type conversation struct {
	public
	secret
	key     string
	expires time.Time
}

// public is the part that may be stored in the clear.
type public struct {
	Person      idp.Person    `json:"person"`
	Document    string        `json:"document"` // its name, truncated
	Phase       phase         `json:"phase"`
	CMS         bool          `json:"cms,omitempty"`         // the answer is a CMS
	Interval    time.Duration `json:"interval,omitempty"`    // between polls, with the increases of slow_down
	Code        string        `json:"code,omitempty"`        // verification code
	Certificate []byte        `json:"certificate,omitempty"` // DER, once known
	Device      string        `json:"device,omitempty"`      // documentNr of the chosen device
	Digest      []byte        `json:"digest,omitempty"`      // of the last request
	Renewals    int           `json:"renewals,omitempty"`    // the number of times that the certificate changed
	// LostRequests is the number of requests for which it is not known whether Auðkenni received them.
	LostRequests int `json:"unheard,omitempty"`
}

// secret is the part with which an answer can be fetched and a ping can be sent.
type secret struct {
	AuthReqID    string       `json:"auth_req_id,omitempty"` // of the last request; empty: none yet
	Tokens       *ciba.Tokens `json:"tokens,omitempty"`      // the token response to it, which Auðkenni gives only once
	Notification string       `json:"notification,omitempty"`
}

// state encodes the conversation.
func (c *conversation) state() (idp.State, error) {
	s := idp.State{Provider: providerName, Version: stateVersion, Key: c.key, Expires: c.expires}
	var err error
	if s.Public, err = json.Marshal(c.public); err != nil {
		return s, fmt.Errorf("audkenni: encoding the state: %w", err)
	}
	if s.Secret, err = json.Marshal(c.secret); err != nil {
		return s, fmt.Errorf("audkenni: encoding the state: %w", err)
	}
	return s, nil
}

// resume decodes the conversation of a state.
func resume(s idp.State) (*conversation, error) {
	if s.Provider != providerName || s.Version != stateVersion {
		return nil, fmt.Errorf("audkenni: the state of %q, version %d, was not made by this provider", s.Provider, s.Version)
	}
	c := &conversation{key: s.Key, expires: s.Expires}
	if err := json.Unmarshal(s.Public, &c.public); err != nil {
		return nil, errState
	}
	if err := json.Unmarshal(s.Secret, &c.secret); err != nil {
		return nil, errState
	}
	if !c.valid() {
		return nil, errState
	}
	return c, nil
}

// valid reports whether the conversation has a method, a phase, and a request if the phase needs one.
func (c *conversation) valid() bool {
	switch c.Person.Method {
	case idp.App, idp.SIM:
	default:
		return false
	}
	switch c.Phase {
	case ready:
		return true
	case choosing, learning, signing:
		return c.AuthReqID != ""
	}
	return false
}

// certificate returns the signing certificate, or nil if the answer is a CMS.
func (c *conversation) certificate() (*x509.Certificate, error) {
	if c.CMS {
		return nil, nil
	}
	cert, err := x509.ParseCertificate(c.Certificate)
	if err != nil {
		return nil, errState
	}
	return cert, nil
}

// setRequest records an accepted request.
func (c *conversation) setRequest(next phase, a ciba.Acknowledgement, now time.Time) {
	if expires := now.Add(a.ExpiresIn).UTC(); c.AuthReqID == "" || expires.After(c.expires) {
		c.expires = expires
	}
	c.Phase, c.AuthReqID, c.Tokens = next, a.ID, nil
	c.Interval = max(c.Interval, a.Interval)
}

// setCertificate records the certificate that will sign.
func (c *conversation) setCertificate(cert *x509.Certificate) {
	c.Phase, c.Certificate, c.Tokens = ready, cert.Raw, nil
}

// needDigest returns the event that asks the caller for the digest.
func (c *conversation) needDigest() (idp.Event, error) {
	cert, err := c.certificate()
	if err != nil {
		return nil, err
	}
	return idp.NeedDigest{Certificate: cert, Code: c.Code}, nil
}
