package httpapi_test

import (
	"bytes"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/ades"
)

// signal makes a busy signal.
func (c *client) signal() string {
	c.Helper()
	return c.member(c.call(http.MethodPost, "/api/v1/signing/busy-signal", nil), "id")
}

// wantHeld checks the 423 of a busy signal (spec 3.11).
func (c *client) wantHeld(a answer, userID any) {
	c.Helper()
	p := c.object(a)
	diff(c.T, "Content-Type", problemType, a.header.Get("Content-Type"))
	c.want(a, http.StatusLocked, object{
		"type": c.url + "/problems/busy-signal-is-held", "title": "Busy signal is held", "status": 423, "detail": p["detail"],
		"busySignal": object{"userId": userID},
	})
}

// pair is a client with two people who are to sign one file.
func pair(t *testing.T, s *server) (c *client, first, second fields) {
	t.Helper()
	c = s.signer(t)
	c.user(fields{"fullName": "First Signer", "kennitala": "1111111111", "phone": "111"})
	c.user(fields{"fullName": "Second Signer", "kennitala": "2222222222", "phone": "222"})
	signal := fields{"busySignal.id": c.signal()}
	return c, startBody(idpSim).with(signal).with(fields{"signer.phone": "111"}), startBody(idpSim).with(signal).with(fields{"signer.phone": "222"})
}

// An account that is closed between the check of the token and what is stored for it gets what a token gets that is not valid.
func TestAccountIsClosedMeanwhile(t *testing.T) {
	t.Parallel()
	s := start(t, wiring{})
	c := s.signer(t)
	for _, closed := range []error{account.ErrClosed, account.ErrNotFound} {
		s.store.fail(&storeFailure{err: closed})
		a := c.call(http.MethodPost, "/api/v1/signing/busy-signal", nil)
		s.store.fail(nil)
		c.wantProblem(a, http.StatusUnauthorized, "Unauthorized")
		if got, want := a.header.Get("WWW-Authenticate"), `Bearer realm="innsigli", error="invalid_token"`; got != want {
			t.Errorf("%v: WWW-Authenticate %q, want %q", closed, got, want)
		}
	}
}

// spec 1.1 and 3.11.
func TestBusySignalIsCreated(t *testing.T) {
	t.Parallel()
	c := start(t, wiring{}).signer(t)
	var ids []string
	for _, body := range []any{nil, "", "{}", " {} ", `{"for":"anything"}`} {
		a := c.call(http.MethodPost, "/api/v1/signing/busy-signal", body)
		id := c.member(a, "id")
		c.want(a, http.StatusOK, object{"id": id})
		if _, err := uuid.Parse(id); err != nil || slices.Contains(ids, id) {
			t.Errorf("id %s, %v", id, err)
		}
		ids = append(ids, id)
	}
	for _, body := range []string{"[]", "null", "{", "{}{}"} {
		c.wantInvalid(c.call(http.MethodPost, "/api/v1/signing/busy-signal", body), "$")
	}
}

// spec 3.11: two people sign one file one after another; while the first one
// is asked, the other's start is 423 with who holds the signal.
func TestTwoPeopleSignOneFile(t *testing.T) {
	t.Parallel()
	for name, userID := range map[string]any{"userId": strings.Repeat("þ", 512), "no userId": absent{}, "userId null": nil} {
		t.Run(name, func(t *testing.T) {
			c, first, second := pair(t, start(t, wiring{}))
			holder := userID
			if holder == any(absent{}) {
				holder = nil
			}
			id := c.begin(first.with(fields{"busySignal.userId": userID}))
			c.wantHeld(c.start(second.with(fields{"busySignal.userId": "the second one"})), holder)
			c.wantHeld(c.start(first), holder)
			c.wantDocuments(1) // of the refused starts nothing is left
			once := c.signed(c.poll(id))
			twice := c.sign(second.with(fields{"file.contentB64": once}))
			if !bytes.HasPrefix(twice, once) {
				t.Error("the second signature changed the file that the first one covers")
			}
			signatures := c.signatures(twice)
			if len(signatures) != 2 {
				t.Fatalf("%d signatures", len(signatures))
			}
			diff(t, "coverage of the first", ades.WholeRevision, signatures[0].Coverage)
			diff(t, "coverage of the second", ades.WholeDocument, signatures[1].Coverage)
			diff(t, "signers", []string{"First Signer", "Second Signer"}, []string{signatures[0].SignerName, signatures[1].SignerName})
			c.wantDocuments(0)
		})
	}
}

// spec 3.11: free when polling for the holder ends, signed or failed; a start
// that is refused holds nothing (spec 3.1).
func TestBusySignalIsFreeAfterTheEnd(t *testing.T) {
	t.Parallel()
	s := start(t, wiring{})
	t.Run("Cancel", func(t *testing.T) {
		c, first, second := pair(t, s)
		c.update(c.listed()[0].(object)["uuid"].(string), fields{"action": "Cancel"})
		id := c.begin(first)
		c.wantHeld(c.start(second), nil)
		c.wantFailure(c.poll(id), cancelled)
		c.sign(second)
	})
	t.Run("UserNotFound", func(t *testing.T) {
		c, first, second := pair(t, s)
		c.wantFailure(c.start(first.with(fields{"signer.phone": "999"})), userNotFound)
		c.sign(second)
	})
	t.Run("unreadable file", func(t *testing.T) {
		c, first, second := pair(t, s)
		id := c.begin(first.with(fields{"file.contentB64": []byte("This is no PDF.")}))
		c.wantHeld(c.start(second), nil)
		c.wantFailure(c.poll(id), unreadable)
		c.sign(second)
	})
	t.Run("only at the end", func(t *testing.T) {
		c, first, second := pair(t, s)
		id := c.begin(first.with(fields{"signer.signingMethod": idpApp, "signer.kennitala": "1111111111"}))
		c.wantFailure(c.poll(id), pending)
		c.wantHeld(c.start(second), nil)
		c.signed(c.poll(id))
		c.sign(second)
	})
}

