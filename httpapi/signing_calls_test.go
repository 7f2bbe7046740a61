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

	"github.com/innsigli/innsigli/ades"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/pades"
	"github.com/innsigli/innsigli/xades"
)

// fields are the members of a body by path: "signer.phone".
type fields map[string]any

// absent is the value of a field that is not in the body.
type absent struct{}

// with is the body with some fields changed.
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

// person is the body that makes a sandbox user of them.
var person = fields{"fullName": "Sandbox Signer", "kennitala": kennitala, "phone": phone}

// user makes a sandbox user and returns its uuid.
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

// startBody is a start request for the person and the page.
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

// begin starts a request that the API accepts, and returns its pollingId.
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

	// sentence stands for an errorDescription whose words are free.
	sentence = "(a sentence)"
)

// failure is the body of a refused start and of a poll's 400 (spec 3.7).
func failure(errorCode, oauth, description, verificationCode any) object {
	return object{"errorCode": errorCode, "error": oauth, "errorDescription": description, "verificationCode": verificationCode}
}

var (
	pending      = failure("AuthorizationPending", "authorization_pending", sentence, "1234")
	slowDown     = failure("SlowDown", "slow_down", sentence, "1234")
	cancelled    = failure("UserCancelled", "access_denied", "mssp_401", nil)
	userNotFound = failure("UserNotFound", "access_denied", "audkenni_404", nil)
	expired      = failure("ExpiredToken", "expired_token", sentence, nil)
	unreadable   = failure("UnableToHandleGivenData", "invalid_request", sentence, nil)
)

// wantFailure checks a 400 of the provider's, which is plain JSON with exactly the
// four members (spec 3.7).
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

// wantFinished checks that there is nothing to poll.
func (c *client) wantFinished(id string) {
	c.Helper()
	c.wantProblem(c.poll(id), http.StatusNotFound, finished)
}

// signed is the document of a poll's 200.
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

// sign goes the whole way from the start to the signed document.
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

// signatures are the signatures of a document, each of them valid.
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

// signature is the one signature of a document.
func (c *client) signature(document []byte) ades.SignatureReport {
	c.Helper()
	all := c.signatures(document)
	if len(all) != 1 {
		c.Fatalf("%d signatures, want 1", len(all))
	}
	return all[0]
}
