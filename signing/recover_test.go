package signing_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
	postgrestest "github.com/innsigli/innsigli/internal/test/postgres"
	"github.com/innsigli/innsigli/signing"
)

// keptForRecovery checks that the value of a request that ended is kept, and nothing of the conversation.
func (s service) keptForRecovery(id string) {
	s.t.Helper()
	r, err := s.db.Requests().Request(s.t.Context(), id)
	if err != nil || r.Phase != signing.Ended {
		s.t.Fatalf("%s, %v", r.Phase, err)
	}
	if r.Pending == nil || r.Value == nil || r.State.Public != nil || r.State.Secret != nil || r.Stamp != nil {
		s.t.Errorf("%+v", r)
	}
}

// recovered returns the document that an operator gets of a request. The evidence log has it before the first byte of it.
func (s service) recovered(id string) []byte {
	s.t.Helper()
	before := s.kinds(id)
	var document bytes.Buffer
	begun := writerFunc(func(p []byte) (int, error) {
		if document.Len() == 0 {
			s.tells(id, append(before, "signature.recovered")...)
		}
		return document.Write(p)
	})
	if err := s.Recover(s.t.Context(), id, begun); err != nil {
		s.t.Fatal(err)
	}
	s.tells(id, append(before, "signature.recovered")...)
	entries, err := s.db.EvidenceLog().Entries(s.t.Context(), id)
	sum := sha256.Sum256(document.Bytes())
	if want := fmt.Sprintf(`"sha256":"%x","size":%d`, sum, document.Len()); err != nil || !strings.Contains(string(entries[len(entries)-1].Facts), want) {
		s.t.Errorf("%v, the last of %v has not %s", err, entries, want)
	}
	return document.Bytes()
}

// writerFunc is a writer.
type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// renew gives the authorities new certificates and the list of now, and has them answer as they should.
func (n *network) renew() {
	n.t.Helper()
	n.publish(caHost, n.ca)
	n.unit = n.newUnit(n.ca, timestamping())
	n.restore()
}

// outOfTime polls a request until its time for completing is over, and returns the description of its failure.
func (s service) outOfTime(id string) (description string) {
	s.t.Helper()
	s.pending(id, "while sources are down")
	time.Sleep(16 * time.Minute)
	err := s.Poll(s.t.Context(), account, id, func(a signing.Answer) error {
		if a.Failure.Code != idp.InternalError {
			s.t.Errorf("%+v", a.Failure)
		}
		description = a.Failure.Description
		return nil
	})
	if err != nil {
		s.t.Error(err)
	}
	return description
}

