package bolt

import (
	"context"
	"time"

	"github.com/innsigli/innsigli/signing"
)

var (
	certificateExpiry = index[certificateRecord]{bucket: "certificate.expiry", key: func(c certificateRecord) []byte { return instant(c.Expires) }}
	certificateTable  = table[certificateRecord]{bucket: "certificate", indexes: []index[certificateRecord]{certificateExpiry}}
)

type certificateRecord struct {
	Person      string    `json:"person"`
	Certificate []byte    `json:"certificate"`
	Expires     time.Time `json:"expires"`
}

func (s requests) KeepCertificate(ctx context.Context, c signing.KeptCertificate) error {
	return s.db.write(ctx, func(tx *boltTx) error {
		return certificateTable.save(tx, c.Person, certificateRecord(c))
	})
}

func (s requests) KeptCertificate(ctx context.Context, person string) (signing.KeptCertificate, error) {
	record, err := read(ctx, s.db, certificateTable, person)
	return signing.KeptCertificate(record), err
}

func (s requests) DropCertificates(ctx context.Context, expired time.Time, limit int) (int, error) {
	return removeBefore(ctx, s.db, certificateTable, certificateExpiry, expired, limit)
}
