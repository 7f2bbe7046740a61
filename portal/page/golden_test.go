package page

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/storage"
)

const (
	goldenCookie = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"
	goldenForm   = "ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8"
)

// records is a store in memory.
type records map[string]Record

func (s records) InTx(ctx context.Context, f func(context.Context) error) error { return f(ctx) }

func (s records) PutRecord(_ context.Context, r Record) error {
	s[hex.EncodeToString(r.Key)] = r
	return nil
}

func (s records) Record(_ context.Context, key []byte) (Record, error) {
	r, ok := s[hex.EncodeToString(key)]
	if !ok {
		return r, storage.ErrNotFound
	}
	return r, nil
}

func (s records) DeleteRecord(context.Context, []byte) error { return nil }

// goldenRecord is a record in the golden file.
type goldenRecord struct {
	Key     string          `json:"key"` // in hexadecimal
	Value   json.RawMessage `json:"value"`
	Expires time.Time       `json:"expires"`
}

// take moves the only record of the store to those of the golden file.
func (s records) take(t *testing.T, golden map[string][]byte, name string, err error) {
	t.Helper()
	if err != nil || len(s) != 1 {
		t.Fatalf("%s: %d records, %v", name, len(s), err)
	}
	for key, r := range s {
		if golden[name], err = json.Marshal(goldenRecord{key, r.Value, r.Expires}); err != nil {
			t.Fatal(err)
		}
	}
	clear(s)
}

// put stores a record of the golden file.
func (s records) put(t *testing.T, encoded []byte) {
	t.Helper()
	var r goldenRecord
	if err := json.Unmarshal(encoded, &r); err != nil {
		t.Fatal(err)
	}
	key, err := hex.DecodeString(r.Key)
	if err != nil {
		t.Fatal(err)
	}
	s[r.Key] = Record{Key: key, Value: r.Value, Expires: r.Expires}
}

// goldenSessions returns a session of a person and one of a login, with all fields set if how is not nil.
func goldenSessions(now time.Time, how *portal.Authentication) map[string]session {
	person := &portal.Person{Name: "Jóna Prófdóttir", Kennitala: "0101302989", At: now, Authentication: how}
	state := LoginState{SIM, "https://idp.example/authorize", "0042", 5 * time.Second, now.Add(time.Minute), []byte(`{"id":"1"}`)}
	there := session{key: sessionKey(goldenCookie), expires: now.Add(idleTimeout), record: &personSession{
		Person: person, EndsBy: now.Add(maxLifetime), Path: "/sign/process/signer", Method: SIM, Hint: "5550101", LoginSessionKey: []byte("before"),
	}}
	logsIn := session{key: sessionKey(goldenForm), expires: now.Add(attemptLifetime), record: &loginSession{
		EndsBy: now.Add(attemptLifetime), Seed: []byte("seed"), PersonSessionKey: []byte("after"),
	}}
	logsIn.asLogin().Attempt = &attempt{
		Target: target{"token", "process", "signer"}, Method: SIM, Hint: "5550101", Begun: now, State: &state, Next: now.Add(leaseDuration), Lease: "lease",
		Redirected: true, Trouble: true, Person: person, Ended: "ended.timeout",
	}
	return map[string]session{"visit": there, "login": logsIn}
}

// goldenCounters returns all counters of logins and of a signature.
func goldenCounters(view *portal.ParticipantView) (all []counter) {
	for _, way := range []LoginMethod{SIM, Browser} {
		all = append(all, loginCounters("/sign/token", &attempt{Method: way, Hint: "5550101"})...)
	}
	// Version 1 also counted these, which nothing reads: package promptlimit counts persons.
	perPerson := limit{"begun for", 5, 10 * time.Minute}
	all = append(all, counter{perPerson, "login sim 5550101"}, counter{perPerson, "sign 0101302989"}, counter{perPerson, "login sim 5550102"})
	return append(all, signCounters(view)...)
}

