package main

import (
	"bytes"
	"crypto"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp/audkenni"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	openidtest "github.com/innsigli/innsigli/internal/test/openid"
	"github.com/innsigli/innsigli/pades"
)

// People sign with the app, by digests of two lengths, and with a SIM card whose certificate is
// not known, known, and another than before. EU DSS passes each file at its level, and what the
// phone is asked and shows is what spec 3.4, 3.5 and 3.7 say.
func TestProductionLevels(t *testing.T) {
	testenv.Slow(t, "people are asked at the pace of production")
	p := startProduction(t, installed(t), productionOptions{provider: eager})
	other := p.beside(t, productionOptions{sections: "[identity-provider.app]\ndigest = \"SHA-256\"\n[identity-provider.sim]\nanswer = \"pkcs7\"\n"})
	signed := &signedInProduction{folder: t.TempDir()}
	t.Run("signing", func(t *testing.T) {
		for name, sign := range map[string]func(*testing.T){
			"app, SHA-512": func(t *testing.T) { signed.byApp(t, p, people[0], crypto.SHA512, "") },
			"app, SHA-256": func(t *testing.T) { signed.byApp(t, other, people[1], crypto.SHA256, "Lt") },
			"SIM":          func(t *testing.T) { signed.bySIM(t, p, people[2]) },
			"SIM, PKCS #7": func(t *testing.T) { signed.byCMS(t, other, person{"Fourth Signer", "0101302992", "5550104"}) },
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				sign(t)
			})
		}
	})
	t.Run("EU DSS", func(t *testing.T) { signed.check(t, p.ca) })
}

// signedInProduction are the files that come of it.
type signedInProduction struct {
	folder string
	mu     sync.Mutex
	files  []*signedFile
}

// order goes from an order to the file, which is as it was ordered. shown is the verification
// code that polls have told.
func (s *signedInProduction) order(t *testing.T, p *production, o order, by openidtest.Person, hash crypto.Hash) (started, shown string) {
	t.Helper()
	a := p.order(t, o)
	if a.Status != http.StatusOK {
		t.Fatalf("%s", a.Body)
	}
	started = a.Code
	id := a.PollingID
	for a = p.poll(t, id); a.ErrorCode == "AuthorizationPending"; a = p.poll(t, id) {
		shown = a.Code
		pause(2 * time.Second)
	}
	if a.Status != http.StatusOK {
		t.Fatalf("%s\n%s", a.Body, p.logs())
	}
	report, err := pades.Verify(t.Context(), pades.Document{ReaderAt: bytes.NewReader(a.SignedFile), Size: int64(len(a.SignedFile))}, ades.VerifyOptions{})
	if err != nil || len(report.Signatures) != 1 {
		t.Fatalf("%+v, %v", report, err)
	}
	if r := report.Signatures[0]; !r.Intact || !bytes.Equal(r.Certificate.Raw, by.Certificate) || r.Algorithm.Hash != hash || r.Reason != reason {
		t.Errorf("%+v", r)
	}
	s.keep(t, o, a.SignedFile)
	return started, shown
}

func (s *signedInProduction) keep(t *testing.T, o order, content []byte) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	f := &signedFile{name: t.Name(), level: ades.LT, signers: []string{o.name}, path: filepath.Join(s.folder, string(rune('a'+len(s.files)))+".pdf")}
	if o.level == "B" {
		f.level = ades.B
	}
	if err := os.WriteFile(f.path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	s.files = append(s.files, f)
}

// byApp: the code follows from the digest that the app is asked to sign, so it first comes with
// a poll (spec 3.5).
func (s *signedInProduction) byApp(t *testing.T, p *production, who person, hash crypto.Hash, level string) {
	started, shown := s.order(t, p, order{who, "IdpApp", level}, p.person(t, who, openidtest.Answer{}), hash)
	asked := p.prompts(who)
	if len(asked) != 2 {
		t.Fatalf("asked %d times", len(asked))
	}
	digest := digestOf(t, asked[1].Claims)
	if started != "" || shown != audkenni.VerificationCode(digest) || len(digest) != hash.Size() {
		t.Errorf("code %q, then %q, of %d bytes", started, shown, len(digest))
	}
	if first, second := asked[0].Claims["binding_message"], asked[1].Claims["binding_message"]; first != "" || second != shownName {
		t.Errorf("shown %q, then %q", first, second)
	}
}

// bySIM: the code is drawn at the start, and the text on the phone has it, also when the phone
// is asked twice.
func (s *signedInProduction) bySIM(t *testing.T, p *production, who person) {
	by := p.person(t, who, openidtest.Answer{})
	text := func(code string) string { return code + " " + string([]rune(shownName)[:55]) }
	learn := func(code string) string { return code + " Staðfesting fyrir undirritun" }
	before := 0
	for _, visit := range []struct {
		name  string
		texts []func(code string) string
	}{
		{"first", []func(string) string{learn, text}},
		{"known", []func(string) string{text}},
		{"renewed", []func(string) string{text, text}},
	} {
		t.Run(visit.name, func(t *testing.T) {
			if visit.name == "renewed" {
				by = p.renew(t, by)
			}
			code, shown := s.order(t, p, order{who, "IdpSim", "Lt"}, by, crypto.SHA256)
			if !fourDigits.MatchString(code) || shown != "" && shown != code {
				t.Errorf("code %q, then %q", code, shown)
			}
			var want, got []string
			for _, text := range visit.texts {
				want = append(want, text(code))
			}
			for _, asked := range p.prompts(who)[before:] {
				got = append(got, asked.Claims["binding_message"].(string))
			}
			before += len(got)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("on the phone (-want +got):\n%s", diff)
			}
		})
	}
}

var fourDigits = regexp.MustCompile(`^\d{4}$`)

// byCMS: the phone makes the whole signature, which no level above B is to be had of.
func (s *signedInProduction) byCMS(t *testing.T, p *production, who person) {
	by := p.person(t, who, openidtest.Answer{})
	for _, level := range []string{"", "T", "Lt", "Lta"} {
		a := p.order(t, order{who, "IdpSim", level})
		var problem struct{ Errors map[string][]string }
		if err := json.Unmarshal(a.Body, &problem); err != nil {
			t.Fatal(err)
		}
		fields := slices.Collect(maps.Keys(problem.Errors))
		if a.Status != http.StatusBadRequest || !slices.Equal(fields, []string{"advancedSignatureSettings.signatureLevel"}) {
			t.Errorf("level %q: %d, %s", level, a.Status, a.Body)
		}
	}
	if n := len(p.prompts(who)); n > 0 {
		t.Errorf("asked %d times for nothing", n)
	}
	s.order(t, p, order{who, "IdpSim", "B"}, by, crypto.SHA256)
	asked := p.prompts(who)
	if len(asked) != 1 || asked[0].Claims["acr_values"] != "sim-sign" {
		t.Errorf("asked %v", asked)
	}
}

func digestOf(t *testing.T, claims map[string]any) []byte {
	t.Helper()
	sum, err := base64.StdEncoding.DecodeString(claims["binding_content"].(string))
	if err != nil {
		t.Fatal(err)
	}
	return sum
}
