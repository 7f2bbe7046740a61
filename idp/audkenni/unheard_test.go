package audkenni_test

import (
	"testing"
	"time"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/idp/audkenni"
	openidtest "github.com/innsigli/innsigli/internal/test/openid"
)

// A phone does not ring for ever because the answers to the questions are lost.
func TestAnswersAreLostForEver(t *testing.T) {
	t.Parallel()
	p := openidtest.Start(t, openidtest.Options{Interval: time.Second})
	person := somebody(t)
	p.Person(person)
	provider, _ := open(t, p, audkenni.Options{})
	c := begin(t, provider, named(person, idp.App), nil)
	for c.digest.Sum == nil {
		if _, need := c.event.(idp.NeedDigest); need {
			break
		}
		c.step()
	}
	p.Fault(openidtest.Fault{Endpoint: openidtest.Backchannel, Handled: true, Times: 3})
	prompts := len(p.Asked())
	for range 2 {
		state, _, err := c.sign(t.Context())
		if err == nil {
			t.Fatal("no fault")
		}
		c.note(provider.Poll(t.Context(), state))
	}
	_, event, err := c.sign(t.Context())
	if failed, ok := event.(idp.Failed); !ok || failed.Code != idp.CommunicationError || failed.Cause == nil {
		t.Errorf("%+v, %v", event, err)
	}
	if n := len(p.Asked()) - prompts; n != 3 {
		t.Errorf("the phone rang %d times", n)
	}
}
