package delivery

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"fmt"
	"net/http"
	"time"

	"github.com/innsigli/innsigli/webhook"
)

// outgoing is an event on its way to a subscription.
type outgoing struct {
	purpose    Purpose
	id         string // webhook-id
	eventType  string
	body       []byte
	verifiable bool          // false: signed so that it cannot verify, and 401 is what is wanted
	number     int           // of the attempt, from 1; 0: it is no delivery
	pause      time.Duration // until it is tried again, should it fail; 0: it is not
}

// send makes a request. The attempt is what the log is to say of it, and is not in it yet. The
// error is the store's, or says that the context has ended before there was an answer: that is no
// attempt, and it is not observed.
func (s *Service) send(ctx context.Context, to Subscription, m outgoing) (Attempt, error) {
	at := time.Now() // time: receivers compare it with their clocks
	signatures, err := s.signatures(ctx, to, m, at)
	if err != nil {
		return Attempt{}, err
	}
	a := s.post(ctx, message{
		url: to.URL, subscription: to.ID, id: m.id, at: at, body: m.body, signatures: signatures,
	})
	if a.status == 0 && a.failure == "" {
		return Attempt{}, fmt.Errorf("webhook: request was cut short: %w", context.Cause(ctx))
	}
	made := m.attempt(to, at, a)
	if s.options.Observed != nil {
		s.options.Observed(made)
	}
	return made, nil
}

// signatures are one with the subscription's secret and one with each key of the service. Those
// that cannot verify are as many, and made alike with keys that nobody knows (spec 5.6).
func (s *Service) signatures(ctx context.Context, to Subscription, m outgoing, at time.Time) ([]string, error) {
	keys, err := s.Keys(ctx)
	if err != nil {
		return nil, err
	}
	secret, private := to.Secret, s.keys.private
	if !m.verifiable {
		secret = random(len(secret))
		private = func(seed []byte) ed25519.PrivateKey { return ed25519.NewKeyFromSeed(random(len(seed))) }
	}
	list := []string{webhook.SignV1(secret, m.id, at, m.body)}
	for _, k := range keys {
		if len(k.Private) != ed25519.SeedSize {
			return nil, fmt.Errorf("webhook: key %d has %d bytes instead of %d", k.Number, len(k.Private), ed25519.SeedSize)
		}
		list = append(list, webhook.SignV1a(private(k.Private), m.id, at, m.body))
	}
	return list, nil
}

func random(length int) []byte {
	bytes := make([]byte, length)
	rand.Read(bytes)
	return bytes
}

// attempt is what the log says of a request and its answer.
func (m outgoing) attempt(to Subscription, at time.Time, a answer) Attempt {
	made := Attempt{
		Subscription: to.ID, Event: m.id, Type: m.eventType, Purpose: m.purpose,
		Number: m.number, At: instant(at), Duration: a.took,
		Status: a.status, Failure: a.failure, Detail: a.detail,
	}
	if a.status != 0 {
		made.Failure, made.Detail = judgeStatus(m.verifiable, a.status)
	}
	if made.Failure != "" && m.pause != 0 {
		made.Next = made.end().Add(m.pause)
	}
	return made
}

// judgeStatus says what is wrong with a status, in a sentence too; empty: nothing is (spec 5.2
// items 3 and 4).
func judgeStatus(verifiable bool, status int) (f Failure, detail string) {
	switch {
	case verifiable && !successful(status):
		return BadStatus, fmt.Sprintf("A correctly signed request was answered with status %d instead of 2xx.", status)
	case !verifiable && status != http.StatusUnauthorized:
		return BadStatus, fmt.Sprintf("A request whose signature cannot verify was answered with status %d instead of 401.", status)
	}
	return "", ""
}

// successful says whether a status is 2xx.
func successful(status int) bool { return status/100 == 2 }

// unanswered says whether there was no answer.
func (a Attempt) unanswered() bool { return a.Status == 0 }

// end is when the attempt was over.
func (a Attempt) end() time.Time { return instant(a.At.Add(a.Duration)) }