// spec 3.9: a signature whose sources do not answer in time fails and says which they were. An operator completes it
// when they answer, as often as needed. The client hears no more of it, and the person is not asked again.
func TestRecover(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		level  ades.Level
		format signing.Format
		cut    func(n *network)
		reason string
		stamps int // timestamps that recovering twice asks for
	}{
		"LT, TSA down": {ades.LT, signing.PDF, func(n *network) { n.set(tsa, down) },
			"the timestamp authority at tsa.test could not be reached, or did not answer", 2},
		"LTA, TSA refuses": {ades.LTA, signing.PDF, func(n *network) { n.set(tsa, status(403)) },
			"the timestamp authority at tsa.test refused the request", 4},
		"T, TSA answers garbage": {ades.T, signing.PDF, func(n *network) { n.set(tsa, body([]byte("<html>"))) },
			"the timestamp authority at tsa.test gave an answer that is not valid", 2},
		"LT, responder and list down": {ades.LT, signing.PDF, func(n *network) { n.set(responder, slow); n.set(list, down) },
			"the OCSP responder at ca.test could not be reached, or did not answer; the CRL at ca.test could not be reached, or did not answer", 0},
		"B, responder refuses, list is missing": {ades.B, signing.PDF, func(n *network) { n.set(responder, status(401)); n.set(list, status(404)) },
			"the OCSP responder at ca.test refused the request; the CRL at ca.test refused the request", 0},
		"XML, LT, TSA down": {ades.LT, signing.XML, func(n *network) { n.set(tsa, down) },
			"the timestamp authority at tsa.test could not be reached, or did not answer", 2},
		"XML, LTA, responder and list answer garbage": {ades.LTA, signing.XML, func(n *network) { n.set(responder, body([]byte("x"))); n.set(list, body([]byte("x"))) },
			"the OCSP responder at ca.test gave an answer that is not valid; the CRL at ca.test gave an answer that is not valid", 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := newNetwork(t)
				var last signing.Step
				options := n.options(n.client(tsa, n.roots))
				options.OnStep = func(_ context.Context, step signing.Step) { last = step }
				s := newService(t, n.phone, options)
				s.format = row.format
				s.background(t)
				id := s.atLevel(row.level)
				row.cut(n)
				description := s.outOfTime(id)
				if want := "The signature could not be completed: " + row.reason + "."; description != want {
					t.Errorf("got %q\nwant %q", description, want)
				}
				if reason := s.facts(id)["signature.failed"]["reason"]; reason != row.reason || last.Reason != row.reason || last.Err == nil {
					t.Errorf("evidence %q, step %+v", reason, last)
				}
				if r := s.poll(id); !r.Finished {
					t.Errorf("%+v", r)
				}
				s.keptForRecovery(id)

				var nothing bytes.Buffer
				incomplete := new(signing.CompletionError)
				if err := s.Recover(t.Context(), id, &nothing); !errors.As(err, &incomplete) || !strings.Contains(incomplete.Reason, row.reason) || nothing.Len() > 0 {
					t.Errorf("while the sources are down: %v, %d bytes", err, nothing.Len())
				}
				n.restore()
				calls, asked := n.calls, n.requests(tsa)
				for range 2 {
					document := s.recovered(id)
					s.checkSigned(document)
					format := "PAdES-BASELINE-" + row.level.String()
					if row.format == signing.XML {
						format = "XAdES-BASELINE-" + row.level.String()
					}
					if got := verified(t, document, n.roots).Signatures[0].Format; got != format {
						t.Errorf("got %s, want %s", got, format)
					}
				}
				if n.calls != calls || n.requests(tsa)-asked != row.stamps {
					t.Errorf("%d calls of the phone, %d timestamps", n.calls-calls, n.requests(tsa)-asked)
				}
				s.tells(id, "signature.asked", "signature.prepared", "signature.made", "signature.failed", "signature.recovered", "signature.recovered")
				if r := s.poll(id); !r.Finished {
					t.Errorf("%+v", r)
				}
			})
		})
	}
}

// spec 7.2: what an operator may complete is kept for as long as requests are, from its end, and then deleted.
func TestRecoverUntilSwept(t *testing.T) {
	t.Parallel()
	for name, polled := range map[string]bool{"the client heard of it": true, "the client did not come": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := newNetwork(t)
				s := n.service(n.client(tsa, n.roots))
				s.background(t)
				id := s.atLevel(ades.LT)
				n.set(tsa, down)
				s.pending(id, "while the TSA is down")
				time.Sleep(16 * time.Minute)
				if polled {
					s.poll(id)
				} else if _, err := s.start(); err != nil { // which clears it
					t.Fatal(err)
				}
				n.restore()
				sweep := func() {
					t.Helper()
					for more := 1; more > 0; {
						var err error
						if more, err = s.Sweep(t.Context()); err != nil {
							t.Fatal(err)
						}
					}
				}
				time.Sleep(24*time.Hour - time.Second)
				sweep()
				n.renew()
				s.checkSigned(s.recovered(id))
				time.Sleep(2 * time.Second)
				sweep()
				if err := s.Recover(t.Context(), id, new(bytes.Buffer)); !errors.Is(err, signing.ErrUnknown) {
					t.Error(err)
				}
				time.Sleep(time.Hour)
				sweep()
				if left := s.documents(); left != 0 {
					t.Errorf("%d documents", left)
				}
			})
		})
	}
}

