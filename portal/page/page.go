// Package page is the signing page: the HTML pages under /sign/ on which participants log in, read the
// document, and sign or decline it (spec 4.3). The pages work without a script, and a script makes
// waiting pages go on by themselves.
//
//	p, err := page.New(page.Config{
//		BaseURL:  "https://sign.example",
//		Portal:   processes,
//		Store:    db.Pages(),
//		Tx:       db,
//		Login:    login,
//		Renderer: renderer,
//		Sender:   nameOfAccount,
//	})
//	mux.Handle("/sign/", p)
//
// # Pages
//
//	/sign/TOKEN                      the link of an invitation: who asks, and for what
//	/sign/login                      a login under way: the code to compare on the phone
//	/sign/back                       the redirect back from the provider's own pages
//	/sign/PROCESS/PARTICIPANT        the document, and the forms to sign it
//	/sign/PROCESS/PARTICIPANT/…      pictures of its pages, the file, signing and declining
//
// Opening a link changes nothing, since mail programs open links before people do: a link is opened for
// a person by their login. The page of a link shows the sender and the name of the document. The
// document itself requires a login.
//
// # Sessions
//
// A browser that begins a login gets a cookie of 256 random bits; the [Store] has its SHA-256 hash. When
// the person has logged in, another cookie replaces it, which is valid for all documents of which the
// person is a participant. Requests that change something have to come from the page itself
// ([http.CrossOriginProtection]), no other site can frame it, and it loads nothing from other servers.
package page

import (
	"context"
	"errors"
	"html/template"
	"image"
	"io"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/internal/admission"
	"github.com/innsigli/innsigli/internal/promptlimit"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/stamp"
	"github.com/innsigli/innsigli/storage"
)

// Portal is the part of the portal service that the page uses; [portal.Service] implements it.
type Portal interface {
	LinkView(ctx context.Context, token string) (portal.ParticipantView, error)
	ParticipantView(ctx context.Context, process, participant string) (portal.ParticipantView, error)
	Open(ctx context.Context, process, participant string) (portal.DocumentCopy, error)
	Login(ctx context.Context, token string, who portal.Person) (process, participant string, err error)
	LoginAgain(ctx context.Context, process, participant string, who portal.Person) error
	Sign(ctx context.Context, process, participant string, a portal.SignRequest) (signing.Started, error)
	Progress(ctx context.Context, process, participant, request string) (signing.Progress, error)
	Decline(ctx context.Context, process, participant, reason string) error
}

// Renderer draws pages of documents and extracts their text; a [pdfium.Renderer] implements it.
type Renderer interface {
	Render(ctx context.Context, r io.ReaderAt, size int64, page, width, height int) (*image.RGBA, error)
	Lines(ctx context.Context, r io.ReaderAt, size int64, page int) ([]stamp.Line, error)
}

// Config configures a [Page].
type Config struct {
	// BaseURL is the address at which browsers reach the server, whatever host name a proxy sends. Forms that come
	// from this origin are accepted. With an https URL, answers carry Strict-Transport-Security.
	BaseURL  string
	Portal   Portal
	Store    Store
	Tx       storage.Transactor // the transactions of Store
	Login    Login              // nil: no login is possible, and the pages say so
	Renderer Renderer
	// Rendering is the queue for the renderer, in which all wait that use it; nil: others do not use it.
	Rendering *admission.Queue
	// Methods are the offered ways to sign, the default first.
	Methods []idp.Method
	// Sender returns the name of the account that asks for signatures.
	Sender func(ctx context.Context, account string) (string, error)
	// Prompts limits how often a person is asked to log in. nil: there are only the limits of each participant.
	Prompts  *promptlimit.Limiter
	Operator Operator
	// Trial marks every page as one of a trial server, which asks no real person.
	Trial bool
	// LoginFailed is called with each login that the provider or the page refused. It may be nil.
	LoginFailed func(context.Context, LoginFailure)
	// Failed is called with errors that are the server's fault. It may be nil.
	Failed func(context.Context, error)
	// Address returns the address of a request's client; nil: the peer of the connection.
	Address func(*http.Request) netip.Addr
	// Now is the clock; nil is the machine's clock.
	Now storage.Clock
}

