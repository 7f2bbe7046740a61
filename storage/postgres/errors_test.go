package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/innsigli/innsigli/storage"
)

func TestMeaning(t *testing.T) {
	other := errors.New("another error")
	for _, test := range []struct {
		err, want error
	}{
		{nil, nil},
		{other, other},
		{pgx.ErrNoRows, storage.ErrNotFound},
		{io.ErrUnexpectedEOF, storage.ErrUnavailable},
		{pgconn.ErrConnClosed, storage.ErrUnavailable},
		{said("23505"), storage.ErrExists},
		{said("53100"), storage.ErrFull},
		{said("08006"), storage.ErrUnavailable},
		{said("25006"), storage.ErrUnavailable},
		{said("40P01"), storage.ErrUnavailable},
		{said("53300"), storage.ErrUnavailable},
		{said("55P03"), storage.ErrUnavailable},
		{said("57014"), storage.ErrUnavailable},
		{said("57P01"), storage.ErrUnavailable},
		{said("57P02"), storage.ErrUnavailable},
		{said("57P03"), storage.ErrUnavailable},
		{said("3D000"), ErrNoDatabase},
		{said("28P01"), ErrRefused},
		{said("28000"), ErrRefused},
		{said("42501"), ErrNotGranted},
	} {
		if got := meaning(test.err); !errors.Is(got, test.want) {
			t.Errorf("%v means %v, want %v", test.err, got, test.want)
		}
	}
	// A fault of this package does not pass.
	for _, code := range []string{"22021", "42P01"} {
		if got := meaning(said(code)); known(got) {
			t.Errorf("%s means %v", code, got)
		}
	}
}

// said is an error of the server, in the words of a statement that failed.
func said(code string) error {
	return fmt.Errorf("a statement: %w", &pgconn.PgError{Code: code, Message: "message", Detail: "Key (id)=(secret)"})
}

func TestOutcome(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	late, cancelLate := context.WithTimeout(t.Context(), 0) // time: it is over from the beginning
	defer cancelLate()
	for name, test := range map[string]struct {
		ctx       context.Context
		err, want error
	}{
		"cancelled by the caller":   {ended, said("57014"), context.Canceled},
		"connection closed by him":  {ended, io.ErrUnexpectedEOF, context.Canceled},
		"too late for him":          {late, context.DeadlineExceeded, context.DeadlineExceeded},
		"a limit of ours":           {t.Context(), context.DeadlineExceeded, storage.ErrUnavailable},
		"a limit of the server":     {t.Context(), said("57014"), storage.ErrUnavailable},
		"found out before he ended": {ended, pgx.ErrNoRows, storage.ErrNotFound},
	} {
		if got := outcome(test.ctx, test.err); !errors.Is(got, test.want) {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
	// The caller's context is alive: he is not to think that it was his.
	if got := outcome(t.Context(), context.DeadlineExceeded); errors.Is(got, context.DeadlineExceeded) {
		t.Errorf("a limit of ours: %v", got)
	}
	if got := outcome(t.Context(), context.DeadlineExceeded).Error(); strings.Count(got, "not available") != 1 {
		t.Errorf("a limit of ours is told as %q", got)
	}
}
