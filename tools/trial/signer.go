package main

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/innsigli/innsigli/ades"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/pades"
)

// signer is one client's life: it has a sandbox user sign, again and again.
type signer struct {
	*client
	kennitala, phone string
	delay            time.Duration // of the person
	signals          []string      // busy signals that it shares with others
	holders          *holders
	roots            *x509.CertPool
	count            *figures
	deaths           *atomic.Int64 // of servers, so far
}

// addUser makes the signer's sandbox user.
func (s *signer) addUser(ctx context.Context, number, delay int) error {
	s.delay = time.Duration(delay) * time.Second
	s.kennitala, s.phone = fmt.Sprintf("%010d", 101300000+number), fmt.Sprintf("555%04d", number)
	body := fmt.Sprintf(`{"fullName":"Sandbox Signer %d","kennitala":%q,"phone":%q,"delayInSecondsBeforeAction":%d}`, number, s.kennitala, s.phone, delay)
	a := s.insist(ctx, func() answer { return s.post(ctx, "/api/v1/sandbox/users", body) })
	if a.Status != http.StatusOK && a.Status != http.StatusUnprocessableEntity { // an answer that was cut off had made it
		return fmt.Errorf("making a sandbox user: %v", a)
	}
	return nil
}

// signUntil goes on until the time is over, and ends what it has begun then.
func (s *signer) signUntil(ctx context.Context, end time.Time) {
	for time.Now().Before(end) && ctx.Err() == nil {
		s.signOnce(ctx)
	}
}

func (s *signer) signOnce(ctx context.Context) {
	original := pdftest.Build(pdftest.Options{Payload: 1 + rand.IntN(40_000)})
	signal := ""
	if rand.IntN(4) > 0 {
		signal = s.signals[rand.IntN(len(s.signals))]
	}
	body, key := s.startText(original, signal), uuid.NewString()
	started := s.insist(ctx, func() answer { return s.post(ctx, "/api/v1/signing", body, "Idempotency-Key", key) })
	switch {
	case started.Status == http.StatusLocked:
		s.count.add(&s.count.locked)
		pause(ctx, 20*time.Millisecond)
		return
	case started.Status != http.StatusOK:
		s.count.fault("start: %v", started)
		return
	}
	s.count.add(&s.count.started)
	s.deliver(ctx, started, original, s.holders.holds(signal, started))
}

// deliver polls a request from two clients at once, so that they compete for it at two
// servers. One gets the document, and the other finds that the request has ended.
func (s *signer) deliver(ctx context.Context, started answer, original []byte, hold *hold) {
	deaths, began := s.deaths.Load(), time.Now()
	var ends [3]answer
	var both sync.WaitGroup
	for i := range 2 {
		both.Go(func() { ends[i] = s.pollOn(ctx, started.PollingID, hold) })
	}
	both.Wait()
	s.count.waited(time.Since(began) - s.delay)
	ends[2] = s.pollOn(ctx, started.PollingID, hold)
	var signed [][]byte
	for _, a := range ends {
		switch a.Status {
		case http.StatusOK:
			signed = append(signed, a.SignedFile)
		case http.StatusNotFound:
		default:
			s.count.fault("poll of %s: %v", started.PollingID, a)
		}
	}
	if len(signed) == 0 {
		s.count.add(&s.count.lost)
		return
	}
	s.count.add(&s.count.delivered)
	s.check(ctx, original, signed[0])
	for _, again := range signed[1:] {
		switch {
		case !bytes.Equal(again, signed[0]):
			s.count.add(&s.count.doubled)
		case s.deaths.Load() == deaths: // else the server died before it had noted the end
			s.count.fault("%s was delivered twice, and no server had died", started.PollingID)
		default:
			s.count.add(&s.count.repeated)
		}
	}
}

// pollOn polls until the request has ended. What a poll may have been answered with ends
// the certainty that the request still holds its signal.
func (s *signer) pollOn(ctx context.Context, id string, hold *hold) answer {
	for {
		a := s.do(ctx, http.MethodGet, "/api/v1/signing/"+id, nil)
		if a.ErrorCode == "AuthorizationPending" {
			pause(ctx, time.Duration(50+rand.IntN(200))*time.Millisecond)
			continue
		}
		if a.Status != http.StatusNotFound {
			hold.endedAt(a.sent)
		}
		if !a.lost() || ctx.Err() != nil {
			return a
		}
		pause(ctx, 50*time.Millisecond)
	}
}

// check verifies a document that was delivered: the original and one signature.
func (s *signer) check(ctx context.Context, original, signed []byte) {
	report, err := pades.Verify(ctx, pades.Document{ReaderAt: bytes.NewReader(signed), Size: int64(len(signed))}, ades.VerifyOptions{Roots: s.roots})
	switch {
	case err != nil:
		s.count.fault("a document cannot be read: %v", err)
	case len(report.Signatures) != 1:
		s.count.add(&s.count.doubled)
		s.count.fault("a document has %d signatures", len(report.Signatures))
	case !report.Passed() || !bytes.HasPrefix(signed, original):
		s.count.fault("a document does not verify: %+v", report.Signatures)
	}
}

func (s *signer) startText(content []byte, signal string) string {
	return s.startTextAt(content, signal, []string{"B", "Lt"}[rand.IntN(2)])
}

func (s *signer) startTextAt(content []byte, signal, level string) string {
	method, busy := []string{"IdpApp", "IdpSim"}[rand.IntN(2)], ""
	if signal != "" {
		busy = fmt.Sprintf(`"busySignal":{"id":%q,"userId":%q},`, signal, s.kennitala)
	}
	return fmt.Sprintf(`{"signer":{"kennitala":%q,"phone":%q,"signingMethod":%q},%s"advancedSignatureSettings":{"signatureLevel":%q},"file":{"type":"Pdf","name":"contract.pdf","contentB64":%q}}`,
		s.kennitala, s.phone, method, busy, level, base64.StdEncoding.EncodeToString(content))
}