// Page is the handler of all paths under /sign/. It is safe for concurrent use.
type Page struct {
	config    Config
	handler   http.Handler
	theme     theme
	templates func() map[string]*template.Template // parsed on first use, which takes milliseconds
	pictures  *pictures
}

// peerOf returns the peer of a request's connection.
func peerOf(r *http.Request) netip.Addr {
	peer, _ := netip.ParseAddrPort(r.RemoteAddr)
	return peer.Addr().Unmap()
}

// New returns a page. The errors are those of [Operator.Check].
func New(c Config) (*Page, error) {
	name, logo, colour, contact := c.Operator.Check()
	if err := errors.Join(name, logo, colour, contact); err != nil {
		return nil, err
	}
	if c.Login == nil {
		c.Login = noLogin{}
	}
	if c.Address == nil {
		c.Address = peerOf
	}
	p := &Page{config: c, theme: newTheme(c.Operator), templates: sync.OnceValue(parsePages)}
	p.pictures = newPictures(c.Renderer, c.Rendering)
	p.handler = p.routes()
	return p, nil
}

// Close stops drawing pictures, and waits until no picture is being drawn.
func (p *Page) Close() { p.pictures.close() }

// ServeHTTP implements [http.Handler].
func (p *Page) ServeHTTP(w http.ResponseWriter, r *http.Request) { p.handler.ServeHTTP(w, r) }

// routes returns the handler of all paths, behind the checks and headers of secure.
func (p *Page) routes() http.Handler {
	mux := http.NewServeMux()
	for pattern, do := range map[string]action{
		"GET /sign/{token}":                           p.showLink,
		"POST /sign/{token}/login":                    p.beginLogin,
		"GET /sign/login":                             p.loginProgress,
		"HEAD /sign/login":                            rejectHead,
		"POST /sign/login/end":                        p.cancelLogin,
		"GET /sign/back":                              p.loginCallback,
		"HEAD /sign/back":                             rejectHead,
		"POST /sign/logout":                           p.logout,
		"GET /sign/goodbye":                           p.showGoodbye,
		"POST /sign/{token}/logout":                   p.logout,
		"GET /sign/goodbye/{token}":                   p.showGoodbye,
		"POST /sign/{process}/{who}/logout":           p.logout,
		"GET /sign/{process}/{who}/goodbye":           p.showGoodbye,
		"GET /sign/{process}/{who}":                   p.showParticipantPage,
		"POST /sign/{process}/{who}/login":            p.beginLogin,
		"POST /sign/{process}/{who}/sign":             p.sign,
		"GET /sign/{process}/{who}/decline":           p.confirmDecline,
		"POST /sign/{process}/{who}/decline":          p.decline,
		"GET /sign/{process}/{who}/document":          p.download,
		"GET /sign/{process}/{who}/pages/{n}/{width}": p.servePicture,
		"/sign/": fallback(mux),
	} {
		mux.Handle(pattern, p.handle(do))
	}
	mux.Handle("GET /sign/assets/{file}", p.assets())
	return secure(p.config.BaseURL, mux, p.handle(func(http.ResponseWriter, *http.Request) error { return errCrossSite }))
}

// now returns the time by the configured clock.
func (p *Page) now(ctx context.Context) time.Time { return p.config.Now.Now(ctx) }

// Record is a stored session, login, counter or form submission. Its key is a SHA-256 hash, and its value is
// secret.
type Record = storage.Record

// Store keeps records; [storage.Records] implements it. Two transactions that read the same record, present or
// not, run one after the other, so that counters are exact. Deleting expired records is not the page's task.
type Store interface {
	PutRecord(ctx context.Context, r Record) error
	Record(ctx context.Context, key []byte) (Record, error)
	DeleteRecord(ctx context.Context, key []byte) error
}
