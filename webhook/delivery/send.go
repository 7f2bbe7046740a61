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

// message is what is sent to a subscription, before it is signed.
type message struct {
	purpose    Purpose
	id         string // webhook-id
	eventType  string
	body       []byte
	verifiable bool          // if false, the signatures cannot verify, and 401 is the right answer
	number     int           // of the attempt, from 1; 0 for a ping or check
	nextPause  time.Duration // until the next attempt after a failure; 0: there is none
}

// send sends a message in three stages: sign makes a signedMessage of it, post makes the request and returns the answer,
// and attempt judges the answer. send does not store the attempt. An error is one of the store, or means that the
// context ended before there was an answer; then there is no attempt to store or observe.
func (s *Service) send(ctx context.Context, to Subscription, m message) (Attempt, error) {
	at := time.Now() // time: receivers compare it with their clocks
	signed, err := s.sign(ctx, to, m, at)
	if err != nil {
		return Attempt{}, err
	}
	a := s.post(ctx, signed)
	if a.cutShort() {
		return Attempt{}, fmt.Errorf("webhook: request was cut short: %w", context.Cause(ctx))
	}
	made := m.attempt(to, at, a)
	if s.options.Observed != nil {
		s.options.Observed(made)
	}
	return made, nil
}

// sign signs a message with the subscription's secret and with each key of the service. Signatures that cannot verify
// have the same number and form, but are made with random keys (spec 5.6).
func (s *Service) sign(ctx context.Context, to Subscription, m message, at time.Time) (signedMessage, error) {
	keys, err := s.Keys(ctx)
	if err != nil {
		return signedMessage{}, err
	}
	secret, toPrivateKey := to.Secret, s.keys.toPrivateKey
	if !m.verifiable {
		secret = random(len(secret))
		toPrivateKey = func(seed []byte) ed25519.PrivateKey { return ed25519.NewKeyFromSeed(random(len(seed))) }
	}
	signatures := []string{webhook.SignV1(secret, m.id, at, m.body)}
	for _, k := range keys {
		if len(k.Private) != ed25519.SeedSize {
			return signedMessage{}, fmt.Errorf("webhook: key %d has %d bytes instead of %d", k.Number, len(k.Private), ed25519.SeedSize)
		}
		signatures = append(signatures, webhook.SignV1a(toPrivateKey(k.Private), m.id, at, m.body))
	}
	return signedMessage{url: to.URL, subscription: to.ID, id: m.id, at: at, body: m.body, signatures: signatures}, nil
}

func random(length int) []byte {
	b := make([]byte, length)
	rand.Read(b)
	return b
}

// attempt returns the attempt for the log, with the verdict on the answer.
func (m message) attempt(to Subscription, at time.Time, a answer) Attempt {
	made := Attempt{
		Subscription: to.ID, Event: m.id, Type: m.eventType, Purpose: m.purpose,
		Number: m.number, At: storedTime(at), Duration: a.took,
		Status: a.status, Failure: a.failure, Detail: a.detail,
	}
	if a.status != 0 {
		made.Failure, made.Detail = checkStatus(m.verifiable, a.status)
	}
	if made.failed() && m.nextPause != 0 {
		made.Next = made.end().Add(m.nextPause)
	}
	return made
}

// checkStatus returns what is wrong with a status, also as a sentence, or "" if it is right (spec 5.2 items 3 and
// 4).
func checkStatus(verifiable bool, status int) (f Failure, detail string) {
	switch {
	case verifiable && !isSuccess(status):
		return BadStatus, fmt.Sprintf("A correctly signed request was answered with status %d instead of 2xx.", status)
	case !verifiable && status != http.StatusUnauthorized:
		return BadStatus, fmt.Sprintf("A request whose signature cannot verify was answered with status %d instead of 401.", status)
	}
	return "", ""
}

// isSuccess reports whether a status is 2xx.
func isSuccess(status int) bool { return status/100 == 2 }

// failed reports whether there was no answer, or the wrong one.
func (a Attempt) failed() bool { return a.Failure != "" }

// unanswered reports whether there was no answer.
func (a Attempt) unanswered() bool { return a.Status == 0 }

// end returns when the attempt ended.
func (a Attempt) end() time.Time { return storedTime(a.At.Add(a.Duration)) }
