package signing_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/signing"
)

// What is refused at the start leaves nothing behind but what was accepted and ended.
func TestOrdersRefusedAtTheStart(t *testing.T) {
	t.Parallel()
	refusal, broken := new(*signing.Refusal), errors.New("no route")
	for name, test := range map[string]struct {
		phone  func(*testing.T) *phone
		begin  idp.Event
		err    error
		taken  bool
		is     func(error) bool
		owner  []string
		others []string
	}{
		"by the provider": {
			phone: newPhone, begin: idp.Failed{Failure: idp.Failure{Code: idp.UserNotFound}},
			is:    func(err error) bool { return errors.As(err, refusal) && (*refusal).Code == idp.UserNotFound },
			owner: []string{"accepted", "ended"}, others: []string{"signature.asked", "signature.failed"},
		},
		"no way to the provider": {
			phone: newPhone, err: broken, is: func(err error) bool { return errors.Is(err, broken) },
			owner: []string{"accepted", "ended"}, others: []string{"signature.asked", "signature.failed"},
		},
		"by the owner":  {phone: newPhone, taken: true, is: func(err error) bool { return errors.Is(err, errTaken) }},
		"no such level": {phone: wholeCMS, is: func(err error) bool { return errors.Is(err, signing.ErrLevel) }},
	} {
		t.Run(name, func(t *testing.T) {
			p := test.phone(t)
			p.begin = func() (idp.Event, error) { return test.begin, test.err }
			o := newOrders(t, p, signing.Options{})
			o.owner.taken = test.taken
			_, err := o.order()
			if !test.is(err) {
				t.Error(err)
			}
			o.tells(property, test.owner...)
			var others []string
			for _, kind := range o.allKinds() {
				if strings.HasPrefix(kind, "signature.") {
					others = append(others, kind)
				}
			}
			if diff := cmp.Diff(test.others, others); diff != "" {
				t.Error(diff)
			}
			o.wantNoJobs()
			o.wantSignatures(0)
			o.wantThere([]string{o.document}, true)
		})
	}
}
