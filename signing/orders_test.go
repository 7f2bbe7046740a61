package signing_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/pades"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage"
)

// errTaken: another order for the owner's document has not ended.
var errTaken = errors.New("another order has not ended")

// owner has a document that people sign to order. What happens to it stands in the evidence
// log, and so in the transaction in which it happens.
type owner struct {
	log     storage.EvidenceLog
	objects func() error // to a signature; nil: it does not
	ends    func()       // while an order ends; nil: nothing
	taken   bool         // it accepts no order
}

// property is what the owner's entries are about.
const property = "the owner's document"

func (o *owner) note(ctx context.Context, kind string, facts any) error {
	encoded, err := json.Marshal(facts)
	return errors.Join(err, o.log.Record(ctx, storage.Entry{Subject: property, Account: account, Kind: kind, At: time.Now(), Facts: encoded}))
}

// accept begins an order, one at a time.
func (o *owner) accept(ctx context.Context, order string) error {
	if o.taken {
		return errTaken
	}
	entries, err := o.log.Entries(ctx, property)
	if err != nil {
		return err
	}
	if n := len(entries); n > 0 && entries[n-1].Kind != "ended" {
		return errTaken
	}
	return o.note(ctx, "accepted", order)
}

// Signed implements [signing.Owner].
func (o *owner) Signed(ctx context.Context, order string, s signing.Signature) error {
	if o.objects != nil {
		if err := o.objects(); err != nil {
			return err
		}
	}
	return o.note(ctx, "signed", s)
}

// Ended implements [signing.Owner].
func (o *owner) Ended(ctx context.Context, order string) error {
	if o.ends != nil {
		o.ends()
	}
	return o.note(ctx, "ended", order)
}

// ledger notes signatures beside what else is told of their request.
type ledger struct{ log storage.EvidenceLog }

// AddSignature implements [signing.Ledger].
func (l ledger) AddSignature(ctx context.Context, of, request string, ordered bool, at time.Time) error {
	encoded, err := json.Marshal(map[string]bool{"ordered": ordered})
	return errors.Join(err, l.log.Record(ctx, storage.Entry{Subject: request, Account: of, Kind: "ledger", At: at, Facts: encoded}))
}

// orders is a service with a document that is signed to order.
type orders struct {
	service
	owner    *owner
	document string
	unsigned []byte
	n        int // orders so far
}

func newOrders(t *testing.T, p *phone, o signing.Options) *orders {
	t.Helper()
	return ordersOn(t, newStore(t), nil, p, o)
}

// ordersOn is a service on a store, with transactions of a test's unless they are nil.
func ordersOn(t *testing.T, db backend, tx storage.Transactor, p *phone, options signing.Options) *orders {
	t.Helper()
	if tx == nil {
		tx = db
	}
	o := &orders{owner: &owner{log: db.EvidenceLog()}, unsigned: pdftest.Build(pdftest.Options{})}
	options.Owner, options.Ledger = o.owner, ledger{db.EvidenceLog()}
	o.service = wired(t, db, db.Requests(), tx, p, options)
	ctx := t.Context()
	var err error
	if o.document, err = o.Upload(ctx, bytes.NewReader(o.unsigned), 1<<20); err != nil {
		t.Fatal(err)
	}
	if err := db.InTx(ctx, func(ctx context.Context) error { return db.Documents().Keep(ctx, o.document) }); err != nil {
		t.Fatal(err)
	}
	return o
}

// beside is another service on the same store, of another process.
func (o *orders) beside(options signing.Options) *orders {
	another := *o
	options.Owner, options.Ledger = o.owner, ledger{o.db.EvidenceLog()}
	another.service = onStore(o.t, o.db, o.phone, options)
	return &another
}

// order starts a request to sign the document, at level LT.
func (o *orders) order(change ...func(*signing.Start)) (signing.Started, error) {
	o.n++
	id := strconv.Itoa(o.n)
	in := signing.Start{
		Account: account, Document: o.document, Name: "contract.pdf", Level: ades.LT,
		Person: idp.Person{Method: idp.App, Kennitala: kennitala},
		Order:  &signing.Order{ID: id, Begin: func(ctx context.Context, _ string) error { return o.owner.accept(ctx, id) }},
	}
	for _, c := range change {
		c(&in)
	}
	return o.Start(o.t.Context(), in)
}

func (o *orders) mustOrder(change ...func(*signing.Start)) string {
	o.t.Helper()
	started, err := o.order(change...)
	if err != nil {
		o.t.Fatal(err)
	}
	return started.ID
}

func (o *orders) content() []byte {
	o.t.Helper()
	blob, err := o.db.Documents().Open(o.t.Context(), o.document)
	if err != nil {
		o.t.Fatal(err)
	}
	defer blob.Close()
	content, err := io.ReadAll(io.NewSectionReader(blob, 0, blob.Size()))
	if err != nil {
		o.t.Fatal(err)
	}
	return content
}

// wantSignatures says how many signatures the document has, all of the phone's and at the level
// that was ordered, and that nothing else was done to it.
func (o *orders) wantSignatures(n int) {
	o.t.Helper()
	content := o.content()
	if n == 0 {
		if !bytes.Equal(content, o.unsigned) {
			o.t.Errorf("%d bytes, unsigned there were %d", len(content), len(o.unsigned))
		}
		return
	}
	doc := pades.Document{ReaderAt: bytes.NewReader(content), Size: int64(len(content))}
	report, err := pades.Verify(o.t.Context(), doc, ades.VerifyOptions{Roots: o.phone.ca.Roots()})
	if err != nil {
		o.t.Fatal(err)
	}
	var formats []string
	for _, s := range report.Signatures {
		if s.Certificate.Equal(o.phone.cert) {
			formats = append(formats, s.Format)
		}
	}
	if want := slices.Repeat([]string{"PAdES-BASELINE-LT"}, n); !report.Passed() || fmt.Sprint(formats) != fmt.Sprint(want) {
		o.t.Errorf("%v, passed: %v, want %v", formats, report.Passed(), want)
	}
}

func (o *orders) progress(id string) signing.Progress {
	o.t.Helper()
	p, err := o.Progress(o.t.Context(), id)
	if err != nil {
		o.t.Error(err)
	}
	return p
}

// wantNoJobs checks that no job is left.
func (o *orders) wantNoJobs() {
	o.t.Helper()
	for kind := range o.Handlers() {
		if due, err := o.db.Jobs().NextDue(o.t.Context(), kind); err != nil || len(due) > 0 {
			o.t.Errorf("%s is due at %v, %v", kind, due, err)
		}
	}
}
