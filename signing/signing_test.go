package signing_test

import (
	"bytes"
	"crypto/x509"
	"errors"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/signing"
)

func TestRequestFromStartToDelivery(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPhone(t)
		s := newService(t, p, signing.Options{})
		started, err := s.start()
		if err != nil {
			t.Fatal(err)
		}
		if started.ExpiresIn != 290*time.Second || started.Interval != 2*time.Second || started.Code != "" {
			t.Errorf("%+v", started)
		}
		answers := []idp.Event{idp.Waiting{}, idp.Waiting{Code: "0042"}, idp.Waiting{}, nil}
		p.poll = func(state idp.State) (idp.State, idp.Event, error) {
			next := answers[0]
			answers = answers[1:]
			if next == nil {
				next = p.signed()
			}
			return state, next, nil
		}
		var got []result
		for range 3 {
			got = append(got, s.poll(started.ID))
			time.Sleep(2 * time.Second)
		}
		want := []result{{Code: idp.AuthorizationPending}, {Code: idp.AuthorizationPending, Verify: "0042"}, {Code: idp.AuthorizationPending, Verify: "0042"}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		s.checkSigned(s.poll(started.ID).Document)
		if r := s.poll(started.ID); !r.Finished {
			t.Errorf("after delivery: %+v", r)
		}
	})
}

func TestTransportFaultWhilePollingEndsNothing(t *testing.T) {
	t.Parallel()
	p := newPhone(t)
	s := newService(t, p, signing.Options{IgnoreInterval: true})
	id := s.mustStart()
	p.poll = func(state idp.State) (idp.State, idp.Event, error) {
		state.Public = []byte("the one-shot answer") // to be stored in spite of the error
		return state, nil, io.ErrUnexpectedEOF
	}
	if r := s.poll(id); r.Code != idp.AuthorizationPending {
		t.Fatalf("%+v", r)
	}
	p.poll = func(state idp.State) (idp.State, idp.Event, error) {
		if string(state.Public) != "the one-shot answer" {
			t.Errorf("state %q", state.Public)
		}
		return state, p.signed(), nil
	}
	s.checkSigned(s.poll(id).Document)
}

// The same holds for the call that asks for the signature, when the certificate came
// with a poll; the provider is then asked for the certificate again.
func TestTransportFaultWhileAskingEndsNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPhone(t)
		s := newService(t, p, signing.Options{IgnoreInterval: true})
		p.begin = func() (idp.Event, error) { return idp.Waiting{}, nil }
		id := s.mustStart()
		p.poll = func(state idp.State) (idp.State, idp.Event, error) { return state, p.needDigest(), nil }
		p.sign = func(state idp.State) (idp.State, idp.Event, error) {
			state.Public = []byte("kept in spite of the error")
			return state, nil, io.ErrUnexpectedEOF
		}
		if r := s.poll(id); r.Code != idp.AuthorizationPending {
			t.Fatalf("%+v", r)
		}
		p.sign = func(state idp.State) (idp.State, idp.Event, error) {
			if string(state.Public) != "kept in spite of the error" {
				t.Errorf("state %q", state.Public)
			}
			return state, p.signed(), nil
		}
		s.checkSigned(s.poll(id).Document)

		p.sign = func(state idp.State) (idp.State, idp.Event, error) { return state, nil, io.ErrUnexpectedEOF }
		late := s.mustStart()
		time.Sleep(5 * time.Minute)
		if r := s.poll(late); r.Code != idp.ExpiredToken {
			t.Errorf("%+v", r)
		}
	})
}

func TestFailureIsToldOnce(t *testing.T) {
	t.Parallel()
	p := newPhone(t)
	s := newService(t, p, signing.Options{})
	id := s.mustStart()
	p.poll = func(state idp.State) (idp.State, idp.Event, error) {
		return state, idp.Failed{Failure: idp.Failure{Code: idp.UserCancelled}}, nil
	}
	broken := errors.New("connection broken")
	if err := s.Poll(t.Context(), account, id, func(signing.Answer) error { return broken }); !errors.Is(err, broken) {
		t.Fatal(err)
	}
	if r := s.poll(id); r.Code != idp.UserCancelled { // again: it had not arrived
		t.Errorf("%+v", r)
	}
	if r := s.poll(id); !r.Finished {
		t.Errorf("%+v", r)
	}
	if n := s.documents(); n != 0 {
		t.Errorf("%d documents left", n)
	}
}

func TestWhatThePhoneSendsIsChecked(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		set  func(*phone, *signing.Options)
		want idp.ErrorCode
	}{
		{"value of another key", func(p *phone, _ *signing.Options) {
			p.poll = func(s idp.State) (idp.State, idp.Event, error) {
				p.key, _ = p.issue(kennitala)
				return s, p.signed(), nil
			}
		}, idp.SignatureVerificationError},
		{"no value", func(p *phone, _ *signing.Options) {
			p.poll = func(s idp.State) (idp.State, idp.Event, error) { return s, idp.Signed{}, nil }
		}, idp.InternalError},
		{"another person's certificate", func(p *phone, _ *signing.Options) { p.key, p.cert = p.issue("1203894569") }, idp.CertificateValidationError},
		{"untrusted root", func(_ *phone, o *signing.Options) {
			o.Sources = func() ades.Sources { return ades.Sources{Roots: x509.NewCertPool()} }
		}, idp.CertificateValidationError},
		{"unknown issuer", func(p *phone, o *signing.Options) {
			p.begin = func() (idp.Event, error) { return idp.NeedDigest{Certificate: p.cert}, nil }
			o.Sources = func() ades.Sources { return ades.Sources{Roots: p.ca.Roots()} }
		}, idp.CertificateValidationError},
		{"no certificate", func(p *phone, _ *signing.Options) {
			p.begin = func() (idp.Event, error) { return idp.NeedDigest{}, nil }
		}, idp.CertificateNotFound},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newPhone(t)
			options := signing.Options{}
			tt.set(p, &options)
			s := newService(t, p, options)
			if r := s.poll(s.mustStart()); r.Code != tt.want {
				t.Errorf("got %+v, want %s", r, tt.want)
			}
		})
	}
}

