package httpapi_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/ades"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/pades"
	"github.com/innsigli/innsigli/xades"
)

// spec 3.2: the signature contains the signer's fields of the start request.
func TestFieldsAreInTheSignature(t *testing.T) {
	t.Parallel()
	c := start(t, wiring{}).signer(t)
	c.user(person)
	long := func(n int) string { return strings.Repeat("ð", n) }
	for name, test := range map[string]struct {
		sent             fields
		reason, location string
	}{
		"required fields alone": {fields{}, "Undirritun", ""},
		"all null":              {fields{"signer.country": nil, "signer.city": nil, "signer.reason": nil, "signatureImage": nil, "busySignal": nil}, "Undirritun", ""},
		"all":                   {fields{"signer.country": "Ísland", "signer.city": "Reykjavík", "signer.reason": "Samþykki"}, "Samþykki", "Reykjavík, Ísland"},
		"city alone":            {fields{"signer.city": "Reykjavík"}, "Undirritun", "Reykjavík"},
		"country alone":         {fields{"signer.country": "Ísland"}, "Undirritun", "Ísland"},
		"the longest":           {fields{"file.name": long(256), "signer.country": long(64), "signer.city": long(64), "signer.reason": long(64)}, long(64), long(64) + ", " + long(64)},
		"packing said":          {fields{"advancedSignatureSettings.signaturePacking": "Enveloped"}, "Undirritun", ""},
		"unused members":        {fields{"signer.title": "Dr.", "extra": []any{1, object{"a": nil}}}, "Undirritun", ""},
	} {
		t.Run(name, func(t *testing.T) {
			c := c.in(t)
			began := time.Now().Truncate(time.Second)
			document := c.sign(startBody(idpApp).with(test.sent))
			if !bytes.HasPrefix(document, page) {
				t.Error("the document that was sent is not the beginning of the signed one")
			}
			s := c.signature(document)
			diff(t, "format", "PAdES-BASELINE-B", s.Format)
			diff(t, "coverage", ades.WholeDocument, s.Coverage)
			diff(t, "reason", test.reason, s.Reason)
			diff(t, "location", test.location, s.Location)
			if s.ClaimedTime.Before(began) || s.ClaimedTime.After(time.Now()) {
				t.Errorf("signed at %s, after %s", s.ClaimedTime, began)
			}
		})
	}
}

// spec 3.5: in production, a request expires after 290 seconds, and the interval is 2 seconds.
func TestStartInProduction(t *testing.T) {
	t.Parallel()
	bubble(t, wiring{production: true}, func(t *testing.T, s *server) {
		c := s.signer(t)
		s.createUser(t, c.account)
		started := c.start(startBody(idpApp))
		c.want(started, http.StatusOK, object{"pollingId": c.member(started, "pollingId"), "expiresIn": 290, "interval": 2, "verificationCode": nil})
	})
}

// spec 3.1: a start that the identity provider refuses is 400 with an errorCode and without a pollingId.
func TestRefusedStart(t *testing.T) {
	t.Parallel()
	c := start(t, wiring{}).signer(t)
	for _, method := range methods {
		c.wantFailure(c.start(startBody(method)), userNotFound)
	}
	c.wantDocuments(0)
}

// spec 3.6: a request that has finished is 404 from then on, and so is one that never existed.
func TestPollOfARequestThatHasFinished(t *testing.T) {
	t.Parallel()
	c := start(t, wiring{}).signer(t)
	id := c.user(person)
	for _, action := range []string{"Success", "Cancel"} {
		c.update(id, fields{"action": action})
		request := c.begin(startBody(idpSim))
		c.wantResult(request, action)
		c.wantFinished(request)
		c.wantFinished(strings.ToUpper(request))
	}
	c.wantFinished(uuid.NewString())
}

// spec 1.7: another account's request does not exist; any client of the
// account sees it.
func TestWhoMayPoll(t *testing.T) {
	t.Parallel()
	s := start(t, wiring{})
	c, other := s.signer(t), s.signer(t)
	c.user(person)
	id := c.begin(startBody(idpSim))
	other.wantFinished(id)
	c.wantDocuments(1)
	colleague := c.colleague(account.ScopeSignatures)
	c.signature(colleague.signed(colleague.poll(strings.ToUpper(id))))
	c.wantFinished(id)
}

// spec 3.6: a refused start clears abandoned requests, too, and no other call does.
func TestOnlyAStartClears(t *testing.T) {
	t.Parallel()
	bubble(t, wiring{}, func(t *testing.T, s *server) {
		c := s.signer(t)
		c.user(person)
		old := c.begin(startBody(idpApp))
		time.Sleep(50 * time.Minute)
		c.call(http.MethodPost, "/api/v1/signing/busy-signal", nil)
		c.wantInvalid(c.start(fields{}), "file", "signer")
		c.wantFailure(c.poll(old), expired)
		c.wantFailure(c.start(startBody(idpApp).with(fields{"signer.kennitala": "1"})), userNotFound)
		c.wantFinished(old)
	})
}