// spec 3.11: held for at most 5 minutes. The request that held it goes on
// and, when it ends, frees nothing that another one holds by then.
func TestBusySignalIsFreeAfterFiveMinutes(t *testing.T) {
	t.Parallel()
	bubble(t, wiring{}, func(t *testing.T, s *server) {
		c, first, second := pair(t, s)
		one := c.begin(first.with(fields{"busySignal.userId": "one"}))
		time.Sleep(5*time.Minute - time.Second)
		c.wantHeld(c.start(second), "one")
		time.Sleep(time.Second)
		two := c.begin(second.with(fields{"busySignal.userId": "two"}))
		c.wantHeld(c.start(first), "two")
		c.signature(c.signed(c.poll(one)))
		c.wantHeld(c.start(first), "two")
		c.signature(c.signed(c.poll(two)))
		c.sign(first)
	})
}

// spec 3.11: the end of polling that frees the signal is also that by
// ExpiredToken.
func TestBusySignalIsFreeWhenTheHolderExpires(t *testing.T) {
	t.Parallel()
	bubble(t, wiring{production: true}, func(t *testing.T, s *server) {
		c := s.client(t, account.ScopeSignatures)
		s.createUser(t, c.account)
		body := startBody(idpApp).with(fields{"busySignal.id": c.signal()})
		id := c.begin(body)
		time.Sleep(291 * time.Second)
		c.wantHeld(c.start(body), nil)
		c.wantFailure(c.poll(id), expired)
		c.begin(body)
	})
}

// spec 3.11: a signal lives a year after its last use.
func TestBusySignalLivesAYear(t *testing.T) {
	t.Parallel()
	bubble(t, wiring{}, func(t *testing.T, s *server) {
		c, body, _ := pair(t, s)
		for range 2 {
			time.Sleep(364 * 24 * time.Hour)
			c.renew()
			c.login()
			c.sign(body)
		}
		time.Sleep(366 * 24 * time.Hour)
		c.login()
		c.wantProblem(c.start(body), http.StatusNotFound, "Not found")
	})
}

// spec 3.1 and 3.11: a busy signal that does not exist, or is another account's,
// is 404 at the start (spec 1.7).
func TestBusySignalThatDoesNotExist(t *testing.T) {
	t.Parallel()
	s := start(t, wiring{})
	c, body, _ := pair(t, s)
	other := s.signer(t)
	other.user(person)
	c.wantProblem(c.start(body.with(fields{"busySignal.id": uuid.NewString()})), http.StatusNotFound, "Not found")
	other.wantProblem(other.start(body), http.StatusNotFound, "Not found")
	c.wantDocuments(0)
	id := body["busySignal.id"].(string)
	c.begin(body)
	c.wantHeld(c.colleague(account.ScopeSignatures).start(body.with(fields{"busySignal.id": strings.ToUpper(id)})), nil)
}

// spec 3.1: fields, then the page and the slot, then the busy signal's 404 and 423, then
// the provider.
func TestOrderOfTheChecks(t *testing.T) {
	t.Parallel()
	c, body, _ := pair(t, start(t, wiring{}))
	stamped := body.with(manual).with(ofImage(pngPicture(t), "Png"))
	wrongPage := inImage(fields{"page": 2})
	unknown, nobody := fields{"busySignal.id": uuid.NewString()}, fields{"signer.phone": "999"}
	c.wantInvalid(c.start(body.with(unknown).with(fields{"signer.city": 1})), "signer.city")
	c.wantInvalid(c.start(stamped.with(wrongPage).with(fields{"signer.city": 1})), "signer.city")
	c.wantProblem(c.start(stamped.with(wrongPage).with(unknown)), http.StatusBadRequest, "Signature page does not exist")
	for _, body := range []fields{body, stamped} {
		c.wantProblem(c.start(body.with(unknown).with(nobody)), http.StatusNotFound, "Not found")
	}
	c.begin(body)
	c.wantInvalid(c.start(body.with(fields{"signer.city": 1})), "signer.city")
	c.wantProblem(c.start(stamped.with(wrongPage).with(nobody)), http.StatusBadRequest, "Signature page does not exist")
	for _, body := range []fields{body, stamped} {
		c.wantHeld(c.start(body.with(nobody)), nil)
	}
	c.wantDocuments(1)
}

// spec 3.11: of starts at once one holds the signal.
func TestStartsAtOnceWithABusySignal(t *testing.T) {
	t.Parallel()
	c, body, _ := pair(t, start(t, wiring{}))
	for range 5 {
		answers := c.atOnce(6, func() *http.Request { return c.request(http.MethodPost, "/api/v1/signing", body) })
		diff(t, "statuses", []int{200, 423, 423, 423, 423, 423}, statuses(answers))
		for _, a := range answers {
			if a.status == http.StatusOK {
				c.signature(c.signed(c.poll(c.member(a, "pollingId"))))
			}
		}
	}
	c.wantDocuments(0)
}
