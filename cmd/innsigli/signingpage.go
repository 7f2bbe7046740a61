package main

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/portal/page"
	"github.com/innsigli/innsigli/storage/sealed"
)

// signingPath is what the paths of the signing page begin with.
const signingPath = "/sign/"

// pictureLimit is what a page may take that people wait for. Nobody who waits is told "never" because the server
// has much to do: a start call, which looks for the place of a stamp, gives up sooner.
const pictureLimit = 15 * time.Second

// signingPage makes the pages on which people log in, read and sign, for a server that has the
// rest. A sandbox has none. Without a [login] they say that nobody can log in: invitations lead to them.
func (c setup) signingPage(db store, keys *sealed.Keys, s *server) (*page.Page, error) {
	if !c.production {
		return nil, nil
	}
	return page.New(page.Config{
		BaseURL:  c.baseURL,
		Portal:   s.processes,
		Store:    sealed.Pages(db.Pages(), keys),
		Tx:       s.tx,
		Login:    s.signers.logins,
		Renderer: s.renderer.Within(pictureLimit),
		Methods:  signingMethods(s.signers.provider),
		Sender: func(ctx context.Context, id string) (string, error) {
			a, err := s.accounts.Account(ctx, id)
			return a.Name, err
		},
		Operator: c.operator,
		Trial:    c.simulated,
		Failed: func(ctx context.Context, err error) {
			c.log.ErrorContext(ctx, "a page could not be shown", "error", err)
		},
	})
}

// signingMethods are those that come to the level at which processes are signed. One whose answer is
// a CMS does not come above B.
func signingMethods(p idp.Provider) (methods []idp.Method) {
	for _, method := range []idp.Method{idp.App, idp.SIM} {
		if !p.Traits(method).CMS {
			methods = append(methods, method)
		}
	}
	return methods
}

// withPage answers for the signing page, and for a trial's page of the provider, before the API. It
// leaves the paths as they came, whose form the API judges.
func (s *server) withPage(api http.Handler) http.Handler {
	if s.page == nil {
		return api
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, signingPath):
			s.page.ServeHTTP(w, r)
		case s.trial && r.URL.Path == trialLoginPath:
			trialLoginPage(w, r)
		default:
			api.ServeHTTP(w, r)
		}
	})
}
