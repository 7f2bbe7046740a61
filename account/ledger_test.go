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
)

// signed adds signatures to the ledger, each of another request.
func (f fixture) signed(owner string, signatures int, api account.API, at time.Time) {
	f.Helper()
	for range signatures {
		if err := f.AddSignature(f.Context(), owner, uuid.NewString(), api == account.PortalAPI, at); err != nil {
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
			{"new", func() {}, account.Terms{PaymentMethod: true, FreeLeft: 3, StorageLeft: 100}},
			{"stored", func() { f.stored(owner, 100) }, account.Terms{PaymentMethod: true, FreeLeft: 3, StorageLeft: 0}},
			{"stored more", func() { f.stored(owner, 20) }, account.Terms{PaymentMethod: true, FreeLeft: 3, StorageLeft: -20}},
			{"deleted", func() { f.stored(owner, -90) }, account.Terms{PaymentMethod: true, FreeLeft: 3, StorageLeft: 70}},
			{"signed", func() { f.signed(owner, 2, account.PortalAPI, time.Now()) }, account.Terms{PaymentMethod: true, FreeLeft: 1, StorageLeft: 70}},
			{"signed by the other API", func() { f.signed(owner, 1, account.SigningAPI, time.Now()) }, account.Terms{PaymentMethod: true, StorageLeft: 70}},
			{"signed more", func() { f.signed(owner, 1, account.SigningAPI, time.Now()) }, account.Terms{PaymentMethod: true, StorageLeft: 70}},
		} {
			step.do()
			if diff := cmp.Diff(step.want, f.terms(owner)); diff != "" {
				f.Errorf("%s (-want +got):\n%s", step.name, diff)
			}
		}
		if other := f.account("other").ID; f.terms(other).FreeLeft != 3 {
			f.Error("the signatures of an account count for another account")
		}
	})
}

func (f fixture) stored(owner string, bytes int64) {
	f.Helper()
	if err := f.AddStoredBytes(f.Context(), owner, bytes); err != nil {
		f.Fatal(err)
	}
}

// A request is counted once, at the time of the first call.
func TestSignatureIsCountedOnce(t *testing.T) {
	bubble(t, func(f fixture) {
		owner, request := f.account("owner").ID, uuid.NewString()
		for range 3 {
			if err := f.AddSignature(f.Context(), owner, request, true, time.Now()); err != nil {
				f.Fatal(err)
			}
			time.Sleep(40 * 24 * time.Hour)
		}
		if a, err := f.Account(f.Context(), owner); err != nil || a.FreeUsed != 1 {
			f.Errorf("%v, %v", a, err)
		}
		if s := f.statement(owner, time.Now()); s.Signatures() != 0 {
			f.Errorf("now: %+v", s)
		}
	})
}

// If the transaction of a signature fails, the signature is not counted.
func TestSignedJoinsTheTransaction(t *testing.T) {
	bubble(t, func(f fixture) {
		owner, refused := f.account("owner"), errors.New("refused")
		err := f.db.InTx(f.Context(), func(ctx context.Context) error {
			return errors.Join(
				f.AddSignature(ctx, owner.ID, uuid.NewString(), true, time.Now()),
				f.AddStoredBytes(ctx, owner.ID, 5),
				refused,
			)
		})
		if err.Error() != refused.Error() {
			f.Errorf("InTx: %v", err)
		}
		got, err := f.Account(f.Context(), owner.ID)
		if diff := cmp.Diff(owner, got); diff != "" || err != nil {
			f.Errorf("%v, after the transaction (-want +got):\n%s", err, diff)
		}
		if s := f.statement(owner.ID, time.Now()); s.Signatures() != 0 {
			f.Errorf("%+v", s)
		}
	})
}

// Of concurrent signatures, with both APIs, three are free.
func TestConcurrentSignatures(t *testing.T) {
	bubble(t, func(f fixture) {
		owner := f.account("owner")
		at := time.Date(2026, time.November, 14, 12, 0, 0, 0, time.UTC)
		var group errgroup.Group
		for i := range 40 {
			group.Go(func() error {
				return errors.Join(f.AddSignature(f.Context(), owner.ID, uuid.NewString(), i%2 == 1, at), f.AddStoredBytes(f.Context(), owner.ID, 10))
			})
		}
		if err := group.Wait(); err != nil {
			f.Fatal(err)
		}
		if got := f.statement(owner.ID, at); got.Signing != 20 || got.Portal != 20 || got.Free != 3 || got.Price != 200 || got.Amount != 7400 {
			f.Errorf("%+v", got)
		}
		if a, err := f.Account(f.Context(), owner.ID); err != nil || a.FreeUsed != account.FreeSignatures || a.Stored != 400 {
			f.Errorf("%+v, %v", a, err)
		}
	})
}

func (f fixture) statement(owner string, month time.Time) account.Statement {
	f.Helper()
	s, err := f.Statement(f.Context(), owner, month)
	if err != nil {
		f.Fatal(err)
	}
	return s
}

