package audkenni_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/idp/audkenni"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	openidtest "github.com/innsigli/innsigli/internal/test/openid"
)

// The acr_values of the default options.
const (
	choice  = "app-certificate-choice"
	appSign = "app-sign-with-certificate"
	simSign = "sim-sign-pkcs1"
)

// TestRefusals checks refusals by the phone and by Auðkenni, of each request, immediately and later.
// TestErrorsAreComplete checks all of their codes.
func TestRefusals(t *testing.T) {
	p := openidtest.Start(t, openidtest.Options{})
	provider, _ := open(t, p, audkenni.Options{Errors: map[string]idp.ErrorCode{"mssp_600": idp.WrongVerificationCodeSelected}})
	failure := func(code idp.ErrorCode, oauth, description string) idp.Failure {
		return idp.Failure{Code: code, OAuth: oauth, Description: description}
	}
	for _, test := range []struct {
		description, oauth string
		want               idp.Failure
	}{
		{"mssp_401", "access_denied", failure(idp.UserCancelled, "access_denied", "mssp_401")},
		{"audkenni_400", "access_denied", failure(idp.UserHasNoPhone, "access_denied", "audkenni_400")},
		{"mssp_600", "access_denied", failure(idp.WrongVerificationCodeSelected, "access_denied", "mssp_600")},
		{"mssp_601", "access_denied", failure("", "access_denied", "mssp_601")},
		{"Notandi hætti við.", "access_denied", failure(idp.AccessDenied, "access_denied", "Notandi hætti við.")},
		{"", "transaction_failed", failure(idp.InternalError, "transaction_failed", "")},
	} {
		for _, at := range []struct {
			method idp.Method
			acr    string
			trail  []string // before the failure of a request that was taken
		}{
			{idp.App, choice, []string{"waiting"}},
			{idp.App, appSign, byApp[:4]},
			{idp.SIM, simSign, learns[:1]},
		} {
			t.Run(strings.Join([]string{at.acr, test.oauth, test.description}, " "), func(t *testing.T) {
				refusal := openidtest.Refusal{Code: test.oauth, Description: test.description}
				person := newPerson(t)
				for _, way := range []struct {
					answer openidtest.Answer
					trail  []string
				}{
					{openidtest.Answer{Error: &refusal}, at.trail},
					{openidtest.Answer{AtStart: &refusal}, at.trail[:len(at.trail)-1]},
				} {
					person.Answers = map[string]openidtest.Answer{at.acr: way.answer}
					p.Person(person)
					c := begin(t, provider, named(person, at.method), nil).run()
					if diff := cmp.Diff(test.want, c.failure()); diff != "" {
						t.Error(diff)
					}
					if diff := cmp.Diff(way.trail, c.trail[:len(c.trail)-1]); diff != "" {
						t.Error(diff)
					}
				}
			})
		}
	}
}

func TestUnknownPerson(t *testing.T) {
	p := openidtest.Start(t, openidtest.Options{})
	provider, _ := open(t, p, audkenni.Options{})
	stranger := newPerson(t)
	want := idp.Failure{Code: idp.UserNotFound, OAuth: "access_denied", Description: "audkenni_404"}
	for _, method := range []idp.Method{idp.App, idp.SIM} {
		if diff := cmp.Diff(want, begin(t, provider, named(stranger, method), nil).failure()); diff != "" {
			t.Errorf("%s:\n%s", method, diff)
		}
	}
}

// TestClientIsRefused checks that Auðkenni refuses the service itself.
func TestClientIsRefused(t *testing.T) {
	p := openidtest.Start(t, openidtest.Options{})
	person := newPerson(t)
	p.Person(person)
	p.Secret = "another"
	provider, _ := open(t, p, audkenni.Options{})
	if f := begin(t, provider, named(person, idp.App), nil).failure(); f.Code != idp.InvalidClient || f.OAuth != "invalid_client" {
		t.Errorf("got %+v", f)
	}
}

// The provider's descriptions, which are passed on.
const (
	notYet  = "authorization request is still pending as the end-user hasn't yet completed the user interaction steps"
	tooFast = "polled within the interval"
)

// TestSlowDown checks that slow_down increases the interval for the rest of the conversation, its second request
// included (CIBA Core 1.0 11).
func TestSlowDown(t *testing.T) {
	p := openidtest.Start(t, openidtest.Options{Interval: 30 * time.Second, SlowDowns: 2})
	person := newPerson(t)
	person.Answers = map[string]openidtest.Answer{choice: {Silent: true}, appSign: {Silent: true}}
	p.Person(person)
	provider, _ := open(t, p, audkenni.Options{})

	c := begin(t, provider, named(person, idp.App), nil)
	for _, want := range []idp.Waiting{
		{RetryAfter: 30 * time.Second, Description: notYet}, // the first poll is not early
		{RetryAfter: 35 * time.Second, SlowDown: true, Description: tooFast},
		{RetryAfter: 40 * time.Second, SlowDown: true, Description: tooFast},
		{RetryAfter: 40 * time.Second, Description: notYet},
	} {
		c.step()
		if diff := cmp.Diff(want, c.event); diff != "" {
			t.Fatal(diff)
		}
	}
	person.Answers[choice] = openidtest.Answer{}
	p.Person(person)
	for c.digest.Sum == nil {
		c.step()
	}
	want := idp.Waiting{Code: audkenni.VerificationCode(c.digest.Sum), RetryAfter: 40 * time.Second}
	if diff := cmp.Diff(want, c.event); diff != "" {
		t.Error(diff)
	}
}

// TestExpiry checks that the adapter waits until the request expires. The second request has a lifetime of its own.
func TestExpiry(t *testing.T) {
	testenv.Slow(t, "conversations expire")
	t.Parallel()
	const second = time.Second
	p := openidtest.Start(t, openidtest.Options{Interval: second, Expires: 12 * second})
	person := newPerson(t)
	person.Answers = map[string]openidtest.Answer{choice: {Delay: 2 * second}, appSign: {Silent: true}}
	p.Person(person)
	provider, _ := open(t, p, audkenni.Options{})

	c := begin(t, provider, named(person, idp.App), nil)
	first, asked := c.state().Expires, time.Now()
	for !c.over() {
		if w, ok := c.event.(idp.Waiting); ok {
			if left := c.state().Expires.Sub(asked); w.RetryAfter > left+second {
				t.Errorf("RetryAfter is %v with %v left", w.RetryAfter, left)
			}
			time.Sleep(max(w.RetryAfter, 50*time.Millisecond)) // time: a pause between polls
		}
		asked = time.Now()
		c.step()
	}
	if f := c.failure(); f.Code != idp.ExpiredToken || f.OAuth != "expired_token" {
		t.Errorf("got %+v", f)
	}
	if last := c.state().Expires; last.Sub(first) < 2*second || time.Until(last) > second {
		t.Errorf("began to expire at %v and then at %v; it is %v", first, last, time.Now())
	}
}
