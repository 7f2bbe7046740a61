package httpapi_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/google/uuid"
)

const users = "/api/v1/sandbox/users"

// listed are the account's sandbox users by the list.
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

// spec 6.1: 400 with errors.
func TestFaultySandboxUsers(t *testing.T) {
	t.Parallel()
	c := start(t, wiring{}).signer(t)
	id := c.user(person)
	good := fields{"fullName": "Another Signer", "kennitala": "2222222222", "phone": "222"}
	const fullName, number, telephone, delay, action = "fullName", "kennitala", "phone", "delayInSecondsBeforeAction", "action"
	for name, test := range map[string]struct {
		sent  fields
		paths []string
	}{
		"too long": {
			fields{fullName: strings.Repeat("Þ", 65), number: strings.Repeat("1", 11), telephone: strings.Repeat("5", 17)},
			[]string{fullName, number, telephone},
		},
		"kennitala too long for its hyphen": {fields{number: "010130-2989"}, []string{number}},
		"kennitala of hyphens":              {fields{number: "--"}, []string{number}},
		"control character":                 {fields{fullName: "Sandbox\x00Signer", telephone: "555\n0101"}, []string{fullName, telephone}},
		"action that is none":               {fields{action: "Decline"}, []string{action}},
		"action in small letters":           {fields{action: "success"}, []string{action}},
		"delay below 0":                     {fields{delay: -1}, []string{delay}},
		"delay above 300":                   {fields{delay: 301}, []string{delay}},
		"delay that is no whole number":     {fields{delay: 1.5}, []string{delay}},
		"delay as text":                     {fields{delay: "100000"}, []string{delay}},
		"wrong types":                       {fields{fullName: 5, number: true, telephone: []int{1}, action: object{}}, []string{fullName, number, telephone, action}},
		"everything":                        {fields{fullName: "\x01", number: "-", telephone: "\x01", delay: 1e9, action: "None"}, []string{fullName, number, telephone, delay, action}},
	} {
		t.Run("POST "+name, func(t *testing.T) {
			c := c.in(t)
			c.wantInvalid(c.call(http.MethodPost, users, good.with(test.sent)), test.paths...)
		})
		t.Run("PUT "+name, func(t *testing.T) {
			c := c.in(t)
			c.wantInvalid(c.call(http.MethodPut, users+"/"+id, test.sent), test.paths...)
		})
	}
	for name, sent := range map[string]fields{
		"no field":         {},
		"null":             {fullName: nil, number: nil, telephone: nil},
		"white space only": {fullName: " ", number: "\t ", telephone: "\u00a0"},
	} {
		t.Run("POST "+name, func(t *testing.T) {
			c := c.in(t)
			c.wantInvalid(c.call(http.MethodPost, users, sent), fullName, number, telephone)
		})
	}
	if listed := c.listed(); len(listed) != 1 {
		t.Errorf("refused requests left %v", listed)
	}
	c.user(good.with(fields{delay: 1.0}))
}

// spec 6.1: each user of an account has a kennitala and a phone
// of its own, on POST and on PUT.
func TestSandboxUserAlreadyExists(t *testing.T) {
	t.Parallel()
	s := start(t, wiring{})
	c := s.signer(t)
	c.user(fields{"fullName": "First", "kennitala": "0101-30298", "phone": "111"})
	second := c.user(fields{"fullName": "Second", "kennitala": "2222222222", "phone": "222"})
	before := c.listed()
	for name, taken := range map[string]fields{
		"kennitala":                {"kennitala": "0101-30298"},
		"kennitala, hyphens aside": {"kennitala": "01-0130298"},
		"phone":                    {"phone": "111"},
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

// spec 1.5, 1.7 and 6.1: what is not yours does not exist.
func TestPutToAUserThatIsNotYours(t *testing.T) {
	t.Parallel()
	s := start(t, wiring{})
	c, other := s.signer(t), s.signer(t)
	id := other.user(person)
	for name, path := range map[string]string{
		"another account's": id,
		"unknown":           uuid.NewString(),
		"no UUID":           "1",
	} {
		t.Run(name, func(t *testing.T) {
			c := c.in(t)
			c.wantProblem(c.call(http.MethodPut, users+"/"+path, fields{"fullName": "Somebody Else"}), http.StatusNotFound, "Not found")
		})
	}
	diff(t, "users of the caller", []any{}, c.listed())
	other.colleague().update(id, fields{"fullName": "Same Account"})
	diff(t, "name", any("Same Account"), other.listed()[0].(object)["fullName"])
}

// spec 6.1: production answers 404, token or not (spec 7.1).
func TestProductionHasNoSandbox(t *testing.T) {
	t.Parallel()
	c := start(t, wiring{production: true}).signer(t)
	for _, token := range []string{c.token, "wrong"} {
		c.token = token
		c.wantProblem(c.call(http.MethodGet, users, nil), http.StatusNotFound, "Not found")
		c.wantProblem(c.call(http.MethodPost, users, person), http.StatusNotFound, "Not found")
		c.wantProblem(c.call(http.MethodPut, users+"/"+uuid.NewString(), person), http.StatusNotFound, "Not found")
		c.wantProblem(c.call(http.MethodGet, "/.well-known/sandbox-root.pem", nil), http.StatusNotFound, "Not found")
	}
}
