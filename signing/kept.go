package signing

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"errors"
	"time"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/storage"
)

// known is the certificate kept from the person's last answer, where the provider wants it
// (spec 3.5). One that is not good any more counts as none: the person is asked for
// the one that came after it.
func (t *turn) known(ctx context.Context) (*x509.Certificate, error) {
	if !t.traits().Remember {
		return nil, nil
	}
	kept, err := t.Service.store.KeptCertificate(ctx, whose(t.r.Person))
	if errors.Is(err, storage.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(kept.Certificate)
	if err != nil {
		return nil, nil
	}
	if _, f, _ := t.checkCertificate(ctx, cert, nil, t.options.Sources(), time.Now()); f != nil {
		return nil, nil
	}
	return cert, nil
}

// remember keeps the certificate that a person is asked to sign with, after it was checked.
func (t *turn) remember(ctx context.Context, r *Request, cert *x509.Certificate) error {
	if cert == nil || !t.traits().Remember {
		return nil
	}
	person := whose(r.Person)
	kept, err := t.Service.store.KeptCertificate(ctx, person)
	if err != nil && !errors.Is(err, storage.ErrNotFound) || bytes.Equal(kept.Certificate, cert.Raw) {
		return err
	}
	return t.Service.store.KeepCertificate(ctx, KeptCertificate{Person: person, Certificate: cert.Raw, Expires: cert.NotAfter})
}

// whose names the person and the phone by a digest.
func whose(p idp.Person) string {
	p.Account = "" // whoever asks, it is the same certificate
	encoded, _ := json.Marshal(p)
	sum := sha256.Sum256(encoded)
	return hex.EncodeToString(sum[:])
}
