package httpapi_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
)

const users = "/api/v1/sandbox/users"

// listed returns the sandbox users in the list.
func (c *client) listed() []any {
	c.Helper()
	a := c.call(http.MethodGet, users, nil)
	list := c.object(a)
	items, ok := list["items"].([]any)
	if a.status != http.StatusOK || len(list) != 1 || !ok {
		c.Fatalf("status %d, list %s (spec 1.5)", a.status, a.body)
	}
	return items
}

// spec 6.1: created with 200, with timestamps as in spec 1.5.
func TestSandboxUserIsCreated(t *testing.T) {
	t.Parallel()
	timestamp := regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`)
	c := start(t, wiring{}).signer(t)
	for name, test := range map[string]struct{ sent, want fields }{
		"required fields": {
			fields{"fullName": "Sandbox Signer", "kennitala": "0101302989", "phone": "5550101"},
			fields{"fullName": "Sandbox Signer", "kennitala": "0101302989", "phone": "5550101", "delayInSecondsBeforeAction": 0, "action": "Success"},
		},
		"all fields": {
			fields{"fullName": strings.Repeat("Þ", 64), "kennitala": strings.Repeat("ð", 10), "phone": strings.Repeat("é", 16), "delayInSecondsBeforeAction": 300, "action": "Cancel"},
			fields{"fullName": strings.Repeat("Þ", 64), "kennitala": strings.Repeat("ð", 10), "phone": strings.Repeat("é", 16), "delayInSecondsBeforeAction": 300, "action": "Cancel"},
		},
		"optional fields null": {
			fields{"fullName": "N", "kennitala": "1", "phone": "1", "delayInSecondsBeforeAction": nil, "action": nil},
			fields{"fullName": "N", "kennitala": "1", "phone": "1", "delayInSecondsBeforeAction": 0, "action": "Success"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := c.in(t)
			a := c.call(http.MethodPost, users, test.sent)
			user := c.object(a)
			if _, err := uuid.Parse(c.member(a, "uuid")); err != nil {
				t.Error(err)
			}
			created, updated := c.member(a, "createdAt"), c.member(a, "updatedAt")
			if !timestamp.MatchString(created) || updated != created {
				t.Errorf("createdAt %q, updatedAt %q", created, updated)
			}
			for _, drawn := range []string{"uuid", "createdAt", "updatedAt"} {
				delete(user, drawn)
			}
			diff(t, "user", normal(t, test.want), any(user))
		})
	}
}

// spec 6.1: the list has the same fields except createdAt and updatedAt.
func TestSandboxUsersAreListedWithoutTimestamps(t *testing.T) {
	t.Parallel()
	c := start(t, wiring{}).signer(t)
	diff(t, "empty list", []any{}, c.listed())
	var want []any
	for _, number := range []string{"3", "1", "2"} {
		id := c.user(fields{"fullName": "Signer " + number, "kennitala": number, "phone": number})
		want = append(want, object{"uuid": id, "fullName": "Signer " + number, "kennitala": number, "phone": number, "delayInSecondsBeforeAction": 0.0, "action": "Success"})
	}
	diff(t, "list in the order of creation", want, c.listed())
}

// spec 6.1: an omitted or null field keeps its value.
func TestPutKeepsWhatIsOmittedOrNull(t *testing.T) {
	t.Parallel()
	before := fields{"fullName": "Before", "kennitala": "1111111111", "phone": "111", "delayInSecondsBeforeAction": 7, "action": "Cancel"}
	for name, test := range map[string]struct{ sent, changed fields }{
		"nothing":           {fields{}, fields{}},
		"name":              {fields{"fullName": "After"}, fields{"fullName": "After"}},
		"kennitala":         {fields{"kennitala": "2222222222"}, fields{"kennitala": "2222222222"}},
		"phone":             {fields{"phone": "222"}, fields{"phone": "222"}},
		"delay":             {fields{"delayInSecondsBeforeAction": 0}, fields{"delayInSecondsBeforeAction": 0}},
		"action":            {fields{"action": "Success"}, fields{"action": "Success"}},
		"the values it has": {before, fields{}},
		"null": {
			fields{"fullName": nil, "kennitala": nil, "phone": "222", "delayInSecondsBeforeAction": nil, "action": nil},
			fields{"phone": "222"},
		},
		"all": {
			fields{"fullName": "After", "kennitala": "2222222222", "phone": "222", "delayInSecondsBeforeAction": 1, "action": "Success"},
			fields{"fullName": "After", "kennitala": "2222222222", "phone": "222", "delayInSecondsBeforeAction": 1, "action": "Success"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := start(t, wiring{}).signer(t)
			id := c.user(before)
			c.update(id, test.sent)
			want := before.with(test.changed).with(fields{"uuid": id})
			diff(t, "user", []any{normal(t, want)}, c.listed())
			c.update(strings.ToUpper(id), fields{"fullName": "By the same uuid in capitals"})
		})
	}
}

// spec 6.1: the kennitala and the phone of a user are unique in an account.
func TestSandboxUserAlreadyExists(t *testing.T) {
	t.Parallel()
	s := start(t, wiring{})
	c := s.signer(t)
	c.user(fields{"fullName": "First", "kennitala": "0101-30298", "phone": "111"})
	second := c.user(fields{"fullName": "Second", "kennitala": "2222222222", "phone": "222"})
	before := c.listed()
	for name, taken := range map[string]fields{
		"kennitala":                       {"kennitala": "0101-30298"},
		"kennitala, not counting hyphens": {"kennitala": "01-0130298"},
		"phone":                           {"phone": "111"},
	} {
		t.Run(name, func(t *testing.T) {
			c, other := c.in(t), s.signer(t)
			third := fields{"fullName": "Third", "kennitala": "3333333333", "phone": "333"}.with(taken)
			c.wantProblem(c.call(http.MethodPost, users, third), http.StatusUnprocessableEntity, "Sandbox user already exists")
			c.wantProblem(c.call(http.MethodPut, users+"/"+second, taken), http.StatusUnprocessableEntity, "Sandbox user already exists")
			diff(t, "users", before, c.listed())
			other.user(third)
		})
	}
	c.update(second, fields{"phone": "222 "})
	c.user(fields{"fullName": "Third", "kennitala": "3333333333", "phone": "222"})
}

// spec 6.2: the calls of a signing without a delay and with action Success.
func TestCallsOfASigning(t *testing.T) {
	t.Parallel()
	c := start(t, wiring{}).signer(t)
	c.user(person)
	for _, test := range []struct {
		method string
		code   any
		polls  []object // nil is 200
	}{
		{idpApp, nil, []object{pending, nil}},
		{idpSim, "1234", []object{nil}},
	} {
		t.Run(test.method, func(t *testing.T) {
			c := c.in(t)
			started := c.start(startBody(test.method))
			id := c.member(started, "pollingId")
			if _, err := uuid.Parse(id); err != nil {
				t.Error(err)
			}
			c.want(started, http.StatusOK, object{"pollingId": id, "expiresIn": 600, "interval": 1, "verificationCode": test.code})
			for _, want := range test.polls {
				if want != nil {
					c.wantFailure(c.poll(id), want)
					continue
				}
				c.signature(c.signed(c.poll(id)))
			}
			c.wantFinished(id)
			c.wantDocuments(0)
		})
	}
}

// spec 6.3: a certificate has the name with which the user was created, and the current kennitala.
func TestCertificateKeepsTheName(t *testing.T) {
	t.Parallel()
	c := start(t, wiring{}).signer(t)
	id := c.user(fields{"fullName": "Þórný Fyrsta", "kennitala": "1111111111", "phone": "111"})
	sign := func(kennitala string) (name, number string) {
		s := c.signature(c.sign(startBody(idpApp).with(fields{"signer.kennitala": kennitala})))
		diff(t, "name in the document", s.Certificate.Subject.CommonName, s.SignerName)
		return s.Certificate.Subject.CommonName, s.Certificate.Subject.SerialNumber
	}
	for _, step := range []struct {
		change    fields
		kennitala string // that the certificate carries
	}{
		{fields{}, "1111111111"},
		{fields{"fullName": "Þórný Önnur"}, "1111111111"},
		{fields{"kennitala": "22222-2222"}, "222222222"},
		{fields{"fullName": "Þórný Þriðja", "kennitala": "3333333333"}, "3333333333"},
	} {
		c.update(id, step.change)
		name, number := sign(step.kennitala)
		diff(t, "name", "Þórný Fyrsta", name)
		diff(t, "kennitala", step.kennitala, number)
	}
	diff(t, "name in the list", any("Þórný Þriðja"), c.listed()[0].(object)["fullName"])
}

// spec 3.2 and 6.2: IdpApp finds a user by kennitala, without hyphens. IdpSim finds a user by the exact phone, and
// does not compare the kennitala.
func TestWhoSigns(t *testing.T) {
	t.Parallel()
	s := start(t, wiring{})
	c := s.signer(t)
	c.user(fields{"fullName": "By Number", "kennitala": "1111111111", "phone": "+354 111"})
	c.user(fields{"fullName": "By Hyphens", "kennitala": "22-22-2222", "phone": "222"})
	s.signer(t).user(fields{"fullName": "Of Another Account", "kennitala": "3333333333", "phone": "333"})
	const noSigner = ""
	for name, test := range map[string]struct {
		method, kennitala string
		phone             any
		signer            string
	}{
		"IdpApp":                          {idpApp, "1111111111", absent{}, "By Number"},
		"IdpApp, hyphen in the request":   {idpApp, "111111-1111", absent{}, "By Number"},
		"IdpApp, hyphens in the user":     {idpApp, "22222222", absent{}, "By Hyphens"},
		"IdpApp, hyphens in both":         {idpApp, "2222-22-22", absent{}, "By Hyphens"},
		"IdpApp, another's phone":         {idpApp, "1111111111", "222", "By Number"},
		"IdpApp, phone that cannot be":    {idpApp, "1111111111", "a phone number far too long", "By Number"},
		"IdpApp, unknown kennitala":       {idpApp, "9999999999", "222", noSigner},
		"IdpApp, of another account":      {idpApp, "3333333333", absent{}, noSigner},
		"IdpSim":                          {idpSim, "1111111111", "+354 111", "By Number"},
		"IdpSim, another's kennitala":     {idpSim, "1111111111", "222", "By Hyphens"},
		"IdpSim, unknown kennitala":       {idpSim, "9999999999", "222", "By Hyphens"},
		"IdpSim, phone written otherwise": {idpSim, "1111111111", "+354111", noSigner},
		"IdpSim, unknown phone":           {idpSim, "1111111111", "999", noSigner},
		"IdpSim, of another account":      {idpSim, "1111111111", "333", noSigner},
	} {
		t.Run(name, func(t *testing.T) {
			c := c.in(t)
			body := startBody(test.method).with(fields{"signer.kennitala": test.kennitala, "signer.phone": test.phone})
			if test.signer == noSigner {
				c.wantFailure(c.start(body), userNotFound)
			} else {
				diff(t, "signer", test.signer, c.signature(c.sign(body)).SignerName)
			}
			c.wantDocuments(0)
		})
	}
}

// spec 6.2: polls answer AuthorizationPending until the delay since the start has passed.
func TestDelay(t *testing.T) {
	t.Parallel()
	for _, method := range methods {
		for _, action := range []string{"Success", "Cancel"} {
			for _, delay := range []time.Duration{time.Second, 300 * time.Second} {
				t.Run(method+" "+action+" "+delay.String(), func(t *testing.T) {
					bubble(t, wiring{}, func(t *testing.T, s *server) {
						c := s.signer(t)
						c.user(person.with(fields{"delayInSecondsBeforeAction": delay / time.Second, "action": action}))
						id := c.begin(startBody(method))
						c.wantFailure(c.poll(id), pending)
						c.wantFailure(c.poll(id), pending)
						time.Sleep(delay - time.Millisecond)
						c.wantFailure(c.poll(id), pending)
						time.Sleep(time.Millisecond)
						c.wantResult(id, action)
					})
				})
			}
		}
	}
}

// wantResult polls a request that the person has answered, and polls again.
func (c *client) wantResult(id, action string) {
	c.Helper()
	if a := c.poll(id); action == "Cancel" {
		c.wantFailure(a, cancelled)
	} else {
		c.signature(c.signed(a))
	}
	c.wantFinished(id)
	c.wantDocuments(0)
}

// spec 6.2: with IdpApp, the first poll always answers AuthorizationPending.
func TestFirstPollWithIdpAppIsPending(t *testing.T) {
	t.Parallel()
	for _, action := range []string{"Success", "Cancel"} {
		t.Run(action, func(t *testing.T) {
			bubble(t, wiring{}, func(t *testing.T, s *server) {
				c := s.signer(t)
				c.user(person.with(fields{"delayInSecondsBeforeAction": 1, "action": action}))
				id := c.begin(startBody(idpApp))
				time.Sleep(10 * time.Second)
				c.wantFailure(c.poll(id), pending)
				c.wantResult(id, action)
			})
		})
	}
}

// spec 6.2: requests for one user may run in parallel.
func TestRequestsForOneUserInParallel(t *testing.T) {
	t.Parallel()
	c := start(t, wiring{}).signer(t)
	c.user(person)
	first, second := c.begin(startBody(idpApp)), c.begin(startBody(idpSim))
	c.wantFailure(c.poll(first), pending)
	c.signature(c.signed(c.poll(second)))
	c.signature(c.signed(c.poll(first)))
}
