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

const (
	providerName = "audkenni"
	stateVersion = 1

	// unasked is how long a conversation lives in which nobody was asked yet. It is Auðkenni's
	// to say from then on.
	unasked = 10 * time.Minute
)

// errState does not say what is wrong with a state: that may be a secret.
var errState = errors.New("audkenni: the state cannot be read")

// phase is where a conversation is between calls.
type phase string

const (
	choosing phase = "choosing" // the app was asked for the certificate
	learning phase = "learning" // the SIM was asked to sign something, for its certificate
	ready    phase = "ready"    // what is needed for a digest is known
	signing  phase = "signing"  // the person was asked to sign the digest
)

// conversation is what a State holds.
type conversation struct {
	public
	secret
	key     string
	expires time.Time
}

// public is the part that may be read.
type public struct {
	Person      idp.Person    `json:"person"`
	Document    string        `json:"document"` // its name, as far as it is shown
	Phase       phase         `json:"phase"`
	CMS         bool          `json:"cms,omitempty"`         // is what was asked for
	Interval    time.Duration `json:"interval,omitempty"`    // between polls, as slow_down has made it
	Code        string        `json:"code,omitempty"`        // verification code
	Certificate []byte        `json:"certificate,omitempty"` // DER, once known
	Device      string        `json:"device,omitempty"`      // documentNr of the app that was chosen
	Digest      []byte        `json:"digest,omitempty"`      // the person was asked to sign last
	Renewals    int           `json:"renewals,omitempty"`    // how often the certificate turned out to be another
	Unheard     int           `json:"unheard,omitempty"`     // how often it is not known whether the person was asked
}

// secret is the part with which an answer can be fetched, and a ping be sent.
type secret struct {
	AuthReqID    string       `json:"auth_req_id,omitempty"` // of the last request; empty: nobody was asked yet
	Tokens       *ciba.Tokens `json:"tokens,omitempty"`      // its answer, which is given once
	Notification string       `json:"notification,omitempty"`
}

// state is the State that holds the conversation.
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

func resume(s idp.State) (*conversation, error) {
	if s.Provider != providerName || s.Version != stateVersion {
		return nil, fmt.Errorf("audkenni: state of %q version %d is not ours", s.Provider, s.Version)
	}
	c := &conversation{key: s.Key, expires: s.Expires}
	if err := json.Unmarshal(s.Public, &c.public); err != nil {
		return nil, errState
	}
	if err := json.Unmarshal(s.Secret, &c.secret); err != nil {
		return nil, errState
	}
	if !c.sound() {
		return nil, errState
	}
	return c, nil
}

// sound says whether the conversation is one that can come about.
func (c *conversation) sound() bool {
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

// certificate is the one that is signed with; nil where a CMS is the answer.
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

// asked notes that the person was asked.
func (c *conversation) asked(next phase, a ciba.Asked, now time.Time) {
	if expires := now.Add(a.ExpiresIn).UTC(); c.AuthReqID == "" || expires.After(c.expires) {
		c.expires = expires
	}
	c.Phase, c.AuthReqID, c.Tokens = next, a.ID, nil
	c.Interval = max(c.Interval, a.Interval)
}

// learnt notes the certificate that will sign.
func (c *conversation) learnt(cert *x509.Certificate) {
	c.Phase, c.Certificate, c.Tokens = ready, cert.Raw, nil
}

// needDigest asks the caller for the digest, for the first time or again.
func (c *conversation) needDigest() (idp.Event, error) {
	cert, err := c.certificate()
	if err != nil {
		return nil, err
	}
	return idp.NeedDigest{Certificate: cert, Code: c.Code}, nil
}
