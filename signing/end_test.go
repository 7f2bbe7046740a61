package signing_test

import (
	"crypto"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
	"github.com/innsigli/innsigli/signing"
)

// toTheEnd polls every two seconds until the request has ended, and says when that was.
func (s service) toTheEnd(id string) (result, time.Duration) {
	s.t.Helper()
	start := time.Now()
	for range 1000 {
		time.Sleep(2 * time.Second)
		if r := s.poll(id); !r.Code.Pending() {
			return r, time.Since(start)
		}
	}
	s.t.Fatal("it does not end")
	return result{}, 0
}

// What a person answers just before the end counts, however long the provider said that there
// would be no news.
func TestAnswerAtTheLastMoment(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPhone(t)
		start, quiet := time.Now(), idp.Waiting{RetryAfter: 5 * time.Second}
		p.sign = func(s idp.State) (idp.State, idp.Event, error) { return s, quiet, nil }
		p.poll = func(s idp.State) (idp.State, idp.Event, error) {
			if time.Since(start) < 289*time.Second {
				return s, quiet, nil
			}
			return s, p.signed(), nil
		}
		s := newService(t, p, signing.Options{})
		r, _ := s.toTheEnd(s.mustStart())
		s.checkSigned(r.Document)
	})
}

// An answer that was given once is not lost because what is to be asked further is down when
// the request would expire. A certificate is no such answer.
func TestAnswerInHandAtTheEnd(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		answer bool
		want   idp.ErrorCode
	}{{true, ""}, {false, idp.ExpiredToken}} {
		synctest.Test(t, func(t *testing.T) {
			p := newPhone(t)
			start := time.Now()
			p.poll = func(s idp.State) (idp.State, idp.Event, error) {
				at := time.Since(start)
				switch {
				case at < 280*time.Second:
					return s, idp.Waiting{}, nil
				case s.Secret == nil:
					s.Secret = []byte("token")
					return s, idp.Continue{Answer: row.answer}, nil
				case at < 295*time.Second:
					return s, nil, &idp.FaultError{RetryAfter: 5 * time.Second, Err: errors.New("no claims")}
				}
				return s, p.signed(), nil
			}
			s := newService(t, p, signing.Options{})
			if r, at := s.toTheEnd(s.mustStart()); r.Code != row.want || (r.Document != nil) != row.answer {
				t.Errorf("after %v: %q, %d bytes", at, r.Code, len(r.Document))
			}
		})
	}
}

// No person is asked to sign for a request that has expired.
func TestNoPromptAfterTheEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPhone(t)
		p.begin = func() (idp.Event, error) { return idp.Waiting{}, nil }
		p.poll = func(s idp.State) (idp.State, idp.Event, error) { return s, p.needDigest(), nil }
		p.sign = func(s idp.State) (idp.State, idp.Event, error) {
			t.Error("asked to sign")
			return s, idp.Waiting{}, nil
		}
		s := newService(t, p, signing.Options{})
		id := s.mustStart()
		time.Sleep(6 * time.Minute)
		if r := s.poll(id); r.Code != idp.ExpiredToken {
			t.Errorf("%+v", r)
		}
	})
}

// The provider is not asked sooner after a fault than it says, and what it is asked again is
// the same: the code on the phone does not change.
func TestPauseAfterFaults(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPhone(t)
		p.begin = func() (idp.Event, error) { return idp.Waiting{}, nil }
		p.poll = func(s idp.State) (idp.State, idp.Event, error) { return s, p.needDigest(), nil }
		asked, sums := 0, make(map[string]bool)
		p.sign = func(s idp.State) (idp.State, idp.Event, error) {
			asked, sums[string(p.digests[0].Sum)] = asked+1, true
			return s, nil, &idp.FaultError{RetryAfter: 20 * time.Second, Err: errors.New("the answer was cut off")}
		}
		s := newService(t, p, signing.Options{})
		id := s.mustStart()
		if r, _ := s.toTheEnd(id); r.Code != idp.ExpiredToken {
			t.Errorf("%+v", r)
		}
		if asked < 10 || asked > 15 || len(sums) != 1 {
			t.Errorf("asked %d times in 290 s, to sign %d digests", asked, len(sums))
		}
	})
}

// A code that a ping brings before the first poll is not the start call's (spec 1.8).
func TestRepeatedStartHasTheSameCode(t *testing.T) {
	t.Parallel()
	p := newPhone(t)
	p.begin = func() (idp.Event, error) { return idp.Waiting{RetryAfter: 30 * time.Second}, nil }
	p.poll = func(s idp.State) (idp.State, idp.Event, error) { return s, p.needDigest(), nil }
	p.sign = func(s idp.State) (idp.State, idp.Event, error) {
		return s, idp.Waiting{Code: "4141", RetryAfter: 30 * time.Second}, nil
	}
	s := newService(t, p, signing.Options{})
	start := func() signing.Started {
		t.Helper()
		started, err := s.start(func(in *signing.Start) {
			in.Key = &signing.IdempotencyKey{Client: "client", Key: "key", Fingerprint: "body"}
		})
		if err != nil {
			t.Fatal(err)
		}
		return started
	}
	first := start()
	if err := s.Notified(t.Context(), first.ID, allowed); err != nil || s.work(t.Context()) != 1 {
		t.Fatal(err)
	}
	if again := start(); again != first {
		t.Errorf("first %+v, again %+v", first, again)
	}
	if r := s.poll(first.ID); r.Verify != "4141" {
		t.Errorf("%+v", r)
	}
}

// A key that nothing may be signed with is the certificate's fault, and ends the request.
func TestKeyThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		phone func(*testing.T) *phone
		want  idp.ErrorCode
	}{
		"a value": {newPhone, idp.CertificateValidationError},
		"a CMS":   {wholeCMS, idp.SignatureVerificationError},
	} {
		t.Run(name, func(t *testing.T) {
			p := row.phone(t)
			if !p.traits.CMS {
				p.traits.Algorithm = ades.Algorithm{Hash: crypto.SHA256, Scheme: ades.PKCS1v15}
			}
			key := certtest.NewRSAKey(t, 1024)
			p.key = key
			var err error
			if p.cert, err = p.ca.Issue("A signer", kennitala, key.Public(), time.Now()); err != nil {
				t.Fatal(err)
			}
			s := newService(t, p, signing.Options{IgnoreInterval: true})
			if r := s.poll(s.mustStart()); r.Code != row.want {
				t.Errorf("%+v", r)
			}
		})
	}
}