// fields are the members of a body by path: "signer.phone".
type fields map[string]any

// absent is the value of a field that is not in the body.
type absent struct{}

// with returns the fields with some changed.
func (f fields) with(changes fields) fields {
	changed := maps.Clone(f)
	maps.Copy(changed, changes)
	return changed
}

func (f fields) MarshalJSON() ([]byte, error) {
	body := object{}
	for _, path := range slices.Sorted(maps.Keys(f)) {
		if _, none := f[path].(absent); none {
			continue
		}
		inner, names := body, strings.Split(path, ".")
		for _, name := range names[:len(names)-1] {
			if inner[name] == nil {
				inner[name] = object{}
			}
			next, ok := inner[name].(object)
			if !ok {
				return nil, fmt.Errorf("%s is no object", name)
			}
			inner = next
		}
		inner[names[len(names)-1]] = f[path]
	}
	return json.Marshal(body)
}

// The person that most tests sign with.
const (
	kennitala = "0101302989"
	phone     = "5550101"
)

// person is the body that creates a sandbox user.
var person = fields{"fullName": "Sandbox Signer", "kennitala": kennitala, "phone": phone}

// user creates a sandbox user and returns its uuid.
func (c *client) user(f fields) string {
	c.Helper()
	return c.member(c.call(http.MethodPost, "/api/v1/sandbox/users", f), "uuid")
}

func (c *client) update(uuid string, f fields) {
	c.Helper()
	c.want(c.call(http.MethodPut, "/api/v1/sandbox/users/"+uuid, f), http.StatusNoContent, nil)
}

// The two signing methods of spec 3.2.
const (
	idpApp = "IdpApp"
	idpSim = "IdpSim"
)

var methods = []string{idpApp, idpSim}

// page is the document that most tests sign.
var page = pdftest.Build(pdftest.Options{})

// startBody returns a start request of the person for the page.
func startBody(method string) fields {
	return fields{
		"file.type": "Pdf", "file.name": "contract.pdf", "file.contentB64": page,
		"signer.kennitala": kennitala, "signer.signingMethod": method, "signer.phone": phone,
		"advancedSignatureSettings.signatureLevel": "B",
	}
}

func (c *client) start(f fields) answer {
	c.Helper()
	return c.call(http.MethodPost, "/api/v1/signing", f)
}

// begin starts a request and returns its pollingId.
func (c *client) begin(f fields) string {
	c.Helper()
	return c.member(c.start(f), "pollingId")
}

func (c *client) poll(id string) answer {
	c.Helper()
	return c.call(http.MethodGet, "/api/v1/signing/"+id, nil)
}

const (
	finished = "Not found" // the title of a poll's 404

	// sentence replaces an errorDescription whose wording may change.
	sentence = "(a sentence)"
)

// failure is the body of a refused start and of a poll's 400 (spec 3.7).
func failure(errorCode, oauth, description, verificationCode any) object {
	return object{"errorCode": errorCode, "error": oauth, "errorDescription": description, "verificationCode": verificationCode}
}

var (
	pending      = failure("AuthorizationPending", "authorization_pending", sentence, "1234")
	cancelled    = failure("UserCancelled", "access_denied", "mssp_401", nil)
	userNotFound = failure("UserNotFound", "access_denied", "audkenni_404", nil)
	expired      = failure("ExpiredToken", "expired_token", sentence, nil)
	unreadable   = failure("UnableToHandleGivenData", "invalid_request", sentence, nil)
)

// wantFailure checks a 400 with the four members of a provider's failure (spec 3.7).
func (c *client) wantFailure(a answer, want object) {
	c.Helper()
	if a.status != http.StatusBadRequest || a.header.Get("Content-Type") != "application/json" {
		c.Fatalf("status %d, Content-Type %q: %.300s", a.status, a.header.Get("Content-Type"), a.body)
	}
	got := c.object(a)
	if description, _ := got["errorDescription"].(string); strings.Contains(description, " ") {
		got["errorDescription"] = sentence
	}
	diff(c.T, "failure", want, got)
}

// wantFinished checks that a request is 404.
func (c *client) wantFinished(id string) {
	c.Helper()
	c.wantProblem(c.poll(id), http.StatusNotFound, finished)
}

// signed returns the document in a poll's 200.
func (c *client) signed(a answer) []byte {
	c.Helper()
	body := c.object(a)
	content, ok := body["signedFileB64"].(string)
	if a.status != http.StatusOK || !ok || len(body) != 1 {
		c.Fatalf("status %d without the document alone: %.300s", a.status, a.body)
	}
	document, err := base64.StdEncoding.Strict().DecodeString(content)
	if err != nil {
		c.Fatal(err)
	}
	return document
}

// sign starts a request, and polls until it returns the signed document.
func (c *client) sign(f fields) []byte {
	c.Helper()
	id := c.begin(f)
	a := c.poll(id)
	if f["signer.signingMethod"] == idpApp {
		c.wantFailure(a, pending)
		a = c.poll(id)
	}
	return c.signed(a)
}

