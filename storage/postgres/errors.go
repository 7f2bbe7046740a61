package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/innsigli/innsigli/storage"
)

// The server's error codes (Postgres manual, appendix A) that mean something here.
const (
	connectionException   = "08"    // a class
	authorization         = "28"    // a class: the role or its password
	invalidCatalogName    = "3D000" // no such database
	invalidSchemaName     = "3F000" // none in which the role may make tables
	insufficientPrivilege = "42501"
	uniqueViolation       = "23505"
	readOnly              = "25006" // a server that has become a standby
	idleTooLong           = "25P03" // in a transaction
	serializationFailure  = "40001"
	deadlockDetected      = "40P01"
	diskFull              = "53100"
	outOfMemory           = "53200"
	tooManyConnections    = "53300"
	lockNotAvailable      = "55P03" // within lock_timeout
	queryCancelled        = "57014" // by statement_timeout, or because the context ended
	adminShutdown         = "57P01"
	crashShutdown         = "57P02"
	cannotConnectNow      = "57P03"
)

// passing are the errors after which the same may be tried again later.
var passing = []string{
	readOnly, idleTooLong, serializationFailure, deadlockDetected, outOfMemory, tooManyConnections,
	lockNotAvailable, queryCancelled, adminShutdown, crashShutdown, cannotConnectNow,
}

// meaning puts the errors of pgx and the server into the words of package storage.
func meaning(err error) error {
	var said *pgconn.PgError
	switch {
	case err == nil, known(err):
		return err
	case errors.Is(err, pgx.ErrNoRows):
		return storage.ErrNotFound
	case errors.As(err, &said):
		return verdict(said.Code, err)
	case disconnected(err):
		return fmt.Errorf("%w: %w", storage.ErrUnavailable, err)
	}
	return err
}

// verdict is what an error of the server means. Its text is the server's message; the
// other fields, which may quote what was to be stored, are not in it.
func verdict(code string, err error) error {
	switch {
	case code == uniqueViolation:
		return fmt.Errorf("%w: %w", storage.ErrExists, err)
	case code == diskFull:
		return fmt.Errorf("%w: %w", storage.ErrFull, err)
	case code == invalidCatalogName:
		return fmt.Errorf("%w: %w", ErrNoDatabase, err)
	case strings.HasPrefix(code, authorization):
		return fmt.Errorf("%w: %w", ErrRefused, err)
	case code == insufficientPrivilege:
		return fmt.Errorf("%w: %w", ErrNotGranted, err)
	case slices.Contains(passing, code), strings.HasPrefix(code, connectionException):
		return fmt.Errorf("%w: %w", storage.ErrUnavailable, err)
	}
	return fmt.Errorf("postgres: %w", err)
}

// known says whether the error is in the words of package storage, or of this one, already.
func known(err error) bool {
	return slices.ContainsFunc([]error{
		storage.ErrNotFound, storage.ErrExists, storage.ErrNoTx, storage.ErrMoved, storage.ErrTooLarge,
		storage.ErrLeaseLost, storage.ErrUnavailable, storage.ErrFull,
		ErrNoDatabase, ErrRefused, ErrNotGranted, ErrMayNotMake,
	}, func(known error) bool { return errors.Is(err, known) })
}

// disconnected says whether there is no connection, or none any more.
func disconnected(err error) bool {
	var connecting *pgconn.ConnectError
	var network net.Error
	return errors.As(err, &connecting) || errors.As(err, &network) || pgconn.SafeToRetry(err) ||
		errors.Is(err, pgconn.ErrConnClosed) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed)
}

// outcome is the meaning of the error of a call that had the context. If the context
// has ended, that is why the call was broken off; a shorter time that was set for a part
// of the call is no matter of the caller's.
func outcome(ctx context.Context, err error) error {
	meant := meaning(err)
	timedOut := errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
	switch {
	case !timedOut && !errors.Is(meant, storage.ErrUnavailable):
		return meant
	case ctx.Err() != nil:
		return fmt.Errorf("postgres: %w", ctx.Err())
	case timedOut:
		return fmt.Errorf("%w: %v", storage.ErrUnavailable, err)
	}
	return meant
}
