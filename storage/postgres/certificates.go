package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/innsigli/innsigli/signing"
)

var certificateTable = table[signing.KeptCertificate]{
	name:    "kept_certificates",
	columns: []string{"person", "certificate", "expires"},
	fields:  func(c *signing.KeptCertificate) []any { return []any{&c.Person, &c.Certificate, &c.Expires} },
}

func (s requests) KeepCertificate(ctx context.Context, c signing.KeptCertificate) error {
	return s.db.write(ctx, func(tx pgx.Tx) error { return certificateTable.save(ctx, tx, c) })
}

func (s requests) KeptCertificate(ctx context.Context, person string) (signing.KeptCertificate, error) {
	return find(ctx, s.db, certificateTable, "person = $1", person)
}

func (s requests) DropCertificates(ctx context.Context, before time.Time, limit int) (n int, err error) {
	last := before.Add(-time.Microsecond) // which is what times are counted in here
	err = s.db.write(ctx, func(tx pgx.Tx) error {
		n, err = certificateTable.removeFirst(ctx, tx, "expires", last, limit)
		return err
	})
	return n, err
}
