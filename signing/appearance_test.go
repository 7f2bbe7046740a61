package signing_test

import (
	"testing"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/signing"
)

// A serialNumber that is no kennitala is not shown as one.
func TestStampOfAnotherSerialNumber(t *testing.T) {
	t.Parallel()
	p := newPhone(t)
	p.traits = idp.Traits{ByPhone: true}
	p.key, p.cert = p.issue("PASDK-1234567")
	s := newService(t, p, signing.Options{IgnoreInterval: true})
	wantShown(t, s.poll(s.mustStart(stamped)).Document, map[string]bool{"A signer": true, "010130-2989": true, "1234567": false})
}
