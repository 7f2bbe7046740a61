package httpapi_test

import (
	"bytes"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/ades"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
)

// spec 3.2: what the start request says about the signer is in the signature.
func TestFieldsAreInTheSignature(t *testing.T) {
	t.Parallel()
	c := start(t, wiring{}).signer(t)
	c.user(person)
	long := func(n int) string { return strings.Repeat("ð", n) }
	for name, test := range map[string]struct {
		sent             fields
		reason, location string
	}{
		"required fields alone":  {fields{}, "Undirritun", ""},
		"all null":               {fields{"signer.country": nil, "signer.city": nil, "signer.reason": nil, "signatureImage": nil, "busySignal": nil}, "Undirritun", ""},
		"all":                    {fields{"signer.country": "Ísland", "signer.city": "Reykjavík", "signer.reason": "Samþykki"}, "Samþykki", "Reykjavík, Ísland"},
		"city alone":             {fields{"signer.city": "Reykjavík"}, "Undirritun", "Reykjavík"},
		"country alone":          {fields{"signer.country": "Ísland"}, "Undirritun", "Ísland"},
		"the longest":            {fields{"file.name": long(256), "signer.country": long(64), "signer.city": long(64), "signer.reason": long(64)}, long(64), long(64) + ", " + long(64)},
		"packing said":           {fields{"advancedSignatureSettings.signaturePacking": "Enveloped"}, "Undirritun", ""},
		"members nobody asks of": {fields{"signer.title": "Dr.", "extra": []any{1, object{"a": nil}}}, "Undirritun", ""},
	} {
		t.Run(name, func(t *testing.T) {
			c := c.in(t)
			began := time.Now().Truncate(time.Second)
			document := c.sign(startBody(idpApp).with(test.sent))
			if !bytes.HasPrefix(document, page) {
				t.Error("the document that was sent is not the beginning of the signed one")
			}
			s := c.signature(document)
			diff(t, "format", "PAdES-BASELINE-B", s.Format)
			diff(t, "coverage", ades.WholeDocument, s.Coverage)
			diff(t, "reason", test.reason, s.Reason)
			diff(t, "location", test.location, s.Location)
			if s.ClaimedTime.Before(began) || s.ClaimedTime.After(time.Now()) {
				t.Errorf("signed at %s, after %s", s.ClaimedTime, began)
			}
		})
	}
}

// Both kinds of file that PDF knows go through.
func TestKindsOfDocuments(t *testing.T) {
	t.Parallel()
	c := start(t, wiring{}).signer(t)
	c.user(person)
	for _, kind := range pdftest.Kinds {
		for _, size := range []int{0, 1 << 20} {
			content := pdftest.Build(pdftest.Options{Kind: kind, Pages: 3, Payload: size})
			document := c.sign(startBody(idpSim).with(fields{"file.contentB64": content}))
			if c.signature(document); !bytes.HasPrefix(document, content) {
				t.Errorf("%s of %d bytes was changed", kind, len(content))
			}
		}
	}
}

// spec 3.5: production asks people for 290 seconds, with polls every 2.
func TestStartInProduction(t *testing.T) {
	t.Parallel()
	bubble(t, wiring{production: true}, func(t *testing.T, s *server) {
		c := s.signer(t)
		s.createUser(t, c.account)
		started := c.start(startBody(idpApp))
		c.want(started, http.StatusOK, object{"pollingId": c.member(started, "pollingId"), "expiresIn": 290, "interval": 2, "verificationCode": nil})
	})
}

// spec 3.1: refused at once by the identity provider: 400 with an errorCode, and no pollingId.
func TestRefusedStart(t *testing.T) {
	t.Parallel()
	c := start(t, wiring{}).signer(t)
	for _, method := range methods {
		c.wantFailure(c.start(startBody(method)), userNotFound)
	}
	c.wantDocuments(0)
}

// spec 3.6: Pending, Signed, Failed; a request that has finished is 404 for
// good, and one that never was is too.
func TestPollOfARequestThatHasFinished(t *testing.T) {
	t.Parallel()
	c := start(t, wiring{}).signer(t)
	id := c.user(person)
	for _, action := range []string{"Success", "Cancel"} {
		c.update(id, fields{"action": action})
		request := c.begin(startBody(idpSim))
		c.wantResult(request, action)
		c.wantFinished(request)
		c.wantFinished(strings.ToUpper(request))
	}
	c.wantFinished(uuid.NewString())
	c.wantFinished("1")
	c.wantFinished("busy-signals")
	c.wantFinished("%00")
}

// spec 1.7: another account's request does not exist; any client of the
// account sees it.
func TestWhoMayPoll(t *testing.T) {
	t.Parallel()
	s := start(t, wiring{})
	c, other := s.signer(t), s.signer(t)
	c.user(person)
	id := c.begin(startBody(idpSim))
	other.wantFinished(id)
	c.wantDocuments(1)
	colleague := c.colleague(account.ScopeSignatures)
	c.signature(colleague.signed(colleague.poll(strings.ToUpper(id))))
	c.wantFinished(id)
}

// spec 3.6: ExpiredToken repeats until a later start of the account clears the request, once it is
// older than 15 minutes.
func TestAbandonedRequest(t *testing.T) {
	t.Parallel()
	for _, method := range methods {
		t.Run(method, func(t *testing.T) {
			bubble(t, wiring{}, func(t *testing.T, s *server) {
				c, other := s.signer(t), s.signer(t)
				c.user(person.with(fields{"delayInSecondsBeforeAction": 300}))
				other.user(person)
				old, polled := c.begin(startBody(method)), c.begin(startBody(method))
				c.wantFailure(c.poll(polled), pending)
				time.Sleep(10*time.Minute + time.Second)
				c.wantFailure(c.poll(old), expired)
				c.wantFailure(c.poll(old), expired)
				c.wantFailure(c.poll(polled), expired)
				time.Sleep(5*time.Minute - 2*time.Second)
				c.begin(startBody(method)) // the old ones are not 15 minutes old
				c.wantFailure(c.poll(old), expired)
				time.Sleep(2 * time.Second)
				other.begin(startBody(method)) // another account clears nothing
				c.wantFailure(c.poll(old), expired)
				c.wantDocuments(4)
				c.begin(startBody(method))
				c.wantFinished(old)
				c.wantFinished(polled)
				c.wantDocuments(3)
			})
		})
	}
}

// spec 3.6: a start that is refused clears too, and only starts do.
func TestOnlyAStartClears(t *testing.T) {
	t.Parallel()
	bubble(t, wiring{}, func(t *testing.T, s *server) {
		c := s.signer(t)
		c.user(person)
		old := c.begin(startBody(idpApp))
		time.Sleep(50 * time.Minute)
		c.call(http.MethodPost, "/api/v1/signing/busy-signal", nil)
		c.wantInvalid(c.start(fields{}), "file", "signer")
		c.wantFailure(c.poll(old), expired)
		c.wantFailure(c.start(startBody(idpApp).with(fields{"signer.kennitala": "1"})), userNotFound)
		c.wantFinished(old)
	})
}
