package main

import (
	"errors"

	"github.com/innsigli/innsigli/storage/postgres"
)

// databaseAdvice says what an operator can do about a database that cannot be used as it
// is; empty: its error says so itself, or it is another error.
func databaseAdvice(err error) string {
	for _, a := range []struct {
		of     error
		advice string
	}{
		{postgres.ErrNoDatabase, "make it first, such as: createdb --encoding=UTF8 innsigli"},
		{postgres.ErrRefused, "look at the role in the URL, its password (PGPASSWORD, ~/.pgpass or the URL) and the server's pg_hba.conf"},
		{postgres.ErrNotGranted, `have its owner run the GRANTs in "innsigli migrate --help"`},
		{postgres.ErrMayNotMake, `run "innsigli migrate" as a role that may, and the GRANTs in its --help`},
	} {
		if errors.Is(err, a.of) {
			return a.advice
		}
	}
	return ""
}
