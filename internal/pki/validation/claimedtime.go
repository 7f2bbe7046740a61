package validation

import (
	"crypto/x509"
	"errors"
	"fmt"
	"time"

	"github.com/innsigli/innsigli/ades"
)

// CheckClaimedTime makes sure that the time at which a signer claims to have signed is one at which the
// certificate was valid (EN 319 102-1 5.2.8): seconds count. It proves nothing, but whoever reads a signature
// reads that time beside the name. [ades.ErrOutsideValidity] when it is not.
func CheckClaimedTime(cert *x509.Certificate, claimed time.Time) error {
	claimed = claimed.UTC().Truncate(time.Second)
	switch {
	case claimed.IsZero():
		return errors.New("the signature does not say when it was made")
	case claimed.Before(cert.NotBefore), claimed.After(cert.NotAfter):
		return fmt.Errorf("%w: it is claimed to have signed at %s, and valid from %s to %s", ades.ErrOutsideValidity,
			claimed.Format(time.RFC3339), cert.NotBefore.UTC().Format(time.RFC3339), cert.NotAfter.UTC().Format(time.RFC3339))
	}
	return nil
}
