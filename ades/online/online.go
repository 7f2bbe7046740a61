// Package online gets evidence for signatures over HTTP: timestamps, revocation
// status and missing certificates. It implements the interfaces that [ades.Sources]
// consists of:
//
//	sources := ades.Sources{
//		Time: online.InOrder{
//			&online.TSA{URL: "https://tsa.example/"},
//			&online.TSA{URL: "https://other.example/", Username: "user", Password: password},
//		},
//		Revocation: &online.Revocation{},
//		Issuers:    &online.Issuers{},
//		Roots:      roots,
//	}
//
// It follows RFC 3161 and RFC 5816 (timestamps), RFC 6960, RFC 5019 and RFC 9654
// (OCSP), and RFC 5280 (CRLs and the addresses in certificates).
//
// Addresses of timestamp authorities come from whoever configures them and are
// called with [net/http.DefaultClient] unless another client is given. All other
// addresses come out of certificates, those of issuers also out of ones that nothing is
// known about yet. They are called through [NewClient], which connects to public
// addresses alone. Before it asks about revocation, the caller sees to it that the
// certificate is under a trusted root. Every answer is bounded in size and time, and
// every answer is verified before it is returned, but for what [Issuers] finds.
//
// Nothing is tried twice, but that a responder which does not take GET is asked by
// POST. An error that is [ades.ErrUnavailable] may go away.
package online

import "github.com/innsigli/innsigli/ades"

var (
	_ ades.Timestamper = (*TSA)(nil)
	_ ades.Timestamper = InOrder(nil)
	_ ades.Revocation  = (*Revocation)(nil)
	_ ades.Issuers     = (*Issuers)(nil)
)