// spec 4.7. The amounts were computed by hand: of 12 signatures in the first month, nine are not free, at the price
// of 11 to 25 signatures.
func TestStatements(t *testing.T) {
	for _, test := range []struct {
		signatures   int
		price        int
		first, later int // the amount in the account's first month, and in a later one
	}{
		{0, 300, 0, 0},
		{1, 300, 0, 300},
		{3, 300, 0, 900},
		{4, 300, 300, 1200},
		{10, 300, 2100, 3000},
		{11, 215, 1720, 2365},
		{12, 215, 1935, 2580},
		{25, 215, 4730, 5375},
		{26, 200, 4600, 5200},
		{50, 200, 9400, 10000},
		{51, 180, 8640, 9180},
		{200, 180, 35460, 36000},
	} {
		bubble(t, func(f fixture) {
			owner := f.account("Íslenskt fyrirtæki ehf.").ID
			first := time.Date(2026, time.November, 14, 12, 0, 0, 0, time.UTC)
			later := first.AddDate(0, 1, 0)
			f.signed(owner, test.signatures, account.PortalAPI, first)
			want := account.Statement{
				Account: owner, Name: "Íslenskt fyrirtæki ehf.", Month: time.Date(2026, time.November, 1, 0, 0, 0, 0, time.UTC),
				Portal: test.signatures, Free: min(test.signatures, 3), Price: test.price, Amount: test.first,
			}
			if diff := cmp.Diff(want, f.statement(owner, first)); diff != "" {
				f.Errorf("%d in the first month (-want +got):\n%s", test.signatures, diff)
			}
			f.signed(owner, 3, account.SigningAPI, first) // so that no later signature is free
			f.signed(owner, test.signatures, account.PortalAPI, later)
			want.Month, want.Free, want.Amount = time.Date(2026, time.December, 1, 0, 0, 0, 0, time.UTC), 0, test.later
			if diff := cmp.Diff(want, f.statement(owner, later)); diff != "" {
				f.Errorf("%d later (-want +got):\n%s", test.signatures, diff)
			}
		})
	}
}

// Free signatures may be of several months, and the signatures of both APIs determine the price.
func TestStatementOfBothAPIs(t *testing.T) {
	bubble(t, func(f fixture) {
		owner := f.account("owner").ID
		october, november := time.Date(2026, time.October, 5, 0, 0, 0, 0, time.UTC), time.Date(2026, time.November, 5, 0, 0, 0, 0, time.UTC)
		f.signed(owner, 2, account.SigningAPI, october)
		f.signed(owner, 6, account.SigningAPI, november)
		f.signed(owner, 5, account.PortalAPI, november)
		want := account.Statement{
			Account: owner, Name: "owner", Month: november.AddDate(0, 0, -4),
			Signing: 6, Portal: 5, Free: 1, Price: 215, Amount: 2150,
		}
		if diff := cmp.Diff(want, f.statement(owner, november)); diff != "" {
			f.Errorf("November (-want +got):\n%s", diff)
		}
		if s := f.statement(owner, october); s.Signing != 2 || s.Free != 2 || s.Amount != 0 {
			f.Errorf("October: %+v", s)
		}
		if s := f.statement(f.account("other").ID, november); s.Signatures() != 0 || s.Amount != 0 {
			f.Errorf("another account: %+v", s)
		}
	})
}

// Months begin and end in UTC.
func TestMonths(t *testing.T) {
	bubble(t, func(f fixture) {
		owner := f.account("owner").ID
		reykjavik, tokyo := time.FixedZone("Reykjavík", 0), time.FixedZone("Tokyo", 9*3600)
		for _, at := range []time.Time{
			time.Date(2026, time.November, 30, 23, 59, 59, 999_999_000, time.UTC),
			time.Date(2026, time.December, 1, 0, 0, 0, 0, time.UTC),
			time.Date(2026, time.December, 31, 23, 59, 59, 999_999_000, time.UTC),
			time.Date(2027, time.January, 1, 0, 0, 0, 0, time.UTC),
			time.Date(2027, time.January, 1, 0, 0, 0, 1000, time.UTC),
			time.Date(2028, time.February, 29, 12, 0, 0, 0, time.UTC),
		} {
			f.signed(owner, 1, account.PortalAPI, at)
		}
		for _, test := range []struct {
			month time.Time
			want  int
		}{
			{time.Date(2026, time.November, 1, 0, 0, 0, 0, time.UTC), 1},
			{time.Date(2026, time.December, 31, 12, 0, 0, 0, reykjavik), 2},
			{time.Date(2027, time.January, 1, 8, 0, 0, 0, tokyo), 2}, // which is December in UTC
			{time.Date(2027, time.January, 1, 9, 0, 0, 0, tokyo), 2},
			{time.Date(2027, time.February, 1, 0, 0, 0, 0, time.UTC), 0},
			{time.Date(2028, time.February, 1, 0, 0, 0, 0, time.UTC), 1},
		} {
			s := f.statement(owner, test.month)
			year, number, _ := test.month.UTC().Date()
			if want := time.Date(year, number, 1, 0, 0, 0, 0, time.UTC); s.Signatures() != test.want || s.Month != want {
				f.Errorf("%v: %+v, want %d of %v", test.month, s, test.want, want)
			}
		}
	})
}
