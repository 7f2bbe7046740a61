package sandbox

import (
	"bytes"
	"context"
	"crypto"
	"crypto/x509"
	"errors"
	"fmt"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
	"github.com/innsigli/innsigli/storage"
)

// openAuthority reads the authority from the store, or creates it if there is none. An authority that an earlier
// version stored lacks keys: openAuthority generates them and stores the authority again, so that the next start
// has the same keys.
func openAuthority(ctx context.Context, store Store, tx storage.Transactor, clock storage.Clock) (*sandboxca.Authority, error) {
	encoded, err := store.Authority(ctx)
	if errors.Is(err, storage.ErrNotFound) {
		encoded, err = createAuthority(ctx, store, tx, clock)
	}
	if err != nil {
		return nil, err
	}
	ca, complete, err := readAuthority(encoded)
	if err != nil || complete {
		return ca, err
	}
	err = tx.InTx(ctx, func(ctx context.Context) error {
		encoded, err := store.Authority(ctx) // another server may have completed it meanwhile
		if err != nil {
			return err
		}
		if ca, complete, err = readAuthority(encoded); err != nil || complete {
			return err
		}
		completed, err := ca.MarshalBinary()
		if err != nil {
			return err
		}
		return store.UpdateAuthority(ctx, completed)
	})
	return ca, err
}

// readAuthority decodes an authority and generates the keys that the encoding lacks. complete reports whether it
// lacked none.
func readAuthority(encoded []byte) (ca *sandboxca.Authority, complete bool, err error) {
	ca = new(sandboxca.Authority)
	if err := ca.UnmarshalBinary(encoded); err != nil {
		return nil, false, err
	}
	again, err := ca.MarshalBinary()
	return ca, bytes.Equal(again, encoded), err
}

// createAuthority creates and stores an authority, and returns the stored one, which another server may have
// created at the same time.
func createAuthority(ctx context.Context, store Store, tx storage.Transactor, clock storage.Clock) ([]byte, error) {
	ca, err := sandboxca.New(clock.Now(ctx))
	if err != nil {
		return nil, err
	}
	created, err := ca.MarshalBinary()
	if err != nil {
		return nil, err
	}
	err = tx.InTx(ctx, func(ctx context.Context) error { return store.SaveAuthority(ctx, created) })
	if err != nil && !errors.Is(err, storage.ErrExists) {
		return nil, err
	}
	return store.Authority(ctx)
}

// SetBaseURL sets the base URL at which a server answers for the authority, and renews the authority's own
// certificates, so that they contain addresses below it. Certificates that are issued later contain them too;
// users keep the certificates that they have.
func (s *Sandbox) SetBaseURL(ctx context.Context, baseURL string) error {
	s.authority.SetBaseURL(baseURL)
	return s.Renew(ctx)
}

// Renew renews the authority's own certificates that expire soon. A long-running server calls it periodically.
func (s *Sandbox) Renew(ctx context.Context) error {
	renewed, err := s.authority.Renew(s.now(ctx))
	if err != nil || !renewed {
		return err
	}
	encoded, err := s.authority.MarshalBinary()
	if err == nil {
		err = s.tx.InTx(ctx, func(ctx context.Context) error { return s.store.UpdateAuthority(ctx, encoded) })
	}
	if err != nil {
		return fmt.Errorf("sandbox: storing the authority: %w", err)
	}
	return nil
}

// Sources returns sources that get timestamps and revocation data from the authority without a network (spec 6.3).
func (s *Sandbox) Sources() ades.Sources { return s.authority.Sources(nil) }

// Roots returns the trust anchors of the sandbox's signatures.
func (s *Sandbox) Roots() *x509.CertPool { return s.authority.Roots() }

// RootPEM returns the root certificate in PEM.
func (s *Sandbox) RootPEM() []byte { return s.authority.RootPEM() }

// Issue issues a certificate to a person who is not a user, such as those of a simulated provider. The chain is
// the certificate and those above it, up to the root.
func (s *Sandbox) Issue(name, kennitala string, public crypto.PublicKey) (chain []*x509.Certificate, err error) {
	cert, err := s.authority.Issue(name, idp.NormalizeKennitala(kennitala), public, machineTime())
	if err != nil {
		return nil, err
	}
	return append([]*x509.Certificate{cert}, s.authority.Chain()...), nil
}

// Timestamp answers a DER TimeStampReq, also a malformed one, with a DER TimeStampResp (RFC 3161 2.4).
func (s *Sandbox) Timestamp(request []byte) []byte {
	return s.authority.Timestamp(request, machineTime())
}

// OCSP answers a DER OCSPRequest, also a malformed one, with a DER OCSPResponse (RFC 6960 4).
func (s *Sandbox) OCSP(request []byte) []byte { return s.authority.OCSP(request, machineTime()) }

// CRL returns the DER revocation list of the issuing authority (RFC 5280 5).
func (s *Sandbox) CRL() ([]byte, error) { return s.authority.CRL(machineTime()) }

// RootCRL returns the DER revocation list of the root.
func (s *Sandbox) RootCRL() ([]byte, error) { return s.authority.RootCRL(machineTime()) }

// Issuers returns the certificates of the issuing authority and the root as a certs-only DER SignedData
// (RFC 5280 4.2.2.1).
func (s *Sandbox) Issuers() ([]byte, error) { return s.authority.Issuers() }

// machineTime returns the time of the machine's clock. The authority's answers have this time, because the programs
// that get them compare it with their own clocks.
func machineTime() time.Time { return time.Now() } // time: see above
