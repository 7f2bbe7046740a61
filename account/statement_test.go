package account_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/account"
)

func (f fixture) statement(owner string, month time.Time) account.Statement {
	f.Helper()
	s, err := f.Statement(f.Context(), owner, month)
	if err != nil {
		f.Fatal(err)
	}
	return s
}

// spec 4.7. The amounts are computed by hand: 12 in the first month are
// nine that cost something, at the price of 11 to 25.
func TestStatements(t *testing.T) {
	for _, test := range []struct {
		signatures   int
		price        int
		first, later int // what they cost in the account's first month, and when there were others before
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
			f.signed(owner, 3, account.SigningAPI, first) // so that none of the others is free
			f.signed(owner, test.signatures, account.PortalAPI, later)
			want.Month, want.Free, want.Amount = time.Date(2026, time.December, 1, 0, 0, 0, 0, time.UTC), 0, test.later
			if diff := cmp.Diff(want, f.statement(owner, later)); diff != "" {
				f.Errorf("%d later (-want +got):\n%s", test.signatures, diff)
			}
		})
	}
}

// The free ones may be of several months, and the price is that of both APIs together.
func TestAStatementOfBothAPIs(t *testing.T) {
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

// A month is from its first moment in UTC to the last before the next.
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
