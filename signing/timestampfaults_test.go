package signing_test

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/tsp"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
)

// atTSA is a timestamp authority that answers wrongly.
func atTSA(name string, wrong func(n *network) answer) fault {
	return fault{name: name, happens: func(n *network) { n.set(tsa, wrong(n)) }, t: pending, lt: pending}
}

func patient(f fault) fault {
	f.slow = true
	return f
}

// always is an answer that depends on nothing.
func always(a answer) func(*network) answer { return func(*network) answer { return a } }

// asking is an authority that answers another request than the one it got.
func asking(change func(*tsp.Request)) func(*network) answer {
	return func(n *network) answer { return n.stamps(n.unit, change, 0) }
}

// certified is an authority with another certificate.
func certified(change func(*x509.Certificate)) func(*network) answer {
	return func(n *network) answer {
		template := timestamping()
		change(template)
		return n.stamps(n.newUnit(n.ca, template), nil, 0)
	}
}

// timestampFaults are the faults of an authority that a client of it can see (RFC 3161 2.3 and
// 2.4.2). None is told from an outage: an authority that is mended may answer rightly.
var timestampFaults = []fault{
	atTSA("TSA down", always(down)),
	patient(atTSA("TSA slow", always(slow))),
	patient(atTSA("TSA hangs while it answers", always(unfinished))),
	atTSA("TSA has an internal error", always(status(http.StatusInternalServerError))),
	atTSA("TSA is not at the address", always(status(http.StatusNotFound))),
	atTSA("TSA asks for a login", always(status(http.StatusUnauthorized))),
	atTSA("TSA redirects to itself", always(toItself)),
	atTSA("TSA answers garbage", always(body([]byte("<html>Under maintenance</html>")))),
	atTSA("TSA answers nothing", always(body(nil))),
	atTSA("TSA answers 10 MB", always(body(make([]byte, 10<<20)))),
	atTSA("TSA refuses", always(body([]byte{0x30, 9, 0x30, 7, 2, 1, 2, 3, 2, 5, 0x20}))), // rejection, badRequest
	atTSA("TSA refuses for now", always(body([]byte{0x30, 10, 0x30, 8, 2, 1, 2, 3, 3, 1, 0, 2}))),
	atTSA("TSA lies: another nonce", asking(func(r *tsp.Request) { r.Nonce.Add(r.Nonce, r.Nonce) })),
	atTSA("TSA lies: no nonce", asking(func(r *tsp.Request) { r.Nonce = nil })),
	atTSA("TSA lies: another imprint", asking(func(r *tsp.Request) { r.Sum = slices.Repeat([]byte{1}, len(r.Sum)) })),
	atTSA("TSA lies: a signature that is wrong", func(n *network) answer {
		return posted(func(request []byte) []byte {
			response := n.unit.Respond(request, time.Now())
			response[len(response)-1] ^= 1
			return response
		})
	}),
	atTSA("TSA lies: no certificate", asking(func(r *tsp.Request) { r.Certificates = false })),
	atTSA("TSA lies: time in the past", func(n *network) answer { return n.stamps(n.unit, nil, -2*time.Minute) }),
	atTSA("TSA lies: time in the future", func(n *network) answer { return n.stamps(n.unit, nil, 2*time.Minute) }),
	atTSA("TSA expired", certified(func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Second) })),
	atTSA("TSA with a usage that is not critical", certified(func(c *x509.Certificate) {
		c.ExtraExtensions = []pkix.Extension{purposes(false, timeStamping)}
	})),
	atTSA("TSA with a second usage", certified(func(c *x509.Certificate) {
		c.ExtraExtensions = []pkix.Extension{purposes(true, timeStamping, codeSigning)}
	})),
	atTSA("TSA without a usage", certified(func(c *x509.Certificate) { c.ExtraExtensions = nil })),
	atTSA("TSA under a root that is not trusted", func(n *network) answer {
		stranger, err := sandboxca.New(time.Now())
		n.must(err)
		return n.stamps(n.newUnit(stranger, timestamping()), nil, 0)
	}),
}

// longToken is no fault: what has no place in the signature stands beside it.
var longToken = fault{name: "TSA with a long token", t: delivered, lt: delivered, happens: func(n *network) {
	template, key := n.caTemplate("Long"), n.newKey()
	template.ExtraExtensions = padding(32 << 10)
	unit := n.unit
	unit.Chain = append(slices.Clone(unit.Chain), n.certify(template, key.Public(), template, key))
	n.set(tsa, n.stamps(unit, nil, 0))
}}

// spec 3.9, with one timestamp authority.
func TestFaultsOfATimestampAuthority(t *testing.T) {
	t.Parallel()
	testFaults(t, append(timestampFaults, longToken), func(n *network) service { return n.service(n.client(tsa, n.roots)) })
}

// Of an ordered list the next is asked: with a second authority, a client notices none of the
// faults, unless it polls before a slow authority was given up; the operator does. Level LTA takes
// two timestamps.
func TestSecondTimestampAuthority(t *testing.T) {
	for _, f := range timestampFaults {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				n := newNetwork(t)
				f.happens(n)
				s := n.service(n.client(tsa, n.roots), n.client(spareTSA, n.roots))
				s.background(t)
				id := s.atLevel(ades.LTA)
				r := s.poll(id)
				if f.slow {
					time.Sleep(time.Minute)
					r = s.poll(id)
				}
				n.checkLevel(r.Document, ades.LTA)
				if first, second := n.requests(tsa), n.requests(spareTSA); first < 2 || second != 2 {
					t.Errorf("the first was asked %d times, the second %d times", first, second)
				}
			})
		})
	}
}
