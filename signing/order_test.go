package signing_test

import (
	"bytes"
	"crypto/x509"
	"encoding/json"
	"errors"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/signing"
)

// What the evidence log tells of an order that came to a signature.
var (
	landed  = []string{"accepted", "signed", "ended"}
	ordered = []string{"signature.asked", "signature.prepared", "signature.made", "signature.completed", "ledger"}
)

// Several people sign one document one after another, without any poll.
func TestOrders(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPhone(t)
		p.sign = func(s idp.State) (idp.State, idp.Event, error) { return s, idp.Waiting{Code: "0042"}, nil }
		o := newOrders(t, p, signing.Options{})
		o.background(t)
		for n := range 3 {
			before := o.content()
			id := o.mustOrder()
			order := strconv.Itoa(o.n)
			waits := o.progress(id)
			if left := time.Until(waits.Expires); left <= 0 || left > 290*time.Second { // spec 3.5
				t.Errorf("expires in %v", left)
			}
			if diff := cmp.Diff(signing.Progress{Order: order, Code: "0042", Expires: waits.Expires}, waits); diff != "" {
				t.Error(diff)
			}
			if _, err := o.order(); !errors.Is(err, errTaken) {
				t.Errorf("another order meanwhile: %v", err)
			}
			if r := o.poll(id); !r.Finished {
				t.Errorf("a client polls what it did not start: %+v", r)
			}
			asked := time.Now()
			time.Sleep(10 * time.Second)
			if diff := cmp.Diff(signing.Progress{Order: order, Done: true, Code: "0042"}, o.progress(id), cmpopts.IgnoreFields(signing.Progress{}, "Expires")); diff != "" {
				t.Error(diff)
			}
			o.tells(id, ordered...)
			o.wantSignatures(n + 1)
			o.wantTold(id, before, asked)
		}
		o.tells(property, append(append(landed, landed...), landed...)...)
		o.wantNoJobs()
		o.wantThere([]string{o.document}, true)
		if len(o.content()) == len(o.unsigned) || !bytes.HasPrefix(o.content(), o.unsigned) {
			t.Error("the document is another one")
		}
	})
}

// wantTold says what the owner was told last, and what the evidence log says of the request.
func (o *orders) wantTold(id string, before []byte, asked time.Time) {
	o.t.Helper()
	entries, err := o.db.EvidenceLog().Entries(o.t.Context(), property)
	if err != nil {
		o.t.Fatal(err)
	}
	var s signing.Signature
	if err := json.Unmarshal(entries[len(entries)-2].Facts, &s); err != nil {
		o.t.Fatal(err)
	}
	d, after := o.phone.digests[0], o.content()
	if err := d.Algorithm.Verify(o.phone.cert.PublicKey, d.Sum, s.Value); err != nil || !s.Certificate.Equal(o.phone.cert) {
		o.t.Errorf("the owner was told of another signature: %v", err)
	}
	if at := s.At.Sub(asked); s.Request != id || s.Bytes != int64(len(after)-len(before)) || at < 0 || at > 10*time.Second {
		o.t.Errorf("of %s, %d bytes, %v after it was asked for", s.Request, s.Bytes, at)
	}
	f := o.facts(id)
	for kind, content := range map[string][]byte{"signature.asked": before, "signature.completed": after} {
		if f[kind]["sha256"] != sha256Of(content) || f[kind]["size"] != float64(len(content)) {
			o.t.Errorf("%s tells of another document: %v", kind, f[kind])
		}
	}
	if f["ledger"]["ordered"] != true {
		o.t.Errorf("%v", f["ledger"])
	}
}

// spec 4.7: a signature counts when its document is stored, whatever it was made with, and
// what comes to nothing does not.
func TestLedgerOfWhatIsPolled(t *testing.T) {
	t.Parallel()
	p := newPhone(t)
	o := newOrders(t, p, signing.Options{IgnoreInterval: true})
	id := o.mustStart()
	o.checkSigned(o.poll(id).Document)
	o.tells(id, append(append([]string{}, ordered...), "signature.delivered")...)
	if f := o.facts(id)["ledger"]; f["ordered"] != false {
		t.Errorf("%v", f)
	}
	p.poll = cancels
	id = o.mustStart()
	o.poll(id)
	o.tells(id, "signature.asked", "signature.prepared", "signature.failed")
}

func cancels(s idp.State) (idp.State, idp.Event, error) {
	return s, idp.Failed{Failure: idp.Failure{Code: idp.UserCancelled}}, nil
}

// An order that comes to nothing ends at once, and the next one is accepted.
func TestOrdersThatFail(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*phone)
		after  time.Duration
		want   idp.ErrorCode
	}{
		"the person cancels": {func(p *phone) { p.poll = cancels }, 3 * time.Second, idp.UserCancelled},
		"no answer":          {func(p *phone) { p.poll = waits }, 5 * time.Minute, idp.ExpiredToken},
		"a wrong signature": {func(p *phone) {
			p.poll = func(s idp.State) (idp.State, idp.Event, error) {
				return s, idp.Signed{Values: [][]byte{[]byte("none")}}, nil
			}
		}, 3 * time.Second, idp.SignatureVerificationError},
		"two signatures": {func(p *phone) {
			p.poll = func(s idp.State) (idp.State, idp.Event, error) {
				return s, idp.Signed{Values: [][]byte{{1}, {2}}}, nil
			}
		}, 3 * time.Second, idp.InternalError},
		"another's certificate": {func(p *phone) { p.key, p.cert = p.issue("0101302479") }, 0, idp.CertificateValidationError},
		"a certificate of a TLS client": {func(p *phone) {
			p.key, p.cert = p.issueFor(x509.ExtKeyUsageClientAuth)
			p.sign = func(s idp.State) (idp.State, idp.Event, error) {
				p.t.Error("the person is asked to sign")
				return s, idp.Waiting{}, nil
			}
		}, 0, idp.CertificateValidationError},
		"a certificate for logging in": {func(p *phone) { p.key, p.cert = p.issueFor(x509.ExtKeyUsageAny) }, 0, idp.CertificateValidationError},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPhone(t)
				o := newOrders(t, p, signing.Options{})
				o.background(t)
				right := *p
				test.change(p)
				id := o.mustOrder()
				time.Sleep(test.after)
				if got := o.progress(id); !got.Done || got.Failure == nil || got.Failure.Code != test.want {
					t.Errorf("%+v: %+v", got, got.Failure)
				}
				o.tells(property, "accepted", "ended")
				o.wantNoJobs()
				p.key, p.cert, p.poll, p.sign = right.key, right.cert, right.poll, right.sign
				o.mustOrder()
				time.Sleep(5 * time.Second)
				o.wantSignatures(1)
			})
		})
	}
}

// Certificates for logging in sign where that was chosen.
func TestCertificateForLoggingIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPhone(t)
		p.key, p.cert = p.issueFor(x509.ExtKeyUsageAny)
		o := newOrders(t, p, signing.Options{AllowDigitalSignature: true})
		o.background(t)
		o.mustOrder()
		time.Sleep(5 * time.Second)
		o.wantSignatures(1)
	})
}
