package httpapi_test

import (
	"context"
	"errors"
	"image"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/sandbox"
	"github.com/innsigli/innsigli/storage"
)

// processOwner is what the signing service and that of processes are both given.
func (s *server) processOwner(db *fallible) *portal.Owner {
	return portal.NewOwner(db.Processes(), db, s.documents, db.EvidenceLog(), billing{s.accounts}, portal.Options{Events: s.hooks, TestUsers: testUsers{db.Sandbox()}})
}

// billing is what accounts may and owe.
type billing struct{ *account.Service }

func (b billing) Terms(ctx context.Context, id string) (portal.Terms, error) {
	terms, err := b.Service.Terms(ctx, id)
	return portal.Terms(terms), err
}

// testUsers are those of the sandbox as the portal asks for them.
type testUsers struct{ sandbox.Store }

func (p testUsers) TestUser(ctx context.Context, owner, id string) (idp.Person, bool, error) {
	u, err := p.User(ctx, owner, id)
	if errors.Is(err, storage.ErrNotFound) {
		err = portal.ErrNotFound
	}
	return idp.Person{Account: owner, Method: idp.App, Kennitala: u.Kennitala}, u.Action == sandbox.Success && u.Delay == 0, err
}

// blank draws every page as an empty one, which most pages of these tests are.
type blank struct{}

func (blank) Render(_ context.Context, _ io.ReaderAt, _ int64, _, width, height int) (*image.RGBA, error) {
	picture := image.NewRGBA(image.Rect(0, 0, width, height))
	for i := range picture.Pix {
		picture.Pix[i] = 0xff
	}
	return picture, nil
}

// empty is a server in whose documents nothing is in the way of stamps.
var empty = wiring{renderer: blank{}}

const processes = "/api/v1/portal/signing-processes"

// answers is what the paths begin with at which sandbox users answer.
const answers = "/api/v1/sandbox/portal/signing-processes/"

// sender is a client that may do everything, of an account with a payment method.
func (s *server) sender(t *testing.T) *client {
	t.Helper()
	c := s.client(t, account.Scopes()...)
	if err := s.accounts.SetPaymentMethod(t.Context(), c.account, true); err != nil {
		t.Fatal(err)
	}
	return c
}

// roles are the words for them.
var roles = []string{"Signer", "Viewer"}

// invitee is a participant of a body that creates a process.
var invitee = fields{"name": "Sigrún Þórsdóttir", "email": "sigrun@example.is", "role": "Signer"}

// reader is a viewer.
var reader = fields{"name": "Védís Önnudóttir", "email": "vedis@example.is", "role": "Viewer"}

// draft is the body that creates a process of a signer.
var draft = fields{
	"file.name": "contract.pdf", "file.contentBase64": page,
	"signatureLocation": "BottomLeft", "participants": []fields{invitee},
}

// of is the body for other participants.
func of(participants ...fields) fields { return draft.with(fields{"participants": participants}) }

// signers are so many that differ.
func signers(n int) (list []fields) {
	for i := range n {
		list = append(list, invitee.with(fields{"email": strings.Repeat("a", i+1) + "@example.is"}))
	}
	return list
}

// create makes a process.
func (c *client) create(body any) answer {
	c.Helper()
	return c.call(http.MethodPost, processes, body)
}

// made is a process that the API made.
func (c *client) made(body any) object {
	c.Helper()
	return c.process(http.StatusCreated, c.create(body))
}

// process is the process in an answer.
func (c *client) process(status int, a answer) object {
	c.Helper()
	if a.status != status {
		c.Fatalf("status %d, want %d: %.300s", a.status, status, a.body)
	}
	return c.object(a)
}

// shown is a process as it is now.
func (c *client) shown(p object) object {
	c.Helper()
	return c.process(http.StatusOK, c.call(http.MethodGet, pathOf(p), nil))
}

// pathOf is the path of a process.
func pathOf(p object) string { return processes + "/" + p["signingProcessId"].(string) }

// participant is one of a process.
func participant(p object, i int) object { return p["participants"].([]any)[i].(object) }
