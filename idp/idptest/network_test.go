package idptest

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/internal/pki/cms"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
)

// network is an identity provider that gives each answer once and supports everything that a Backend can provide. A
// person's certificate is only in answers.
type network struct {
	mu      sync.Mutex
	broken  bool
	people  map[string]*party
	prompts map[string]*prompt
}

type party struct {
	need        Need
	key         *ecdsa.PrivateKey
	certificate *x509.Certificate
}

type prompt struct {
	kennitala string
	digests   []ades.Digest
	ready     time.Time
	asCMS     bool
}

// reply is the answer to a prompt.
type reply struct {
	Values      [][]byte
	Certificate []byte
}

var (
	errUnreachable = errors.New("the provider cannot be reached")
	errPending     = errors.New("pending")
)

const (
	networkDelay  = 2 * time.Second
	networkExpiry = time.Minute
)

func newNetwork() *network {
	return &network{people: map[string]*party{}, prompts: map[string]*prompt{}}
}

// add adds a person who behaves as needed.
func (n *network) add(t testing.TB, need Need) idp.Person {
	p := idp.Person{Kennitala: fmt.Sprintf("%010d", len(n.people)+1), Phone: "5550101"}
	n.people[p.Kennitala] = &party{need: need}
	n.renew(t, p)
	return p
}

func (n *network) renew(t testing.TB, p idp.Person) {
	person := n.people[p.Kennitala]
	person.key = certtest.NewKey(t, elliptic.P256())
	person.certificate = certtest.Issue(t, x509.Certificate{Subject: pkix.Name{SerialNumber: p.Kennitala}}, person.key, nil, nil)
}

// reach returns an error while there is a network fault, or after the context has ended.
func (n *network) reach(ctx context.Context) error {
	if n.broken {
		return errUnreachable
	}
	return ctx.Err()
}

// ask starts a prompt. The person signs its digests, if there are any.
func (n *network) ask(ctx context.Context, p prompt) (id string, failure *idp.Failure, err error) {
	if err := n.reach(ctx); err != nil {
		return "", nil, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.people[p.kennitala].need == Unknown {
		return "", &idp.Failure{Code: idp.UserNotFound}, nil
	}
	id, p.ready = rand.Text(), time.Now().Add(networkDelay)
	n.prompts[id] = &p
	return id, nil, nil
}

// take returns the answer, once.
func (n *network) take(ctx context.Context, id string) (reply, *idp.Failure, error) {
	if err := n.reach(ctx); err != nil {
		return reply{}, nil, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	p, ok := n.prompts[id]
	if !ok {
		return reply{}, &idp.Failure{Code: idp.InvalidGrant}, nil
	}
	person := n.people[p.kennitala]
	if person.need == Silent && time.Now().After(p.ready.Add(networkExpiry)) {
		return reply{}, &idp.Failure{Code: idp.ExpiredToken}, nil
	}
	if person.need == Silent || time.Now().Before(p.ready) {
		return reply{}, nil, errPending
	}
	if person.need == Refuses {
		return reply{}, &idp.Failure{Code: idp.UserCancelled, OAuth: "access_denied"}, nil
	}
	delete(n.prompts, id)
	return person.sign(p), nil, nil
}

func (p *party) sign(asked *prompt) reply {
	r := reply{Certificate: p.certificate.Raw}
	for _, d := range asked.digests {
		if asked.asCMS {
			r.Values = append(r.Values, p.signCMS(d))
		} else {
			r.Values = append(r.Values, p.value(d))
		}
	}
	return r
}

func (p *party) value(d ades.Digest) []byte {
	value, err := p.key.Sign(rand.Reader, d.Sum, d.Algorithm.SignerOpts())
	if err != nil {
		panic(err) // P-256 signs any digest
	}
	return value
}

// signCMS returns a CMS for a document's digest.
func (p *party) signCMS(d ades.Digest) []byte {
	attributes, err := cms.SignedAttributes(p.certificate, d.Algorithm, d.Sum)
	if err != nil {
		panic(err) // the digest is one of the algorithm's
	}
	encoded, err := cms.Marshal(cms.Parts{
		Certificate: p.certificate, Algorithm: d.Algorithm, SignedAttributes: attributes,
		Value: p.value(d.Algorithm.Digest(attributes)),
	})
	if err != nil {
		panic(err)
	}
	return encoded
}
