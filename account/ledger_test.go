package account_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"github.com/innsigli/innsigli/account"
	postgrestest "github.com/innsigli/innsigli/internal/test/postgres"
	"github.com/innsigli/innsigli/storage/postgres"
)

// signed counts so many signatures, each of another request.
func (f fixture) signed(owner string, signatures int, api account.API, at time.Time) {
	f.Helper()
	for range signatures {
		if err := f.Signed(f.Context(), owner, uuid.NewString(), api == account.PortalAPI, at); err != nil {
			f.Fatal(err)
		}
	}
}

func (f fixture) terms(owner string) account.Terms {
	f.Helper()
	t, err := f.Terms(f.Context(), owner)
	if err != nil {
		f.Fatal(err)
	}
	return t
}

func TestTerms(t *testing.T) {
	bubble(t, func(f fixture) {
		owner := f.account("owner").ID
		if err := errors.Join(f.SetPaymentMethod(f.Context(), owner, true), f.SetQuota(f.Context(), owner, 100)); err != nil {
			f.Fatal(err)
		}
		for _, step := range []struct {
			name string
			do   func()
			want account.Terms
		}{
			{"new", func() {}, account.Terms{PaymentMethod: true, Free: 3, Quota: 100}},
			{"stored", func() { f.stored(owner, 100) }, account.Terms{PaymentMethod: true, Free: 3, Quota: 0}},
			{"stored more", func() { f.stored(owner, 20) }, account.Terms{PaymentMethod: true, Free: 3, Quota: -20}},
			{"deleted", func() { f.stored(owner, -90) }, account.Terms{PaymentMethod: true, Free: 3, Quota: 70}},
			{"signed", func() { f.signed(owner, 2, account.PortalAPI, time.Now()) }, account.Terms{PaymentMethod: true, Free: 1, Quota: 70}},
			{"signed by the other API", func() { f.signed(owner, 1, account.SigningAPI, time.Now()) }, account.Terms{PaymentMethod: true, Quota: 70}},
			{"signed more", func() { f.signed(owner, 1, account.SigningAPI, time.Now()) }, account.Terms{PaymentMethod: true, Quota: 70}},
		} {
			step.do()
			if diff := cmp.Diff(step.want, f.terms(owner)); diff != "" {
				f.Errorf("%s (-want +got):\n%s", step.name, diff)
			}
		}
		if other := f.account("other").ID; f.terms(other).Free != 3 {
			f.Error("the signatures of an account count for another")
		}
	})
}

func (f fixture) stored(owner string, bytes int64) {
	f.Helper()
	if err := f.Stored(f.Context(), owner, bytes); err != nil {
		f.Fatal(err)
	}
}

// A request is counted once, at the time when it was counted first.
func TestASignatureIsCountedOnce(t *testing.T) {
	bubble(t, func(f fixture) {
		owner, request := f.account("owner").ID, uuid.NewString()
		for range 3 {
			if err := f.Signed(f.Context(), owner, request, true, time.Now()); err != nil {
				f.Fatal(err)
			}
			time.Sleep(40 * 24 * time.Hour)
		}
		if a, err := f.Account(f.Context(), owner); err != nil || a.Signatures != 1 {
			f.Errorf("%v, %v", a, err)
		}
		if s := f.statement(owner, time.Now()); s.Signatures() != 0 {
			f.Errorf("now: %+v", s)
		}
	})
}

// What a signature belongs to may come to nothing after it was counted.
func TestCountingJoinsTheTransaction(t *testing.T) {
	bubble(t, func(f fixture) {
		owner, refused := f.account("owner"), errors.New("refused")
		err := f.db.InTx(f.Context(), func(ctx context.Context) error {
			return errors.Join(
				f.Signed(ctx, owner.ID, uuid.NewString(), true, time.Now()),
				f.Stored(ctx, owner.ID, 5),
				refused,
			)
		})
		if err.Error() != refused.Error() {
			f.Errorf("InTx: %v", err)
		}
		got, err := f.Account(f.Context(), owner.ID)
		if diff := cmp.Diff(owner, got); diff != "" || err != nil {
			f.Errorf("%v, after it (-want +got):\n%s", err, diff)
		}
		if s := f.statement(owner.ID, time.Now()); s.Signatures() != 0 {
			f.Errorf("%+v", s)
		}
	})
}

// Of signatures at once three are free, of whichever API they are.
func TestSignaturesAtOnce(t *testing.T) {
	bubble(t, func(f fixture) { signAtOnce(f.T, f.Service) })
	t.Run("in Postgres", func(t *testing.T) {
		url := postgrestest.Database(t)
		if _, _, err := postgres.Migrate(t.Context(), url); err != nil {
			t.Fatal(err)
		}
		db, err := postgres.Open(t.Context(), url, postgres.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		signAtOnce(t, account.New(db.Accounts(), db, account.Options{}))
	})
}

func signAtOnce(t *testing.T, s *account.Service) {
	owner, err := s.CreateAccount(t.Context(), "owner")
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, time.November, 14, 12, 0, 0, 0, time.UTC)
	var group errgroup.Group
	for i := range 40 {
		group.Go(func() error {
			return errors.Join(s.Signed(t.Context(), owner.ID, uuid.NewString(), i%2 == 1, at), s.Stored(t.Context(), owner.ID, 10))
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	got, err := s.Statement(t.Context(), owner.ID, at)
	if err != nil || got.Signing != 20 || got.Portal != 20 || got.Free != 3 || got.Price != 200 || got.Amount != 7400 {
		t.Errorf("%+v, %v", got, err)
	}
	if a, err := s.Account(t.Context(), owner.ID); err != nil || a.Signatures != 40 || a.Stored != 400 {
		t.Errorf("%+v, %v", a, err)
	}
}

// A signature to order is one of the Portal API.
func TestAPIsOfSignatures(t *testing.T) {
	bubble(t, func(f fixture) {
		owner := f.account("owner").ID
		for request, ordered := range map[string]bool{"a": false, "b": true, "c": true} {
			if err := f.Signed(f.Context(), owner, request, ordered, time.Now()); err != nil {
				f.Fatal(err)
			}
		}
		if got := f.statement(owner, time.Now()); got.Signing != 1 || got.Portal != 2 {
			f.Errorf("%+v", got)
		}
	})
}
