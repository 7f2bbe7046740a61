package server

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"time"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/idp/simulated"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/portal/page"
	"github.com/innsigli/innsigli/sandbox"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/sealed"
)

// people are who can be asked to sign, and everything that differs between environments.
type people struct {
	provider  idp.Provider
	notifier  idp.Notifier     // the provider, when it tells that it has news
	login     page.Login       // nil: nobody can log in
	users     *sandbox.Sandbox // nil but in a Sandbox
	authority *sandbox.Sandbox // that issues their certificates; nil where others do
	options   signing.Options  // Expiry, Interval and IgnoreInterval of their requests
}

// people finds those of the environment.
func (c Config) people(ctx context.Context) (people, error) {
	if err := c.checkSeparation(ctx); err != nil {
		return people{}, err
	}
	switch c.Environment {
	case Sandbox:
		accounts := account.New(c.Backend.Accounts(), c.Backend, account.Options{})
		users, err := sandbox.Open(ctx, sealed.Sandbox(c.Backend.Sandbox(), c.MasterKey), c.Backend, sandbox.Options{Keys: c.TestKeys, CheckAccount: accounts.CheckOpen})
		return people{provider: users, users: users, authority: users, options: signing.Options{Expiry: sandbox.Expiry, Interval: time.Second, IgnoreInterval: true}}, err
	case Trial:
		return c.simulatedPeople(ctx)
	}
	p := people{provider: c.Provider, login: c.Login}
	if notifier, ok := c.Provider.(idp.Notifier); ok {
		p.notifier = notifier
	}
	if c.Login == nil { // as who uses the Signing API alone may have it
		c.Log.Warn("no login provider is configured: invited people cannot open their documents")
	}
	return p, nil
}

// simulatedPeople are certified by the authority that a sandbox has.
func (c Config) simulatedPeople(ctx context.Context) (people, error) {
	authority, err := sandbox.Open(ctx, sealed.Sandbox(c.Backend.Sandbox(), c.MasterKey), c.Backend, sandbox.Options{})
	if err != nil {
		return people{}, err
	}
	seed := c.MasterKey.Derive("innsigli simulated people") // the same on all servers
	provider, err := simulated.New(simulated.Options{Issue: authority.Issue, Seed: seed, Delay: trialDelay, Name: simulated.Name})
	if err != nil {
		return people{}, err
	}
	c.Log.Warn("the identity provider is simulated: no person is asked, and the signatures have no value")
	return people{provider: provider, authority: authority, login: newTrialLogin(c.BaseURL)}, nil
}

// checkSeparation refuses a backend that has signatures of tests in production, and one that has signatures of production in
// tests (spec 7.1). A backend for tests has the authority of tests from its first start on.
func (c Config) checkSeparation(ctx context.Context) error {
	_, err := c.Backend.Sandbox().Authority(ctx)
	forTests := err == nil
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		return err
	}
	if c.Environment == Production {
		if forTests {
			return errors.New("the store has test certificates of a sandbox or of --insecure-simulated-idp: production needs one of its own")
		}
		return nil
	}
	entries, err := c.Backend.EvidenceLog().EntriesAfter(ctx, 0, 1)
	if err == nil && !forTests && len(entries) > 0 {
		err = errors.New("the store has signatures of production: tests need one of their own")
	}
	return err
}

// sources returns those of the configuration, with the server's own authority where it has one.
func (p people) sources(configured func() ades.Sources) func() ades.Sources {
	switch {
	case p.authority == nil && configured == nil:
		return func() ades.Sources { return ades.Sources{Roots: x509.NewCertPool()} }
	case p.authority == nil:
		return configured
	case configured == nil:
		return p.authority.Sources
	}
	return func() ades.Sources { return p.withAuthority(configured()) }
}

// withAuthority adds the server's own authority to sources. It knows only what it issued, and is asked first, since it is at hand.
// Timestamps are from the authorities that are configured, and from its own where there are none.
func (p people) withAuthority(s ades.Sources) ades.Sources {
	own := p.authority.Sources()
	roots := own.Roots
	if s.Roots != nil {
		roots = s.Roots.Clone()
		roots.AppendCertsFromPEM(p.authority.RootPEM())
	}
	all := own
	all.Roots = roots
	if s.TimestampRoots != nil {
		all.TimestampRoots = s.TimestampRoots.Clone()
		all.TimestampRoots.AppendCertsFromPEM(p.authority.RootPEM())
	}
	if s.Time != nil {
		all.Time = s.Time
	}
	if s.Revocation != nil {
		all.Revocation = revocationInOrder{own.Revocation, s.Revocation}
	}
	if s.Issuers != nil {
		all.Issuers = ades.IssuersInOrder{own.Issuers, s.Issuers}
	}
	return all
}

// revocationInOrder asks one source after the other until one knows the certificate.
type revocationInOrder []ades.Revocation

// Revocation implements [ades.Revocation].
func (o revocationInOrder) Revocation(ctx context.Context, cert, issuer *x509.Certificate, notBefore time.Time) (ades.RevocationData, error) {
	var failures []error
	for _, source := range o {
		proof, err := source.Revocation(ctx, cert, issuer, notBefore)
		if err == nil || errors.Is(err, ades.ErrRevoked) {
			return proof, err
		}
		failures = append(failures, err)
		if ctx.Err() != nil {
			break // nobody waits for the answer
		}
	}
	return ades.RevocationData{}, errors.Join(failures...)
}

// signingMethods are those that reach the level at which processes are signed. A method whose answer is
// a CMS does not get above B.
func signingMethods(p idp.Provider) (methods []idp.Method) {
	for _, method := range []idp.Method{idp.App, idp.SIM} {
		if !p.Traits(method).CMS {
			methods = append(methods, method)
		}
	}
	return methods
}

// testUsers are the test users of a sandbox, as the portal knows them.
type testUsers struct{ users sandbox.Store }

var _ portal.TestUsers = testUsers{}

// TestUser implements [portal.TestUsers].
func (t testUsers) TestUser(ctx context.Context, owner, id string) (p idp.Person, ready bool, err error) {
	u, err := t.users.User(ctx, owner, id)
	if errors.Is(err, storage.ErrNotFound) {
		err = portal.ErrNotFound
	}
	if err != nil {
		return p, false, err
	}
	p = idp.Person{Account: owner, Method: idp.App, Kennitala: idp.NormalizeKennitala(u.Kennitala), Phone: u.Phone}
	return p, u.Action == sandbox.Success && u.Delay == 0, nil
}

// reseal seals what lives long with the first of the keys, and returns how much there was.
func (c Config) reseal(ctx context.Context) (n int, err error) {
	b := c.Backend
	accounts, err := b.Accounts().Accounts(ctx)
	if err != nil {
		return 0, fmt.Errorf("reading the accounts: %w", err)
	}
	var ids []string
	for _, a := range accounts {
		ids = append(ids, a.ID)
	}
	for _, step := range []func() (int, error){
		func() (int, error) { return sealed.Reseal(ctx, b, b.Sandbox(), c.MasterKey, ids) },
		func() (int, error) {
			return sealed.ResealCertificates(ctx, b, b.Requests(), b.AllCertificates(ctx), c.MasterKey)
		},
		func() (int, error) {
			return sealed.ResealWebhooks(ctx, b, b.Webhooks(), b.AllSubscriptions(ctx), c.MasterKey)
		},
		func() (int, error) {
			return sealed.ResealProcesses(ctx, b, b.Processes(), b.AllUnopened(ctx), c.MasterKey)
		},
	} {
		more, err := step()
		if n += more; err != nil {
			return n, err
		}
	}
	return n, nil
}
