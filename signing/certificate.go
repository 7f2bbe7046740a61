package signing

import (
	"context"
	"time"
)

// KeptCertificate is the signing certificate of a person's last answer (spec 3.5).
type KeptCertificate struct {
	Person      string    // whose: a digest of person and phone
	Certificate []byte    // DER; a store for production seals it
	Expires     time.Time // with the certificate
}

// Certificates keeps certificates that only an answer tells. Methods that write join a transaction.
type Certificates interface {
	// KeepCertificate keeps a certificate in place of the person's earlier one.
	KeepCertificate(ctx context.Context, c KeptCertificate) error
	// KeptCertificate returns a person's; storage.ErrNotFound.
	KeptCertificate(ctx context.Context, person string) (KeptCertificate, error)
	// DropCertificates removes up to limit of those that expired before the time given and says how many.
	DropCertificates(ctx context.Context, before time.Time, limit int) (int, error)
}
