package signing_test

import (
	"bytes"
	"context"
	"crypto"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/json"
	"errors"
	"io"
	"math/big"
	"net/http"
	"time"

	"github.com/innsigli/innsigli/internal/pki/ocsp"
	"github.com/innsigli/innsigli/internal/pki/tsp"
)

// answer is what stands at an address.
type answer func(*http.Request) (*http.Response, error)

func posted(respond func(request []byte) []byte) answer {
	return func(r *http.Request) (*http.Response, error) {
		if r.Method != http.MethodPost {
			return status(http.StatusMethodNotAllowed)(r)
		}
		request, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		return body(respond(request))(r)
	}
}

func made(document func() ([]byte, error)) answer {
	return func(r *http.Request) (*http.Response, error) {
		der, err := document()
		if err != nil {
			return nil, err
		}
		return body(der)(r)
	}
}

func body(content []byte) answer {
	return func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(bytes.NewReader(content)), Request: r}, nil
	}
}

func status(code int) answer {
	return func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: code, Body: http.NoBody, Request: r}, nil
	}
}

func down(*http.Request) (*http.Response, error) { return nil, errors.New("connection refused") }

// slow answers no request before it is cancelled.
func slow(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// after is an answer that takes a while.
func after(d time.Duration, a answer) answer {
	return func(r *http.Request) (*http.Response, error) {
		select {
		case <-time.After(d): // time: in bubbles alone
			return a(r)
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	}
}

// unfinished is half of an answer, of which the rest does not come.
func unfinished(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: stalled{r.Context()}, Request: r}, nil
}

type stalled struct{ context.Context }

func (s stalled) Read([]byte) (int, error) {
	<-s.Done()
	return 0, s.Err()
}

func (stalled) Close() error { return nil }

// toItself redirects to the address that was asked (RFC 9110 15.4.8).
func toItself(r *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: http.StatusTemporaryRedirect, Header: http.Header{"Location": {r.URL.String()}}, Body: http.NoBody, Request: r,
	}, nil
}

// stamps is a timestamp authority that answers what change makes of each request, nil
// for the request itself, with a clock that is off.
func (n *network) stamps(u tsp.Unit, change func(*tsp.Request), offset time.Duration) answer {
	return posted(func(request []byte) []byte {
		if change != nil {
			r, err := tsp.ParseRequest(request)
			n.must(err)
			change(&r)
			request, err = r.Marshal()
			n.must(err)
		}
		return u.Respond(request, time.Now().Add(offset))
	})
}

// says is a responder that answers good about everything, but for what change makes of
// it (RFC 6960 4.2.1).
func (n *network) says(change func(*ocsp.Response)) answer {
	return n.saysBy(x509.ExtKeyUsageOCSPSigning, change)
}

// saysBy is such a responder with a certificate for a purpose, which may be another.
func (n *network) saysBy(purpose x509.ExtKeyUsage, change func(*ocsp.Response)) answer {
	key, template := n.newKey(), profile("A responder")
	template.ExtKeyUsage = []x509.ExtKeyUsage{purpose}
	template.ExtraExtensions = []pkix.Extension{{Id: asn1.ObjectIdentifier{1, 3, 6, 1, 5, 5, 7, 48, 1, 5}, Value: asn1.NullBytes}}
	cert, err := n.ca.IssueProfile(template, key.Public())
	n.must(err)
	return posted(func(der []byte) []byte {
		request, err := ocsp.ParseRequest(der)
		n.must(err)
		now := time.Now()
		r := ocsp.Response{ProducedAt: now, Nonce: request.Nonce, Certificates: []*x509.Certificate{cert}}
		for _, id := range request.IDs {
			r.Singles = append(r.Singles, ocsp.Single{ID: id, ThisUpdate: now, NextUpdate: now.Add(time.Hour)})
		}
		change(&r)
		response, err := ocsp.Create(r, cert, key)
		n.must(err)
		return response
	})
}

// single changes the answer about the certificate that was asked about.
func single(change func(*ocsp.Single)) func(*ocsp.Response) {
	return func(r *ocsp.Response) { change(&r.Singles[0]) }
}

// listed is a list of the phone's issuing authority, with other times or contents than
// that one gives it.
func (n *network) listed(template x509.RevocationList) answer {
	n.t.Helper()
	template.Number = big.NewInt(time.Now().Unix())
	der, err := x509.CreateRevocationList(rand.Reader, &template, n.ca.Chain()[0], n.issuingKey())
	n.must(err)
	return body(der)
}

// issuingKey is in the encoding of the authority.
func (n *network) issuingKey() crypto.Signer {
	n.t.Helper()
	encoded, err := n.ca.MarshalBinary()
	n.must(err)
	var stored struct{ IssuingKey []byte }
	n.must(json.Unmarshal(encoded, &stored))
	key, err := x509.ParsePKCS8PrivateKey(stored.IssuingKey)
	n.must(err)
	return key.(crypto.Signer)
}

// padding is an unknown extension, to make a list as large as is wanted.
func padding(size int) []pkix.Extension {
	return []pkix.Extension{{Id: asn1.ObjectIdentifier{2, 999, 2}, Value: make([]byte, size)}}
}
