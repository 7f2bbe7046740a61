package account_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/account"
)

// stored is a client as it is now.
func (f fixture) asStored(c account.Client) account.Client {
	f.Helper()
	found, err := f.db.Accounts().Client(f.Context(), c.ID)
	if err != nil {
		f.Fatal(err)
	}
	return found
}

func (f fixture) addSecret(c account.Client) (id, value string) {
	f.Helper()
	added, value, err := f.AddSecret(f.Context(), c.ID)
	if err != nil {
		f.Fatal(err)
	}
	return added.ID, value
}

// remove takes a secret away, or answers the error wanted.
func (f fixture) remove(c account.Client, secret string, want error) {
	f.Helper()
	if err := f.RemoveSecret(f.Context(), c.ID, secret); !errors.Is(err, want) {
		f.Errorf("RemoveSecret: %v, want %v", err, want)
	}
}

func (f fixture) lets(token string) {
	f.Helper()
	if _, err := f.Authenticate(f.Context(), token); err != nil {
		f.Errorf("Authenticate: %v", err)
	}
}

// One secret takes the other's place, and both work meanwhile.
func TestRotation(t *testing.T) {
	bubble(t, func(f fixture) {
		c, first := f.client(account.Scopes()...)
		old := f.issue(c, first).Value
		id, second := f.addSecret(c)
		if second == first || id == account.FirstSecret {
			f.Errorf("the second secret is %q", id)
		}
		fresh := f.issue(c, second).Value
		f.lets(f.issue(c, first).Value)
		f.lets(old)
		if _, _, err := f.AddSecret(f.Context(), c.ID); !errors.Is(err, account.ErrTwoSecrets) {
			f.Errorf("a third secret: %v", err)
		}

		f.remove(c, account.FirstSecret, nil)
		f.refuses(old)
		f.lets(fresh)
		if _, err := f.Issue(f.Context(), c.ID, first, nil); !errors.Is(err, account.ErrInvalidClient) {
			f.Errorf("the secret that was removed: %v", err)
		}
		f.remove(c, account.FirstSecret, account.ErrNotFound)
		f.remove(c, id, account.ErrLastSecret)
		f.lets(f.issue(c, second).Value)

		third, _ := f.addSecret(c)
		if third == id || third == account.FirstSecret {
			f.Errorf("an ID was given again: %q", third)
		}
		f.refuses(old)
	})
}

func TestSecretsOfNobody(t *testing.T) {
	bubble(t, func(f fixture) {
		_, _, added := f.AddSecret(f.Context(), "nobody")
		removed := f.RemoveSecret(f.Context(), "nobody", account.FirstSecret)
		for _, err := range []error{added, removed} {
			if !errors.Is(err, account.ErrNotFound) {
				f.Error(err)
			}
		}
	})
}

// A use is noted once in ten minutes, of the secret that was used and of its client.
func TestLastUse(t *testing.T) {
	bubble(t, func(f fixture) {
		c, first := f.client()
		id, second := f.addSecret(c)
		made := time.Now()
		uses := func(client, ofFirst, ofSecond time.Time) {
			f.Helper()
			want := f.asStored(c)
			want.UsedAt = client
			want.Secrets = []account.Secret{
				{ID: account.FirstSecret, Hash: want.Secrets[0].Hash, CreatedAt: made, UsedAt: ofFirst},
				{ID: id, Hash: want.Secrets[1].Hash, CreatedAt: made, UsedAt: ofSecond},
			}
			if diff := cmp.Diff(want, f.asStored(c)); diff != "" {
				f.Errorf("stored (-want +got):\n%s", diff)
			}
		}
		var never time.Time
		uses(never, never, never)
		if _, err := f.Issue(f.Context(), c.ID, "wrong", nil); err == nil {
			f.Error("a wrong secret is taken")
		}
		uses(never, never, never)
		token := f.issue(c, first).Value
		uses(made, made, never)
		time.Sleep(10*time.Minute - time.Microsecond)
		f.lets(token)
		f.issue(c, first)
		uses(made, made, never)
		time.Sleep(time.Microsecond)
		f.issue(c, first)
		later := time.Now()
		uses(later, later, never)
		time.Sleep(time.Minute)
		f.issue(c, second)
		uses(time.Now(), later, time.Now())
	})
}

// changing is a store in which another server changes a client just after this one identified it.
type changing struct {
	account.Store
	change func()
}

func (s *changing) Client(ctx context.Context, id string) (account.Client, error) {
	c, err := s.Store.Client(ctx, id)
	if s.change != nil {
		change := s.change
		s.change = nil
		change()
	}
	return c, err
}

// A secret that is removed while a token is issued lets nobody in.
func TestSecretIsRemovedMeanwhile(t *testing.T) {
	for name, used := range map[string]bool{"at its first use": false, "when it was used of late": true} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(f fixture) {
				c, first := f.client()
				f.addSecret(c)
				if used {
					f.issue(c, first)
				}
				store := &changing{f.db.Accounts(), func() { f.remove(c, account.FirstSecret, nil) }}
				s := account.New(store, f.db, account.Options{})
				if token, err := s.Issue(f.Context(), c.ID, first, nil); err == nil {
					f.refuses(token.Value)
				}
				if left := f.asStored(c).Secrets; len(left) != 1 || left[0].ID == account.FirstSecret {
					f.Errorf("the client has %v", left)
				}

				store.change = func() {
					if err := f.DeleteClient(f.Context(), c.ID); err != nil {
						f.Error(err)
					}
				}
				if _, err := s.Issue(f.Context(), c.ID, first, nil); !errors.Is(err, account.ErrInvalidClient) {
					f.Errorf("a client that is gone: %v", err)
				}
			})
		})
	}
}
