package server

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/idp/simulated"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/portal/page"
	"github.com/innsigli/innsigli/sandbox"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/sealed"
)

// people has the parts of a server that differ between environments: who signs, and how they log in.
type people struct {
	provider  idp.Provider
	notifier  idp.Notifier     // the provider, if it sends notifications (CIBA ping); else nil
	login     page.Login       // nil: login is not possible
	users     *sandbox.Sandbox // the sandbox users; else nil
	authority *sandbox.Sandbox // test authority that issues their certificates; nil in Production
	options   signing.Options  // Expiry, Interval and IgnoreInterval of signing requests
}

// people returns the people of the environment.
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
	if c.Login == nil { // the Signing API needs no login
		c.Log.Warn("no [login] is configured: participants cannot open their documents")
	}
	return p, nil
}

// simulatedPeople returns the people of a Trial, with certificates of a test authority as in a sandbox.
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

// checkSeparation returns an error if a backend has test signatures and the environment is Production, or the reverse (spec
// 7.1). A backend for tests has a test authority from its first start on.
func (c Config) checkSeparation(ctx context.Context) error {
	_, err := c.Backend.Sandbox().Authority(ctx)
	hasTestAuthority := err == nil
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		return err
	}
	if c.Environment == Production {
		if hasTestAuthority {
			return errors.New("the store was used by a sandbox or with --insecure-simulated-idp: use another store for production")
		}
		return nil
	}
	entries, err := c.Backend.EvidenceLog().EntriesAfter(ctx, 0, 1)
	if err == nil && !hasTestAuthority && len(entries) > 0 {
		err = errors.New("the store was used in production: use another store for tests")
	}
	return err
}

// signingMethods returns the methods with which processes can be signed, whose signatures have a level above B. A
// method that returns a CMS signature does not reach that.
func signingMethods(p idp.Provider) (methods []idp.Method) {
	for _, method := range []idp.Method{idp.App, idp.SIM} {
		if !p.Traits(method).CMS {
			methods = append(methods, method)
		}
	}
	return methods
}

// sandboxUsers implements [portal.SandboxUsers] with the sandbox users.
type sandboxUsers struct{ users sandbox.Store }

var _ portal.SandboxUsers = sandboxUsers{}

// SandboxUser implements [portal.SandboxUsers].
func (t sandboxUsers) SandboxUser(ctx context.Context, owner, id string) (p idp.Person, ready bool, err error) {
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

// reseal encrypts secrets that are stored for long again with the first master key, and returns how many it changed.
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
