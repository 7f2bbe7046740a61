package httpapi_test

import (
	"bytes"
	"net/http"
	"testing"
	"time"
)

// spec 1.8: a start for XML that is repeated is answered as before, and signs once. Another packing
// makes it another body.
func TestSameKeyAndBodyOfXML(t *testing.T) {
	t.Parallel()
	for _, method := range methods {
		t.Run(method, func(t *testing.T) {
			bubble(t, wiring{}, func(t *testing.T, s *server) {
				c := s.signer(t)
				c.user(person)
				body := xmlBody(method, []byte(order)).with(fields{packing: "Enveloping", level: "Lta"})
				first := c.startWithKey("the order", body)
				id := c.member(first, "pollingId")
				c.wantSame(first, c.startWithKey("the order", body))
				c.wantProblem(c.startWithKey("the order", body.with(fields{packing: "Enveloped"})), http.StatusUnprocessableEntity, "Idempotency key was used")
				c.wantDocuments(1)
				if method == idpApp {
					c.wantFailure(c.poll(id), pending)
					c.wantSame(first, c.startWithKey("the order", body))
				}
				c.signature(c.signed(c.poll(id)))
				time.Sleep(24*time.Hour - time.Minute)
				c.login()
				c.wantSame(first, c.startWithKey("the order", body))
				c.wantFinished(id)
				c.wantDocuments(0)
			})
		})
	}
}

// spec 3.11: two people sign one XML file one after another, through a busy signal.
func TestTwoPeopleSignOneXML(t *testing.T) {
	t.Parallel()
	s := start(t, wiring{})
	for _, packed := range []string{"Enveloped", "Enveloping", "InternallyDetached"} {
		t.Run(packed, func(t *testing.T) {
			c, first, second := pair(t, s)
			xml := fields{"file.type": "Xml", "file.name": "order.xml", "file.contentB64": []byte(order), packing: packed}
			first, second = first.with(xml), second.with(xml)
			id := c.begin(first.with(fields{"busySignal.userId": "one"}))
			c.wantHeld(c.start(second), "one")
			c.wantHeld(c.start(first), "one")
			c.wantDocuments(1) // of the refused starts nothing is left
			twice := c.sign(second.with(fields{"file.contentB64": c.signed(c.poll(id))}))
			names := map[string]bool{}
			for _, s := range c.signatures(twice) {
				names[s.Certificate.Subject.CommonName] = true
			}
			diff(t, "signers", map[string]bool{"First Signer": true, "Second Signer": true}, names)
			if !bytes.Contains(twice, []byte(orderText)) {
				t.Error("the text was changed")
			}
			c.sign(first) // the signal is free
			c.wantDocuments(0)
		})
	}
}

// XML that cannot be signed frees the signal when it is told.
func TestBusySignalAfterXMLThatCannotBeSigned(t *testing.T) {
	t.Parallel()
	c, first, second := pair(t, start(t, wiring{}))
	id := c.begin(first.with(fields{"file.type": "Xml", "file.contentB64": []byte("<!DOCTYPE order><order/>")}))
	c.wantHeld(c.start(second), nil)
	c.wantFailure(c.poll(id), unreadable)
	c.sign(second)
}
