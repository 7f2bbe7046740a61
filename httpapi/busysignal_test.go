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

// signal creates a busy signal.
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

// pair returns a client and start requests of two people for one file.
func pair(t *testing.T, s *server) (c *client, first, second fields) {
	t.Helper()
	c = s.signer(t)
	c.user(fields{"fullName": "First Signer", "kennitala": "1111111111", "phone": "111"})
	c.user(fields{"fullName": "Second Signer", "kennitala": "2222222222", "phone": "222"})
	signal := fields{"busySignal.id": c.signal()}
	return c, startBody(idpSim).with(signal).with(fields{"signer.phone": "111"}), startBody(idpSim).with(signal).with(fields{"signer.phone": "222"})
}

// If the account is closed after the token was checked, the answer is that to an invalid token.
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

// spec 3.11: two people sign one file one after the other. While the first one signs, a start of the second is 423
// and names the holder.
func TestTwoPeopleSignOneFile(t *testing.T) {
	t.Parallel()
	xml := func(packaging string) fields {
		return fields{"file.type": "Xml", "file.contentB64": []byte(order), packing: packaging}
	}
	for name, test := range map[string]struct {
		userID any
		file   fields
	}{
		"userId":       {strings.Repeat("þ", 512), fields{}},
		"no userId":    {absent{}, xml("Enveloped")},
		"userId null":  {nil, xml("Enveloping")},
		"XML detached": {"one", xml("InternallyDetached")},
	} {
		t.Run(name, func(t *testing.T) {
			c, first, second := pair(t, start(t, wiring{}))
			first, second = first.with(test.file), second.with(test.file)
			holder, userID := test.userID, test.userID
			if holder == any(absent{}) {
				holder = nil
			}
			id := c.begin(first.with(fields{"busySignal.userId": userID}))
			c.wantHeld(c.start(second.with(fields{"busySignal.userId": "the second one"})), holder)
			c.wantHeld(c.start(first), holder)
			c.wantDocuments(1) // of the refused starts nothing is left
			once := c.signed(c.poll(id))
			twice := c.sign(second.with(fields{"file.contentB64": once}))
			names := map[string]bool{}
			for _, s := range c.signatures(twice) {
				names[s.Certificate.Subject.CommonName] = true
			}
			diff(t, "signers", map[string]bool{"First Signer": true, "Second Signer": true}, names)
			if len(test.file) == 0 {
				signatures := c.signatures(twice)
				diff(t, "coverage", []ades.Coverage{ades.WholeRevision, ades.WholeDocument}, []ades.Coverage{signatures[0].Coverage, signatures[1].Coverage})
				if !bytes.HasPrefix(twice, once) {
					t.Error("the second signature changed the file that the first one covers")
				}
			} else if !bytes.Contains(twice, []byte(orderText)) {
				t.Error("the text was changed")
			}
			c.sign(first) // the signal is free
			c.wantDocuments(0)
		})
	}
}

// spec 3.11: the signal is free when the holder's polling has ended.
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
	t.Run("only at the end", func(t *testing.T) {
		c, first, second := pair(t, s)
		id := c.begin(first.with(fields{"signer.signingMethod": idpApp, "signer.kennitala": "1111111111"}))
		c.wantFailure(c.poll(id), pending)
		c.wantHeld(c.start(second), nil)
		c.signed(c.poll(id))
		c.sign(second)
	})
}

// spec 3.11: ExpiredToken frees the signal, too.
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

// spec 3.1: the order of the checks is fields, page and slot, the busy signal's 404 and 423, then the provider.
func TestOrderOfTheChecks(t *testing.T) {
	t.Parallel()
	c, body, _ := pair(t, start(t, wiring{}))
	stamped := body.with(manual).with(ofImage(pngPicture(t), "Png"))
	wrongPage := inImage(fields{"page": 2})
	unknown, noPerson := fields{"busySignal.id": uuid.NewString()}, fields{"signer.phone": "999"}
	c.wantInvalid(c.start(body.with(unknown).with(fields{"signer.city": 1})), "signer.city")
	c.wantInvalid(c.start(stamped.with(wrongPage).with(fields{"signer.city": 1})), "signer.city")
	c.wantProblem(c.start(stamped.with(wrongPage).with(unknown)), http.StatusBadRequest, "Signature page does not exist")
	for _, body := range []fields{body, stamped} {
		c.wantProblem(c.start(body.with(unknown).with(noPerson)), http.StatusNotFound, "Not found")
	}
	c.begin(body)
	c.wantInvalid(c.start(body.with(fields{"signer.city": 1})), "signer.city")
	c.wantProblem(c.start(stamped.with(wrongPage).with(noPerson)), http.StatusBadRequest, "Signature page does not exist")
	for _, body := range []fields{body, stamped} {
		c.wantHeld(c.start(body.with(noPerson)), nil)
	}
	c.wantDocuments(1)
}
