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

// openAuthority reads the authority, which the first to open a sandbox makes. What
// an earlier version stored gets the keys that it did not have, and is stored again:
// they have to be the same at the next start.
func openAuthority(ctx context.Context, store Store, tx storage.Transactor, clock storage.Clock) (*sandboxca.Authority, error) {
	encoded, err := store.Authority(ctx)
	if errors.Is(err, storage.ErrNotFound) {
		encoded, err = makeAuthority(ctx, store, tx, clock)
	}
	if err != nil {
		return nil, err
	}
	ca, current, err := readAuthority(encoded)
	if err != nil || current {
		return ca, err
	}
	err = tx.InTx(ctx, func(ctx context.Context) error {
		encoded, err := store.Authority(ctx) // another server may have been first
		if err != nil {
			return err
		}
		if ca, current, err = readAuthority(encoded); err != nil || current {
			return err
		}
		now, err := ca.MarshalBinary()
		if err != nil {
			return err
		}
		return store.UpdateAuthority(ctx, now)
	})
	return ca, err
}

// readAuthority makes what an encoding lacks, and says whether it lacked nothing.
func readAuthority(encoded []byte) (ca *sandboxca.Authority, current bool, err error) {
	ca = new(sandboxca.Authority)
	if err := ca.UnmarshalBinary(encoded); err != nil {
		return nil, false, err
	}
	now, err := ca.MarshalBinary()
	return ca, bytes.Equal(now, encoded), err
}

// makeAuthority makes the authority, unless another server was first.
func makeAuthority(ctx context.Context, store Store, tx storage.Transactor, clock storage.Clock) ([]byte, error) {
	ca, err := sandboxca.New(clock.Now(ctx))
	if err != nil {
		return nil, err
	}
	fresh, err := ca.MarshalBinary()
	if err != nil {
		return nil, err
	}
	err = tx.InTx(ctx, func(ctx context.Context) error { return store.SaveAuthority(ctx, fresh) })
	if err != nil && !errors.Is(err, storage.ErrExists) {
		return nil, err
	}
	return store.Authority(ctx)
}

func saveAuthority(ctx context.Context, store Store, tx storage.Transactor, encoded []byte) error {
	return tx.InTx(ctx, func(ctx context.Context) error { return store.UpdateAuthority(ctx, encoded) })
}

// At says at which base URL a server answers for the authority: certificates carry
// its addresses from now on, those of the authority itself among them. Users keep the
// certificates that they have.
func (s *Sandbox) At(ctx context.Context, baseURL string) error {
	s.authority.At(baseURL)
	return s.Renew(ctx)
}

// Renew issues the authority's own certificates anew where they are about to expire. A
// server that runs for long calls it now and then.
func (s *Sandbox) Renew(ctx context.Context) error {
	renewed, err := s.authority.Renew(s.now(ctx))
	if err != nil || !renewed {
		return err
	}
	encoded, err := s.authority.MarshalBinary()
	if err == nil {
		err = saveAuthority(ctx, s.store, s.tx, encoded)
	}
	if err != nil {
		return fmt.Errorf("sandbox: storing the authority: %w", err)
	}
	return nil
}

// Sources are the authority as a source of evidence, in this process: timestamps and
// revocation status need no network (spec 6.3).
func (s *Sandbox) Sources() ades.Sources { return s.authority.Sources(nil) }

// Roots is the pool that the sandbox's signatures are trusted under.
func (s *Sandbox) Roots() *x509.CertPool { return s.authority.Roots() }

// RootPEM is the root's certificate in PEM.
func (s *Sandbox) RootPEM() []byte { return s.authority.RootPEM() }

// Issue certifies a key of somebody who is no user, as those are whom a simulated provider
// stands for. The chain is the certificate and those above it, up to the root.
func (s *Sandbox) Issue(name, kennitala string, public crypto.PublicKey) (chain []*x509.Certificate, err error) {
	cert, err := s.authority.Issue(name, idp.NormalizeKennitala(kennitala), public, machineTime())
	if err != nil {
		return nil, err
	}
	return append([]*x509.Certificate{cert}, s.authority.Chain()...), nil
}

// Timestamp answers a DER TimeStampReq with a DER TimeStampResp (RFC 3161 2.4), also
// one that cannot be read.
func (s *Sandbox) Timestamp(request []byte) []byte {
	return s.authority.Timestamp(request, machineTime())
}

// OCSP answers a DER OCSPRequest with a DER OCSPResponse (RFC 6960 4), also one that
// cannot be read.
func (s *Sandbox) OCSP(request []byte) []byte { return s.authority.OCSP(request, machineTime()) }

// CRL is the DER revocation list of the issuing authority, and RootCRL that of the
// root (RFC 5280 5).
func (s *Sandbox) CRL() ([]byte, error) { return s.authority.CRL(machineTime()) }

// RootCRL is described at [Sandbox.CRL].
func (s *Sandbox) RootCRL() ([]byte, error) { return s.authority.RootCRL(machineTime()) }

// Issuers are the issuing authority's certificate and the root's, as a DER SignedData
// of certificates alone (RFC 5280 4.2.2.1).
func (s *Sandbox) Issuers() ([]byte, error) { return s.authority.Issuers() }

// machineTime is the time of what the authority issues for programs that compare it with their own clocks.
func machineTime() time.Time { return time.Now() } // time: see above