// signatures returns the signatures of a document, and checks that all are valid.
func (c *client) signatures(document []byte) []ades.SignatureReport {
	c.Helper()
	report, err := pades.Verify(c.Context(), pades.Document{ReaderAt: bytes.NewReader(document), Size: int64(len(document))}, ades.VerifyOptions{Roots: c.people.Roots()})
	if !bytes.HasPrefix(document, []byte("%PDF-")) {
		report, err = xades.Verify(c.Context(), xades.Document{ReaderAt: bytes.NewReader(document), Size: int64(len(document))}, ades.VerifyOptions{Roots: c.people.Roots()})
	}
	if err != nil {
		c.Fatal(err)
	}
	if !report.Passed() {
		c.Errorf("the document does not verify: %+v", report.Signatures)
	}
	return report.Signatures
}

// signature returns the only signature of a document.
func (c *client) signature(document []byte) ades.SignatureReport {
	c.Helper()
	all := c.signatures(document)
	if len(all) != 1 {
		c.Fatalf("%d signatures, want 1", len(all))
	}
	return all[0]
}

// spec 3.4: the signature has the requested level, or Lt by default. The sandbox supports all levels (spec 6.3).
func TestSignatureLevels(t *testing.T) {
	t.Parallel()
	const level = "advancedSignatureSettings.signatureLevel"
	c := start(t, wiring{}).signer(t)
	c.user(person)
	for name, test := range map[string]struct {
		sent fields
		want string
	}{
		"B":       {fields{level: "B"}, "PAdES-BASELINE-B"},
		"T":       {fields{level: "T"}, "PAdES-BASELINE-T"},
		"Lt":      {fields{level: "Lt"}, "PAdES-BASELINE-LT"},
		"Lta":     {fields{level: "Lta"}, "PAdES-BASELINE-LTA"},
		"null":    {fields{level: nil}, "PAdES-BASELINE-LT"},
		"nothing": {fields{level: absent{}}, "PAdES-BASELINE-LT"},
	} {
		t.Run(name, func(t *testing.T) {
			c := c.in(t)
			for _, method := range methods {
				body := startBody(method).with(test.sent)
				if got := c.signature(c.sign(body)).Format; got != test.want {
					t.Errorf("%s: format %s, want %s", method, got, test.want)
				}
			}
		})
	}
}

// lockedPage needs an unknown password.
var lockedPage = pdftest.Build(pdftest.Options{Trailer: "/Encrypt << /Filter /Standard /V 2 /R 3 /Length 128 /P -4 /O <" + strings.Repeat("00", 32) + "> /U <" + strings.Repeat("00", 32) + "> >> /ID [<00> <00>]"})

// spec 3.10: without signatureImage, a document that cannot be signed starts, and fails at a poll with
// UnableToHandleGivenData.
func TestDocumentThatCannotBeSigned(t *testing.T) {
	t.Parallel()
	c := start(t, wiring{}).signer(t)
	c.user(person)
	noPages := bytes.Replace(page, []byte("/Kids [10 0 R ] /Count 1"), []byte("/Kids [        ] /Count 0"), 1)
	if bytes.Equal(noPages, page) {
		t.Fatal("the page is still there")
	}
	for name, test := range map[string]struct {
		kind    string
		content []byte
	}{
		"not a PDF":                {"Pdf", []byte("This is no PDF.")},
		"one byte":                 {"Pdf", []byte{0}},
		"the header alone":         {"Pdf", []byte("%PDF-1.7\n")},
		"truncated":                {"Pdf", page[:len(page)/2]},
		"without its beginning":    {"Pdf", page[len(page)/2:]},
		"0 pages":                  {"Pdf", noPages},
		"encrypted":                {"Pdf", lockedPage},
		"a megabyte of zeros":      {"Pdf", make([]byte, 1<<20)},
		"not well-formed XML":      {"Xml", []byte("<order><to></order>")},
		"not XML":                  {"Xml", []byte("This is no XML.")},
		"a PDF as XML":             {"Xml", page},
		"DOCTYPE":                  {"Xml", []byte("<!DOCTYPE order><order/>")},
		"an unknown prefix":        {"Xml", []byte("<o:order/>")},
		"a signature alone":        {"Xml", []byte(`<Signature xmlns="http://www.w3.org/2000/09/xmldsig#"/>`)},
		"a megabyte of zeros, XML": {"Xml", make([]byte, 1<<20)},
	} {
		for _, method := range methods {
			t.Run(name+" "+method, func(t *testing.T) {
				c := c.in(t)
				body := startBody(method).with(fields{"file.type": test.kind, "file.contentB64": test.content})
				id := c.begin(body)
				a := c.poll(id)
				if bytes.Contains(a.body, []byte("AuthorizationPending")) {
					a = c.poll(id)
				}
				c.wantFailure(a, unreadable)
				c.leaksNothing(a, body)
				c.wantFinished(id)
				c.wantDocuments(0)
			})
		}
	}
	c.signature(c.sign(startBody(idpApp)))
}
