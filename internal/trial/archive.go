package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"image"
	"image/draw"
	"io"
	mathrand "math/rand/v2"
	"time"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/signing"
)

// archive is a store of processes with the portal on it, whose calls are timed.
type archive struct {
	backend
	store    string
	signing  *signing.Service
	portal   *portal.Service
	accounts []string // with a payment method
	filed    []filed
	took     map[string][]time.Duration // by the name of the call
}

// filed is a process that is in the archive.
type filed struct{ account, id string }

// openArchive opens a store. Nobody signs there, so nobody is there to ask people.
func openArchive(ctx context.Context, store string) (*archive, error) {
	db, err := openBackend(ctx, store, patient)
	if err != nil {
		return nil, err
	}
	a, accounts := &archive{backend: db, store: store, took: make(map[string][]time.Duration)}, account.New(db.Accounts(), db, account.Options{})
	a.signing = signing.New(db.Requests(), db, db.Documents(), db.Jobs(), db.EvidenceLog(), nil, nil, signing.Options{Renderer: white{}})
	a.portal = portal.New(db.Processes(), db, db.Documents(), db.EvidenceLog(), terms{accounts}, a.signing, portal.Options{})
	for range accountsOfAnArchive {
		made, err := accounts.CreateAccount(ctx, "Example")
		if err == nil {
			err = accounts.SetPaymentMethod(ctx, made.ID, true)
		}
		if err != nil {
			return nil, errors.Join(err, db.Close())
		}
		a.accounts = append(a.accounts, made.ID)
	}
	return a, nil
}

// terms are accounts, as the portal knows them.
type terms struct{ *account.Service }

func (t terms) Terms(ctx context.Context, id string) (portal.Terms, error) {
	found, err := t.Service.Terms(ctx, id)
	return portal.Terms(found), err
}

// white draws every page as an empty one: to draw it takes as long on any store.
type white struct{}

func (white) Render(_ context.Context, _ io.ReaderAt, _ int64, _, width, height int) (*image.RGBA, error) {
	page := image.NewRGBA(image.Rect(0, 0, width, height))
	draw.Draw(page, page.Rect, image.White, image.Point{}, draw.Src)
	return page, nil
}

// archiveCalls are those that are timed.
var archiveCalls = []struct {
	name string
	call func(*archive, context.Context) error
}{
	{"create", (*archive).create},
	{"read", (*archive).read},
	{"document", (*archive).document},
}

// measure makes each call once.
func (a *archive) measure(ctx context.Context) error {
	for _, one := range archiveCalls {
		began := time.Now()
		if err := one.call(a, ctx); err != nil {
			return fmt.Errorf("%s: %w", one.name, err)
		}
		a.took[one.name] = append(a.took[one.name], time.Since(began))
	}
	return nil
}

// create makes a process of the account that has most.
func (a *archive) create(ctx context.Context) error {
	document, err := a.signing.Upload(ctx, contract(), contractMax)
	if err != nil {
		return err
	}
	_, err = a.portal.Create(ctx, portal.Draft{
		Account: a.accounts[0], Client: clientID, FileName: contractName, Document: document, Page: 1,
		Participants: invitees, Key: &portal.DraftKey{Value: rand.Text(), Fingerprint: fingerprint},
	})
	return err
}

func (a *archive) any() filed { return a.filed[mathrand.IntN(len(a.filed))] }

func (a *archive) read(ctx context.Context) error {
	one := a.any()
	_, err := a.portal.Process(ctx, one.account, one.id)
	return err
}

func (a *archive) document(ctx context.Context) error {
	one := a.any()
	_, blob, err := a.portal.Document(ctx, one.account, one.id)
	if err != nil {
		return err
	}
	defer blob.Close()
	_, err = io.Copy(io.Discard, io.NewSectionReader(blob, 0, blob.Size()))
	return err
}
