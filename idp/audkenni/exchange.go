package audkenni

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/subtle"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/idp/ciba"
)

// newRequest returns a request for the person whom the hint identifies. binding_message and binding_content are always
// sent, even if they are empty.
func newRequest(hint, acr, text string, sum []byte) ciba.Request {
	return ciba.Request{LoginHint: hint, ACR: acr, Extra: map[string]any{
		"binding_message": text,
		"binding_content": base64.StdEncoding.EncodeToString(sum),
	}}
}

// request sends a request. If Auðkenni accepts it, the conversation is in the phase next.
func (p *Provider) request(ctx context.Context, c *conversation, next phase, r ciba.Request) (idp.Event, error) {
	r.Scope, r.Ping = p.scope, c.Notification
	now := time.Now()
	ack, err := p.options.Client.RequestAuthentication(ctx, r)
	if err != nil {
		return p.requestFailed(ctx, c, err)
	}
	c.setRequest(next, ack, now)
	c.LostRequests = 0
	return p.waiting(c, idp.Failure{}), nil
}

// maxLostRequests is the number of times that a request is repeated because the response was lost. The person's phone
// may have shown each of them.
const maxLostRequests = 2

// requestFailed handles a request that Auðkenni refused, or whose response was lost.
func (p *Provider) requestFailed(ctx context.Context, c *conversation, err error) (idp.Event, error) {
	if wait, ok := p.errors.limit(err); ok && c.AuthReqID == "" {
		return nil, &idp.TooManyRequestsError{RetryAfter: wait, Err: err}
	} else if ok {
		return nil, retryable(err, max(c.Interval, wait))
	}
	if f := p.errors.refusal(err); f != nil {
		return failed(*f, err), nil
	}
	if lost := new(ciba.TransportError); errors.As(err, &lost) && lost.Sent {
		c.LostRequests++
	}
	if (c.AuthReqID == "" || c.LostRequests > maxLostRequests) && ctx.Err() == nil {
		if f, ok := p.errors.unavailable(err); ok {
			return failed(f, err), nil
		}
	}
	return nil, retryable(err, max(c.Interval, 5*time.Second))
}

// fetchTokens requests the tokens, which Auðkenni issues only once.
func (p *Provider) fetchTokens(ctx context.Context, c *conversation) (idp.Event, error) {
	tokens, err := p.options.Client.Tokens(ctx, c.AuthReqID)
	if err == nil {
		c.Tokens = &tokens
		return idp.Continue{Answer: c.Phase == signing}, nil
	}
	f, late := p.errors.refusal(err), !time.Now().Before(c.expires)
	switch {
	case f == nil && (ctx.Err() != nil || !late):
		return nil, retryable(err, c.Interval)
	case late && (f == nil || f.Code.Pending() || f.Code == idp.InvalidGrant): // InvalidGrant: Auðkenni has deleted the request
		return expired, nil
	case f.Code == idp.SlowDown: // for all further polls (CIBA Core 11)
		c.Interval += 5 * time.Second
		return p.waiting(c, *f), nil
	case f.Code == idp.AuthorizationPending:
		return p.waiting(c, *f), nil
	}
	return failed(*f, err), nil
}

// pingPollInterval is the interval of polls in ping mode, in case a ping gets lost.
const pingPollInterval = 30 * time.Second

// waiting returns an event whose RetryAfter does not exceed the lifetime of the conversation. answered is Auðkenni's
// response to the poll.
func (p *Provider) waiting(c *conversation, answered idp.Failure) idp.Event {
	wait, slowDown := c.Interval, answered.Code == idp.SlowDown
	if p.options.Ping && !slowDown {
		wait = max(wait, pingPollInterval)
	}
	return idp.Waiting{Code: c.Code, RetryAfter: max(0, min(wait, time.Until(c.expires))), SlowDown: slowDown, Description: answered.Description}
}

// failed returns the event that ends a conversation with a failure. Its Cause is err, unless Auðkenni has answered:
// then the failure has the answer. A code after which polling continues is dropped.
func failed(f idp.Failure, err error) idp.Event {
	if f.Code.Pending() {
		f.Code = ""
	}
	if refused := new(ciba.Error); errors.As(err, &refused) {
		err = nil
	}
	return idp.Failed{Failure: f, Cause: err}
}

// answer is an answer of Auðkenni. Claims that it lacks are nil or "".
type answer struct {
	certificate *x509.Certificate
	value       []byte
	device      string
}

// handleAnswer gets the claims for the conversation's tokens and returns the event that follows from them.
func (p *Provider) handleAnswer(ctx context.Context, c *conversation) (idp.Event, error) {
	tokens := *c.Tokens
	tokens.AuthReqID = c.AuthReqID // states of earlier versions lack it in the tokens
	claims, err := p.options.Client.Claims(ctx, tokens)
	if err != nil {
		if f := p.errors.refusal(err); f != nil {
			return failed(*f, err), nil
		}
		return nil, retryable(err, c.Interval)
	}
	a, failure := p.parseAnswer(claims, c.Person)
	switch {
	case failure != nil:
		return failure, nil
	case c.Phase == choosing:
		return p.appCertificate(c, a)
	case c.Phase == learning:
		return p.simCertificate(c, a)
	case c.Person.Method == idp.App:
		return p.appSignature(c, a)
	}
	return p.simSignature(c, a)
}

