// Package page is the signing page: what people see who sign or read a document of package portal
// (spec 4.3). It is HTML from the server under /sign/, which works
// without a script and is better with one.
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
// # What a person goes through
//
//	/sign/TOKEN                      the link: who asks, and for what
//	/sign/login                      the code of a login on the phone
//	/sign/back                       back from the provider's own pages
//	/sign/PROCESS/PARTICIPANT        the document, and what to do with it
//	/sign/PROCESS/PARTICIPANT/…      its pages, the file, to sign, to decline
//
// Looking changes nothing, since mail programs open links before people do: a place is taken on the
// way back from a login. The link shows who asks and the name of the document; the document itself
// is shown after a login alone.
//
// # Who is there
//
// A browser that begins to log in gets a cookie, of 256 random bits, of which the [Store] has the
// SHA-256. Another one takes its place when the person has logged in, and is good for all documents
// in which the person has a place. Requests that change something have to come from the page itself
// ([http.CrossOriginProtection]), no other site can frame it, and it loads nothing from elsewhere.
package page

import (
	"context"
	"errors"
	"image"
	"io"
	"net/http"
	"time"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/stamp"
	"github.com/innsigli/innsigli/storage"
)

// Portal is the rules of processes; *portal.Service is one.
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

// Renderer draws pages and reads what is written on them; *pdfium.Renderer is one.
type Renderer interface {
	Render(ctx context.Context, r io.ReaderAt, size int64, page, width, height int) (*image.RGBA, error)
	Lines(ctx context.Context, r io.ReaderAt, size int64, page int) ([]stamp.Line, error)
}

// Config is what the page is made of.
type Config struct {
	// BaseURL is where browsers reach the server, by whatever name a proxy calls it: forms that come from
	// there are the page's own. With https: they are told to use nothing else.
	BaseURL  string
	Portal   Portal
	Store    Store
	Tx       storage.Transactor // of the Store
	Login    Login              // nil: nobody can log in, which the pages of links say
	Renderer Renderer
	// Methods are how people can be asked to sign, the usual one first.
	Methods []idp.Method
	// Sender is the name of the account that asks.
	Sender   func(ctx context.Context, account string) (string, error)
	Operator Operator
	// Trial says that nobody is really asked, which the page then says everywhere.
	Trial bool
	// Failed is called with errors that are the server's fault. nil: nobody is told.
	Failed func(context.Context, error)
	// Now tells the time; nil is the machine's clock.
	Now storage.Clock
}

// Operator is who runs the service, as people see it. The zero value is Innsigli's own.
type Operator struct {
	Name    string // empty: OwnName
	Logo    []byte // PNG; nil: the name alone
	Colour  string // "#rrggbb", readable on white; empty: OwnColour
	Contact string // where people get help, a mailto: or https: URL; empty: nowhere
}

// The looks of who has chosen none.
const (
	OwnName   = "Innsigli"
	OwnColour = "#1d4f91"
)

// Check says what is wrong with each of them.
func (o Operator) Check() (name, logo, colour, contact error) { return checkOperator(o) }

// Page is a handler for all paths under /sign/. It may be used by several goroutines.
type Page struct {
	config   Config
	handler  http.Handler
	theme    theme
	pictures *pictures
}

// New returns the page. An error is one of the Operator's.
func New(c Config) (*Page, error) {
	name, logo, colour, contact := c.Operator.Check()
	if err := errors.Join(name, logo, colour, contact); err != nil {
		return nil, err
	}
	if c.Login == nil {
		c.Login = noWays{}
	}
	p := &Page{config: c, theme: newTheme(c.Operator)}
	p.pictures = newPictures(c.Renderer)
	p.handler = p.routes()
	return p, nil
}

// Close ends what is drawn ahead.
func (p *Page) Close() { p.pictures.close() }

func (p *Page) ServeHTTP(w http.ResponseWriter, r *http.Request) { p.handler.ServeHTTP(w, r) }

// routes are all paths. Those with a token or a participant are under the same headers.
func (p *Page) routes() http.Handler {
	mux := http.NewServeMux()
	for pattern, do := range map[string]action{
		"GET /sign/{token}":                           p.landing,
		"POST /sign/{token}/login":                    p.beginLogin,
		"GET /sign/login":                             p.waitForLogin,
		"HEAD /sign/login":                            onlyGet,
		"POST /sign/login/end":                        p.endLogin,
		"GET /sign/back":                              p.backFromProvider,
		"HEAD /sign/back":                             onlyGet,
		"POST /sign/logout":                           p.logout,
		"GET /sign/goodbye":                           p.goodbye,
		"POST /sign/{token}/logout":                   p.logout,
		"GET /sign/goodbye/{token}":                   p.goodbye,
		"POST /sign/{process}/{who}/logout":           p.logout,
		"GET /sign/{process}/{who}/goodbye":           p.goodbye,
		"GET /sign/{process}/{who}":                   p.place,
		"POST /sign/{process}/{who}/login":            p.beginLogin,
		"POST /sign/{process}/{who}/sign":             p.sign,
		"GET /sign/{process}/{who}/decline":           p.askDecline,
		"POST /sign/{process}/{who}/decline":          p.decline,
		"GET /sign/{process}/{who}/document":          p.download,
		"GET /sign/{process}/{who}/pages/{n}/{width}": p.picture,
		"/sign/": noPage(mux),
	} {
		mux.Handle(pattern, p.serve(do))
	}
	mux.Handle("GET /sign/assets/{file}", p.assets())
	return guard(p.config.BaseURL, mux, p.serve(func(http.ResponseWriter, *http.Request) error { return errForeign }))
}

func (p *Page) now(ctx context.Context) time.Time { return p.config.Now.Now(ctx) }