// Records are stored under the same keys with the same values as by earlier versions, whose records are read. Version 1 did
// not store how a person logged in.
func TestGoldenRecords(t *testing.T) {
	how := &portal.Authentication{Method: "sim", Provider: "https://idp.example", ACR: "sim-auth", Address: "192.0.2.1", Token: "5f0c"}
	t.Run("1", func(t *testing.T) { testGoldenRecords(t, "testdata/records-1.golden.json", nil) })
	t.Run("2", func(t *testing.T) { testGoldenRecords(t, "testdata/records-2.golden.json", how) })
}

func testGoldenRecords(t *testing.T, file string, how *portal.Authentication) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Now().UTC() // a bubble begins with the year 2000
		s := make(records)
		p := &Page{config: Config{Store: s, Tx: s}}
		var view portal.ParticipantView
		view.ID, view.Turns, view.Participant.ID = "process", 3, "signer"
		sessions, counters, times := goldenSessions(now, how), goldenCounters(&view), []time.Time{now.Add(-time.Minute), now}
		made := make(map[string][]byte)
		for name, v := range sessions {
			s.take(t, made, name, p.saveSession(t.Context(), v))
		}
		for _, c := range counters {
			s.take(t, made, c.kind+" "+c.name, p.saveTimes(t.Context(), c, times, now))
		}
		s.take(t, made, "turn", p.saveOnce(t.Context(), nextTurnKey(&view), onceRecord{"/sign/process/signer"}, onceResultTime))

		for _, encoded := range testenv.SameAsGoldenJSON(t, file, made) {
			s.put(t, encoded)
		}
		for name, want := range sessions {
			got, err := p.loadSession(t.Context(), want.key)
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(session{})); diff != "" || err != nil {
				t.Errorf("%s: %v, -want +got:\n%s", name, err, diff)
			}
		}
		for _, c := range counters {
			got, err := p.loadTimes(t.Context(), c, now)
			if diff := cmp.Diff(times, got); diff != "" || err != nil {
				t.Errorf("%s %s: %v, -want +got:\n%s", c.kind, c.name, err, diff)
			}
		}
		if to, first, err := p.claim(t.Context(), nextTurnKey(&view), nil); to != "/sign/process/signer" || first || err != nil {
			t.Errorf("turn: %q, %v, %v", to, first, err)
		}
		login := *sessions["login"].asLogin()
		login.Path = "/sign/process/signer" // stored when the login is completed
		if how == nil {
			return
		}
		testenv.Filled(t, login)
		testenv.Filled(t, *sessions["visit"].asPerson())
	})
}

// Cookies are set as by version 1, and those of version 1 are read. The cookie of a form is derived from the seed that
// is stored for it.
func TestGoldenCookies(t *testing.T) {
	seed := []byte("the seed that is stored for the form")
	w := httptest.NewRecorder()
	setCookie(w, goldenCookie)
	chooseLanguage(w, httptest.NewRequest(http.MethodGet, "/sign/token?lang=en", nil))
	setCookie(w, "")
	made := append(w.Header()["Set-Cookie"], hex.EncodeToString(recordKey("form", goldenForm)), deriveCookie(seed, goldenForm))

	content := testenv.SameAsGolden(t, "testdata/cookies-1.golden", []byte(strings.Join(made, "\n")+"\n"))
	lines := strings.Split(string(content), "\n")
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	for _, line := range lines[:2] {
		cookie, err := http.ParseSetCookie(line)
		if err != nil {
			t.Fatal(err)
		}
		r.AddCookie(cookie)
	}
	if cookieOf(r) != goldenCookie || languageOf(r) != "en" {
		t.Errorf("%q, %q", cookieOf(r), languageOf(r))
	}
	p := &Page{config: Config{Store: records{lines[3]: {Value: seed, Expires: time.Now().Add(formWindow)}}}}
	if _, cookie, err := p.findSubmission(t.Context(), goldenForm); cookie != lines[4] || !errors.Is(err, errNoSession) {
		t.Errorf("%q, %v", cookie, err)
	}
}
