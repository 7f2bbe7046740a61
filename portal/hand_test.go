package portal_test

import (
	"context"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"time"

	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/signing"
)

// hand signs when the test says so: it has the requests that were accepted, and what comes of them.
type hand struct {
	portal.Signing
	s      *service
	orders []string // by request
}

func (h *hand) Start(ctx context.Context, in signing.Start) (signing.Started, error) {
	id := fmt.Sprint(len(h.orders))
	err := h.s.news.InTx(ctx, func(ctx context.Context) error { return h.s.Begun(ctx, *in.Order, id) })
	if err == nil {
		h.orders = append(h.orders, in.Order.ID)
	}
	return signing.Started{ID: id}, err
}

// Progress knows of all requests what they are for.
func (h *hand) Progress(_ context.Context, request string) (signing.Progress, error) {
	return signing.Progress{Order: h.orderOf(request)}, nil
}

// Cancel ends a request, also one that has ended already.
func (h *hand) Cancel(ctx context.Context, request string) error {
	return h.s.Ended(ctx, h.orderOf(request))
}

func (h *hand) orderOf(request string) string {
	var n int
	fmt.Sscan(request, &n)
	return h.orders[n]
}

// end is the end of a request, with the signature of a person or without.
func (h *hand) end(ctx context.Context, request string, by *portal.Person) error {
	return h.s.news.InTx(ctx, func(ctx context.Context) error {
		if by != nil {
			cert := &x509.Certificate{Subject: pkix.Name{CommonName: by.Name, SerialNumber: "PNOIS-" + by.Kennitala}}
			made := signing.Signature{Request: request, Certificate: cert, Value: []byte(by.Name), At: time.Now(), Bytes: 10}
			if err := h.s.Signed(ctx, h.orderOf(request), made); err != nil {
				return err
			}
		}
		return h.s.Ended(ctx, h.orderOf(request))
	})
}
