package account_test

import (
	"errors"
	"testing"
	"time"

	"github.com/innsigli/innsigli/account"
)

// RFC 7009 2.1 and 2.2.
func TestRevoke(t *testing.T) {
	bubble(t, func(f fixture) {
		c, secret := f.client()
		colleague, theirs, err := f.CreateClient(f.Context(), c.AccountID, "colleague", nil)
		if err != nil {
			f.Fatal(err)
		}
		stranger, strange := f.client()
		token, other := f.issue(c, secret).Value, f.issue(c, secret).Value
		for name, test := range map[string]struct {
			id, secret, token string
			want              error
		}{
			"a wrong secret":             {c.ID, theirs, token, account.ErrInvalidClient},
			"nobody":                     {"nobody", secret, token, account.ErrInvalidClient},
			"a client of the account":    {colleague.ID, theirs, token, account.ErrOtherClient},
			"a client of another one":    {stranger.ID, strange, token, nil},
			"a token that is none":       {c.ID, secret, "none", nil},
			"a token of no length":       {c.ID, secret, "", nil},
			"the secret, as a token":     {c.ID, secret, secret, nil},
			"the token's hash, likewise": {c.ID, secret, string(f.asStored(c).Secrets[0].Hash), nil},
		} {
			if err := f.Revoke(f.Context(), test.id, test.secret, test.token); !errors.Is(err, test.want) {
				f.Errorf("%s: %v, want %v", name, err, test.want)
			}
			f.lets(token)
		}
		for range 2 { // what has ended can be ended again
			if err := f.Revoke(f.Context(), c.ID, secret, token); err != nil {
				f.Error(err)
			}
			f.refuses(token)
		}
		f.lets(other)
		time.Sleep(account.TokenLifetime)
		if err := f.Revoke(f.Context(), c.ID, secret, other); err != nil {
			f.Error(err)
		}
	})
}
