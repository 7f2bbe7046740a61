package main

import (
	"context"
	"errors"
	"time"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/sandbox"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/sealed"
)

// documentOwner is the portal, once there is one: it and package signing need each other.
type documentOwner struct{ *portal.Service }

var _ signing.Owner = (*documentOwner)(nil)

// processes makes the service of the signing processes for a server that has the others.
func (c setup) processes(db store, keys *sealed.Keys, s *server) *portal.Service {
	now := time.Now()
	options := portal.Options{Events: s.hooks, Mail: s.unsent(), KeepKeys: now.Sub(c.retention.keys.before(now))}
	if s.letters != nil {
		options.Mail = s.letters
	}
	if s.signers.users != nil {
		options.TestPeople = testPeople{db.Sandbox()}
	}
	return portal.New(sealed.Processes(db.Processes(), keys), s.tx, db.Documents(), db.EvidenceLog(), terms{s.accounts}, s.signing, options)
}

// terms are accounts, as the portal knows them.
type terms struct{ *account.Service }

var _ portal.Accounts = terms{}

// Terms implements [portal.Accounts].
func (t terms) Terms(ctx context.Context, id string) (portal.Terms, error) {
	found, err := t.Service.Terms(ctx, id)
	return portal.Terms(found), err
}

// ledger counts the signatures of accounts. What is signed to order is signed in a process.
type ledger struct{ accounts *account.Service }

var _ signing.Ledger = ledger{}

// Signed implements [signing.Ledger].
func (l ledger) Signed(ctx context.Context, owner, request string, ordered bool, at time.Time) error {
	api := account.SigningAPI
	if ordered {
		api = account.PortalAPI
	}
	return l.accounts.Signed(ctx, owner, request, api, at)
}

// testPeople are the test users of a sandbox, as the portal knows them.
type testPeople struct{ users sandbox.Store }

var _ portal.TestPeople = testPeople{}

// TestPerson implements [portal.TestPeople].
func (t testPeople) TestPerson(ctx context.Context, owner, id string) (p idp.Person, ready bool, err error) {
	u, err := t.users.User(ctx, owner, id)
	if errors.Is(err, storage.ErrNotFound) {
		err = portal.ErrNotFound
	}
	if err != nil {
		return p, false, err
	}
	p = idp.Person{Account: owner, Method: idp.App, Kennitala: idp.NormalKennitala(u.Kennitala), Phone: u.Phone}
	return p, u.Action == sandbox.Success && u.Delay == 0, nil
}
