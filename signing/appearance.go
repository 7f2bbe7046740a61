package signing

import (
	"cmp"
	"context"
	"crypto/x509"
	"fmt"
	"io"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/pades"
	"github.com/innsigli/innsigli/stamp"
)

// visible is what the signature looks like; nil when there is nothing to see of it.
func (t *turn) visible(ctx context.Context, cert *x509.Certificate, o pades.Options) (*pades.Visible, error) {
	planned := t.r.Stamp
	if planned == nil {
		return nil, nil
	}
	draw := func() ([]byte, error) { return stamp.Standard(t.stampText(cert, o)) }
	if planned.Image != "" {
		draw = func() ([]byte, error) { return t.readImage(ctx, planned.Image) }
	}
	appearance, err := draw()
	if err != nil {
		return nil, fmt.Errorf("signing: drawing the stamp: %w", err)
	}
	return planned.visible(appearance), nil
}

// stampText is what the standard stamp says (spec 3.3). Whoever makes the
// signature on the phone shows no certificate before: then it says what is known.
func (t *turn) stampText(cert *x509.Certificate, o pades.Options) stamp.Text {
	text := stamp.Text{Name: o.Name, Kennitala: t.r.Person.Kennitala, Time: o.Time, Reason: o.Reason}
	if cert != nil {
		text.Kennitala = cmp.Or(idp.ShownKennitala(cert), text.Kennitala)
	}
	return text
}

// readImage reads the image that was drawn at the start.
func (t *turn) readImage(ctx context.Context, id string) ([]byte, error) {
	blob, err := t.documents.Open(ctx, id)
	if err != nil {
		return nil, err
	}
	defer blob.Close()
	return io.ReadAll(io.NewSectionReader(blob, 0, blob.Size()))
}