// A signature is recovered by one server while another deletes its request.
func TestRecoverWhileSwept(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork(t)
		options := n.options(n.client(tsa, n.roots))
		s := newService(t, n.phone, options)
		s.background(t)
		id := s.atLevel(ades.LT)
		n.set(tsa, down)
		s.outOfTime(id)
		other := onStore(t, s.db, n.phone, signing.Options{Keep: time.Hour})
		n.restore()
		stamped := n.stamps(n.unit, nil, 0)
		n.set(tsa, func(r *http.Request) (*http.Response, error) {
			time.Sleep(2 * time.Hour)
			if swept, err := other.Sweep(t.Context()); swept != 1 || err != nil {
				t.Errorf("swept %d, %v", swept, err)
			}
			return stamped(r)
		})
		var document bytes.Buffer
		err := s.Recover(t.Context(), id, &document)
		if err == nil || document.Len() > 0 {
			t.Errorf("%v, and %d bytes, which the evidence log cannot have", err, document.Len())
		}
		if err := s.Recover(t.Context(), id, &document); !errors.Is(err, signing.ErrUnknown) {
			t.Error(err)
		}
	})
}

// The signature of an order does not come into the owner's document once the order has ended. The operator gets the
// document that the person signed, also if another has signed since.
func TestRecoverOrder(t *testing.T) {
	t.Parallel()
	for name, cut := range map[string]func(n *network){
		"TSA down": func(n *network) { n.set(tsa, down) },
		"responder and list down, after a timestamp": func(n *network) { n.set(responder, down); n.set(list, down) },
	} {
		for _, signedSince := range []bool{false, true} {
			t.Run(fmt.Sprint(name, ", another signed since: ", signedSince), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					n := newNetwork(t)
					o := newOrders(t, n.phone, n.options(n.client(tsa, n.roots)))
					o.drive(o.mustOrder())
					cut(n)
					id := o.mustOrder()
					for began := time.Now(); time.Since(began) < 13*time.Hour; o.work(t.Context()) {
						time.Sleep(30 * time.Minute)
					}
					failed := o.progress(id)
					if !failed.Done || failed.Failure == nil || failed.Failure.Code != idp.InternalError {
						t.Fatalf("%+v", failed)
					}
					n.restore()
					if signedSince {
						o.drive(o.mustOrder())
					}
					before := o.content()
					document := o.recovered(id)
					report := verified(t, document, n.roots)
					if len(report.Signatures) != 2 || !report.Passed() || report.Signatures[1].Format != "PAdES-BASELINE-LT" {
						t.Errorf("%+v", report.Signatures)
					}
					if !bytes.Equal(o.content(), before) {
						t.Error("the owner's document was changed")
					}
					o.tells(id, append(unsettled, "signature.recovered")...)
					if got := o.progress(id); !got.Done || *got.Failure != *failed.Failure {
						t.Errorf("%+v", got)
					}
					o.wantNoJobs()
				})
			})
		}
	}
}

// A cancelled order keeps no signature, nor does one whose document was deleted, or whose signature is wrong, or
// that has another reason.
func TestNotRecoverable(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork(t)
		s := n.service(n.client(tsa, n.roots))
		wantNot := func(id, why string) {
			t.Helper()
			var document bytes.Buffer
			if err := s.Recover(t.Context(), id, &document); !errors.Is(err, signing.ErrNotRecoverable) || !strings.Contains(err.Error(), why) || document.Len() > 0 {
				t.Errorf("got %v, %d bytes, want %q", err, document.Len(), why)
			}
		}
		id := s.atLevel(ades.LT)
		wantNot(id, "has not signed")
		n.set(tsa, down)
		s.pending(id, "while the TSA is down")
		wantNot(id, "the server still tries to complete it, until")
		n.restore()
		s.background(t)
		time.Sleep(time.Minute)
		wantNot(id, "the client has not fetched it yet")
		s.checkSigned(s.poll(id).Document)
		wantNot(id, "it has ended")

		n.phone.poll = func(st idp.State) (idp.State, idp.Event, error) {
			return st, idp.Signed{Values: [][]byte{make([]byte, 64)}}, nil
		}
		id = s.mustStart()
		if r := s.poll(id); r.Code != idp.SignatureVerificationError {
			t.Errorf("%+v", r)
		}
		wantNot(id, "it ended with SignatureVerificationError")
		s.remembered(id)
		if err := s.Recover(t.Context(), "7f8a4b1e-26c8-4b0f-9f43-4a2f6f6f0001", new(bytes.Buffer)); !errors.Is(err, signing.ErrUnknown) {
			t.Error(err)
		}
	})
}