// What a provider leaves out of the chain is looked for, and goes into the signature.
func TestIssuerThatTheProviderLeavesOut(t *testing.T) {
	t.Parallel()
	p := newPhone(t)
	p.begin = func() (idp.Event, error) { return idp.NeedDigest{Certificate: p.cert}, nil }
	s := newService(t, p, signing.Options{Sources: func() ades.Sources {
		sources := p.ca.Sources(nil)
		sources.Issuers = ades.NewPool(p.ca.Chain()...)
		return sources
	}})
	r := s.poll(s.mustStart())
	s.checkSigned(r.Document) // which knows the root alone
}

func TestDocumentThatCannotBeSigned(t *testing.T) {
	t.Parallel()
	p := newPhone(t)
	p.sign = func(s idp.State) (idp.State, idp.Event, error) {
		t.Error("the person was asked to sign it")
		return s, idp.Waiting{}, nil
	}
	s := newService(t, p, signing.Options{})
	started, err := s.startWith([]byte("no PDF"))
	if err != nil {
		t.Fatal(err)
	}
	if r := s.poll(started.ID); r.Code != idp.UnableToHandleGivenData {
		t.Errorf("%+v", r)
	}
	if r := s.poll(started.ID); !r.Finished {
		t.Errorf("%+v", r)
	}
}

// spec 3.6: polls that come too early are answered SlowDown without the
// provider being asked, and never hide a result.
func TestPollsTooEarly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPhone(t)
		s := newService(t, p, signing.Options{Interval: 10 * time.Second})
		id := s.mustStart()
		waiting := func(state idp.State) (idp.State, idp.Event, error) { return state, idp.Waiting{Code: "0042"}, nil }
		p.poll = waiting
		var got []idp.ErrorCode
		for _, pause := range []time.Duration{0, 7 * time.Second, time.Second, 8 * time.Second, 7999 * time.Millisecond} {
			time.Sleep(pause)
			got = append(got, s.poll(id).Code)
		}
		want := []idp.ErrorCode{idp.AuthorizationPending, idp.SlowDown, idp.AuthorizationPending, idp.AuthorizationPending, idp.SlowDown}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		time.Sleep(10 * time.Second)
		p.poll = func(state idp.State) (idp.State, idp.Event, error) { return state, p.signed(), nil }
		_ = s.Poll(t.Context(), account, id, func(signing.Answer) error { return io.ErrClosedPipe })
		s.checkSigned(s.poll(id).Document) // at once, and yet not SlowDown
	})
}

func TestParallelPollsDeliverOnce(t *testing.T) {
	t.Parallel()
	p := newPhone(t)
	s := newService(t, p, signing.Options{IgnoreInterval: true})
	id := s.mustStart()
	calls := p.calls
	results := make([]result, 16)
	var wg sync.WaitGroup
	for i := range results {
		wg.Go(func() { results[i] = s.poll(id) })
	}
	wg.Wait()
	delivered := 0
	for _, r := range results {
		if r.Document != nil {
			delivered++
			s.checkSigned(r.Document)
		} else if !r.Finished {
			t.Errorf("%+v", r)
		}
	}
	if delivered != 1 || p.calls != calls+1 {
		t.Errorf("delivered %d times after %d polls of the provider", delivered, p.calls-calls)
	}
}

func TestCutOffDeliveryIsRepeatedToTheByte(t *testing.T) {
	t.Parallel()
	p := newPhone(t)
	s := newService(t, p, signing.Options{IgnoreInterval: true})
	id := s.mustStart()
	var first []byte
	err := s.Poll(t.Context(), account, id, func(a signing.Answer) error {
		first, _ = io.ReadAll(io.NewSectionReader(a.Document, 0, a.Document.Size()))
		return io.ErrClosedPipe
	})
	if !errors.Is(err, io.ErrClosedPipe) {
		t.Fatal(err)
	}
	if again := s.poll(id); !bytes.Equal(first, again.Document) {
		t.Errorf("%+v", again)
	}
	s.checkSigned(first)
}

func TestAnotherAccountsRequestDoesNotExist(t *testing.T) {
	t.Parallel()
	s := newService(t, newPhone(t), signing.Options{})
	id := s.mustStart()
	err := s.Poll(t.Context(), "another account", id, func(signing.Answer) error { return nil })
	if !errors.Is(err, signing.ErrFinished) {
		t.Error(err)
	}
	s.checkSigned(s.poll(id).Document)
}
