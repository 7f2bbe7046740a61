package main

import (
	"context"
	"crypto/hkdf"
	"crypto/sha256"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/idp/simulated"
	"github.com/innsigli/innsigli/portal/page"
	"github.com/innsigli/innsigli/sandbox"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/sealed"
)

// signers are who can be asked to sign, with all in which sandbox and production differ.
type signers struct {
	provider idp.Provider
	notifier idp.Notifier     // the provider, when it says that it has news
	logins   page.Login       // by which people show who they are; nil: nobody can
	users    *sandbox.Sandbox // nil in production
	own      *sandbox.Sandbox // as the authority of their certificates; nil where others certify them
	pace     signing.Options  // with Expiry, Interval and AnyPace
}

// sources are what the people's own authority knows.
func (p signers) sources() ades.Sources {
	if p.own == nil {
		return ades.Sources{Roots: x509.NewCertPool()}
	}
	return p.own.Sources()
}

// signers finds the signers of a server.
func (c setup) signers(ctx context.Context, db store, keys *sealed.Keys) (signers, error) {
	if err := c.apart(ctx, db); err != nil {
		return signers{}, err
	}
	switch {
	case !c.production:
		return c.testUsers(ctx, db, keys)
	case c.simulated:
		return c.simulatedPeople(ctx, db, keys)
	}
	_, provider, err := c.provider.open()
	if err != nil {
		return signers{}, fmt.Errorf("the identity provider: %w", err)
	}
	p := signers{provider: provider}
	if c.login == nil { // as whoever uses the Signing API alone may have it
		c.log.Warn("there is no [login]: nobody can open what they are invited to sign")
	} else if p.logins, err = c.login.logins(c.baseURL, provider.Refusal, c.log); err != nil {
		return signers{}, fmt.Errorf("the login: %w", err)
	}
	if c.provider.adapter.Ping {
		p.notifier = provider
	}
	return p, nil
}

func (c setup) testUsers(ctx context.Context, db store, keys *sealed.Keys) (signers, error) {
	users, err := sandbox.Open(ctx, sealed.Sandbox(db.Sandbox(), keys), db, sandbox.Options{Keys: c.keys})
	return signers{provider: users, users: users, own: users, pace: signing.Options{Expiry: sandbox.Expiry, Interval: time.Second, AnyPace: true}}, err
}

// simulatedPeople are certified by the authority that a sandbox has.
func (c setup) simulatedPeople(ctx context.Context, db store, keys *sealed.Keys) (signers, error) {
	own, err := sandbox.Open(ctx, sealed.Sandbox(db.Sandbox(), keys), db, sandbox.Options{})
	if err != nil {
		return signers{}, err
	}
	secret, err := os.ReadFile(c.masterKey)
	if err != nil {
		return signers{}, err
	}
	seed, err := hkdf.Key(sha256.New, secret, nil, "innsigli simulated people", sha256.Size) // the same on all servers
	if err != nil {
		return signers{}, err
	}
	provider, err := simulated.New(simulated.Options{Issue: own.Issue, Seed: seed, Delay: trialDelay, Name: simulated.Name})
	c.log.Warn("the identity provider is simulated: nobody is asked, and the signatures are worth nothing")
	return signers{provider: provider, own: own, logins: newTrialLogins(c.baseURL)}, err
}

// apart keeps what was signed in production and what was not in stores of their own
// (decisions.md 8.1). One for test signatures has their authority from its first start on.
func (c setup) apart(ctx context.Context, db store) error {
	_, err := db.Sandbox().Authority(ctx)
	forTests := err == nil
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		return err
	}
	if c.production && !c.simulated {
		if forTests {
			return errors.New("the store has test certificates of a sandbox or of --insecure-simulated-idp: production needs one of its own")
		}
		return nil
	}
	entries, err := db.EvidenceLog().EntriesAfter(ctx, 0, 1)
	if err == nil && !forTests && len(entries) > 0 {
		err = errors.New("the store has signatures of production: tests need one of their own")
	}
	return err
}