// The owner's document was deleted since.
func TestRecoverDeletedDocument(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPhone(t)
		out := newOutage(p.ca)
		o := newOrders(t, p, signing.Options{Sources: out.sources})
		out.cut(errTSADown, nil)
		id := o.mustOrder()
		for began := time.Now(); time.Since(began) < 13*time.Hour; o.work(t.Context()) {
			time.Sleep(30 * time.Minute)
		}
		out.cut(nil, nil)
		if err := o.db.InTx(t.Context(), func(ctx context.Context) error { return o.db.Documents().Delete(ctx, o.document) }); err != nil {
			t.Fatal(err)
		}
		if err := o.Recover(t.Context(), id, new(bytes.Buffer)); !errors.Is(err, signing.ErrNotRecoverable) || !strings.Contains(err.Error(), "document is deleted") {
			t.Error(err)
		}
	})
}

// A revoked certificate is not recovered.
func TestRecoverRevoked(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork(t)
		s := n.service(n.client(tsa, n.roots))
		s.background(t)
		id := s.atLevel(ades.LT)
		n.set(tsa, down)
		s.outOfTime(id)
		n.ca.Revoke(n.cert.SerialNumber, time.Now().Add(-time.Minute), 1)
		n.restore()
		var document bytes.Buffer
		refused := new(signing.CompletionError)
		if err := s.Recover(t.Context(), id, &document); !errors.As(err, &refused) || refused.Reason != "The certificate is revoked." || document.Len() > 0 {
			t.Errorf("%v, %d bytes", err, document.Len())
		}
	})
}

// Two servers on one database recover a signature at the same time, which another one gave up.
func TestRecoverOnSeveralServers(t *testing.T) {
	t.Parallel()
	p := newPhone(t)
	out := newOutage(p.ca)
	both := serversOn(t, postgrestest.Database(t), p, 2)
	s := onStore(t, both[0].db, p, signing.Options{IgnoreInterval: true, Sources: out.sources})
	out.cut(nil, errResponderDown)
	id := s.atLevel(ades.LT)
	s.pending(id, "while the responder is down")
	err := s.db.InTx(t.Context(), func(ctx context.Context) error { // as if the time for completing were over
		r, err := s.db.Requests().Request(ctx, id)
		if err != nil {
			return err
		}
		r.SignedAt, r.NextTry = r.SignedAt.Add(-time.Hour), r.NextTry.Add(-time.Hour)
		r.Revision++
		return s.db.Requests().UpdateRequest(ctx, r)
	})
	if err != nil {
		t.Fatal(err)
	}
	if r := s.poll(id); r.Code != idp.InternalError {
		t.Fatalf("%+v", r)
	}
	var servers sync.WaitGroup
	for range 3 {
		for _, one := range both {
			servers.Go(func() {
				var document bytes.Buffer
				if err := one.Recover(t.Context(), id, &document); err != nil {
					t.Error(err)
					return
				}
				s.checkSigned(document.Bytes())
			})
		}
	}
	servers.Wait()
	if n := len(s.kinds(id)); n != 4+6 {
		t.Errorf("%d entries", n)
	}
	s.keptForRecovery(id)
}
