package page

import (
	"context"
	"crypto/x509"
	"image"
	"image/draw"
	"io"
	"slices"
	"sync"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/stamp"
)

// provider is the sandbox's, which may be away.
type provider struct {
	idp.Provider
	away  error
	lock  sync.Mutex
	asked int
}

func (p *provider) Begin(ctx context.Context, key string, person idp.Person, text idp.Text, known *x509.Certificate) (idp.State, idp.Event, error) {
	p.lock.Lock()
	p.asked++
	p.lock.Unlock()
	if p.away != nil {
		return idp.State{}, nil, p.away
	}
	return p.Provider.Begin(ctx, key, person, text, known)
}

// terms are those of accounts as the portal wants them.
type terms struct{ *account.Service }

func (t terms) Terms(ctx context.Context, id string) (portal.Terms, error) {
	found, err := t.Service.Terms(ctx, id)
	return portal.Terms(found), err
}

// blank is a renderer to whom every page is white. Pictures for browsers have a hundredth of the pixels: to encode
// whole ones takes half the time of these tests, and most of it under the race detector.
type blank struct{}

func (blank) Render(_ context.Context, _ io.ReaderAt, _ int64, _, width, height int) (*image.RGBA, error) {
	if slices.Contains(pictureWidths, width) {
		width, height = width/10, height/10
	}
	page := image.NewRGBA(image.Rect(0, 0, width, height))
	draw.Draw(page, page.Rect, image.White, image.Point{}, draw.Src)
	return page, nil
}

func (blank) Lines(context.Context, io.ReaderAt, int64, int) ([]stamp.Line, error) { return nil, nil }

// appOnly is for tests in which people have logged in.
type appOnly struct{ Login }

func (appOnly) Methods() []LoginMethod { return []LoginMethod{App} }