// parseAnswer parses and checks the claims. Neither the ID token nor the userinfo may name another person.
func (p *Provider) parseAnswer(claims ciba.Claims, person idp.Person) (a answer, failure idp.Event) {
	for _, part := range []ciba.Claims{{ID: claims.ID}, {UserInfo: claims.UserInfo}} {
		if k := idp.KennitalaFromIdentifier(claim(part, "nationalRegisterId")); k != "" && k != person.Kennitala {
			return a, otherPerson
		}
	}
	der, err := base64.StdEncoding.DecodeString(claim(claims, "certificate"))
	if err != nil {
		return a, badCertificate
	}
	if len(der) > 0 {
		if a.certificate, err = x509.ParseCertificate(der); err != nil {
			return a, badCertificate
		}
		if f := checkCertificate(a.certificate, person); f != nil {
			return a, f
		}
		if name := claim(claims, "name"); name != "" && name != a.certificate.Subject.CommonName && !p.options.AnyName {
			return a, otherName
		}
	}
	value, err := base64.StdEncoding.DecodeString(claim(claims, "signature"))
	if err != nil {
		return a, badSignature
	}
	if len(value) > 0 {
		a.value = value
	}
	a.device = claim(claims, "documentNr")
	return a, nil
}

// claim returns a claim's text. Auðkenni writes "na" for a missing value.
func claim(claims ciba.Claims, name string) string {
	if text := strings.TrimSpace(claims.Text(name)); text != "na" {
		return text
	}
	return ""
}

// checkCertificate returns the failure for a certificate with which the person cannot sign, or nil.
func checkCertificate(cert *x509.Certificate, person idp.Person) idp.Event {
	switch _, isRSA := cert.PublicKey.(*rsa.PublicKey); {
	case !isRSA: // signature values are those of PKCS #1
		return badCertificate
	case idp.Kennitala(cert) != person.Kennitala:
		return otherPerson
	}
	return nil
}

// The failures that the adapter finds in an answer.
var (
	noCertificate      = newFailed(idp.CertificateNotFound, "The identity provider gave no certificate.")
	unknownCertificate = newFailed(idp.CertificateNotFound, "The signer's certificate is not known.")
	badCertificate     = newFailed(idp.CertificateValidationError, "The identity provider's certificate cannot be used.")
	otherCertificate   = newFailed(idp.CertificateValidationError, "The signer answered with another certificate.")
	otherPerson        = newFailed(idp.CertificateValidationError, "The identity provider's answer is about another person.")
	otherName          = newFailed(idp.CertificateValidationError, "The certificate has another name than the identity provider.")
	noSignature        = newFailed(idp.SignatureVerificationError, "The identity provider gave no signature.")
	badSignature       = newFailed(idp.SignatureVerificationError, "The identity provider's signature does not verify.")
)

// newFailed returns a failure that did not come from Auðkenni.
func newFailed(code idp.ErrorCode, description string) idp.Event {
	return idp.Failed{Failure: idp.Failure{Code: code, Description: description}}
}

var errNotification = errors.New("audkenni: the notification is not for this client")

// Notification implements [idp.Notifier]: r is a ping (CIBA Core 1.0 10.2), which the caller answers with 204. Without
// Options.Ping every request is an error. The ping has to be about the last request of the conversation. If the State
// has no open request, the ping may have arrived before the State was stored, and any auth_req_id is accepted.
func (p *Provider) Notification(r *http.Request) (key string, authentic func(idp.State) bool, err error) {
	if !p.options.Ping {
		return "", nil, errNotification
	}
	token, authReqID, err := ciba.ReadNotification(r)
	if err != nil {
		return "", nil, errNotification
	}
	encoded, _, _ := strings.Cut(token, ".")
	decoded, err := base64.RawURLEncoding.DecodeString(encoded)
	if err != nil {
		return "", nil, errNotification
	}
	return string(decoded), func(s idp.State) bool {
		c, err := resume(s)
		return err == nil && equalSecrets(c.Notification, token) && (c.Phase == ready || equalSecrets(c.AuthReqID, authReqID))
	}, nil
}

// equalSecrets compares two secrets in constant time. An empty secret equals none.
func equalSecrets(stored, received string) bool {
	return stored != "" && subtle.ConstantTimeCompare([]byte(stored), []byte(received)) == 1
}

// maxNotificationToken is the maximum length of a client_notification_token (CIBA Core 1.0 7.1).
const maxNotificationToken = 1024

// newNotificationToken returns a client_notification_token that contains the key of the conversation and a random
// secret. All requests of the conversation use the same token: it is in the State before the second request.
func newNotificationToken(key string) (string, error) {
	random := make([]byte, 32)
	if _, err := rand.Read(random); err != nil {
		return "", fmt.Errorf("audkenni: drawing a notification token: %w", err)
	}
	token := base64.RawURLEncoding.EncodeToString([]byte(key)) + "." + base64.RawURLEncoding.EncodeToString(random)
	if len(token) > maxNotificationToken {
		return "", errors.New("audkenni: the key of the conversation is too long for pings")
	}
	return token, nil
}
