package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// ErrRole is returned by [GrantServer] for a role that does not exist, or that servers must not run as.
var ErrRole = errors.New("postgres: not a role for servers")

// serverPrivileges returns what the role of servers may do with a table. It is the only list of these privileges.
func serverPrivileges(table string) string {
	switch table {
	case "innsigli_schema":
		return "SELECT"
	case "evidence", "evidence_salts", "evidence_batches": // members of innsigli_evidence delete, and no role changes
		return "SELECT, INSERT"
	}
	return "SELECT, INSERT, UPDATE, DELETE"
}

// GrantServer grants a role what servers need on the tables that [Migrate] has made, and nothing else: the role can
// neither change nor truncate tables. Privileges on these tables that the role had before are withdrawn. Tables that a
// later version adds can be used before GrantServer is called again, which is needed after each migration all the same,
// since a table may permit less than others. If the role innsigli_evidence exists, it is granted what erasing and pruning the
// evidence log needs. GrantServer may be called again at any time, also while servers run.
//
// It must be called as the owner of the tables. The role must exist. It is [ErrRole] if it is a superuser, may create
// roles, or is a member of the owner or of innsigli_evidence, which deletes from the evidence log. Other errors: [ErrURL], [ErrInsecure], [ErrNoDatabase], [ErrAccessDenied],
// [ErrSchema], [ErrNotGranted], [ErrMayNotMigrate], [ErrUntrusted], storage.ErrUnavailable.
func GrantServer(ctx context.Context, url, role string, opts Options) error {
	conn, err := connectToMigrate(ctx, url, opts)
	if err != nil {
		return callError(ctx, err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	return callError(ctx, pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error { return grantServer(ctx, tx, role) }))
}

func grantServer(ctx context.Context, tx pgx.Tx, role string) error {
	// Concurrent changes of the same privileges are an error of Postgres.
	if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", migrationLock); err != nil {
		return err
	}
	version, err := schemaVersion(ctx, tx)
	switch {
	case err != nil:
		return err
	case version == 0:
		return ErrNoTables
	}
	owner, err := tableOwner(ctx, tx)
	if err != nil {
		return err
	}
	if err := checkServerRole(ctx, tx, role, owner); err != nil {
		return err
	}
	statements, err := serverGrants(ctx, tx, role, owner)
	if err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, strings.Join(statements, ";\n")); err != nil {
		return err
	}
	// GRANT only warns if the schema belongs to another role.
	var schema string
	var usable bool
	err = tx.QueryRow(ctx, "SELECT current_schema(), has_schema_privilege($1::name, current_schema(), 'USAGE')", role).Scan(&schema, &usable)
	if err == nil && !usable {
		err = fmt.Errorf("%w: have the owner of the schema %s run: GRANT USAGE ON SCHEMA %[2]s TO %s", ErrMayNotMigrate, schema, quoted(role))
	}
	return err
}

// tableOwner returns the role that the tables belong to. It is an error if this connection cannot act as that role.
func tableOwner(ctx context.Context, tx pgx.Tx) (owner string, err error) {
	var ours bool
	err = tx.QueryRow(ctx, `SELECT pg_get_userbyid(relowner), pg_has_role(relowner, 'USAGE')
		FROM pg_class WHERE oid = 'innsigli_schema'::regclass`).Scan(&owner, &ours)
	if err == nil && !ours {
		err = fmt.Errorf("%w: the tables belong to %s: run innsigli migrate as that role", ErrMayNotMigrate, quoted(owner))
	}
	return owner, err
}

// checkServerRole returns [ErrRole] unless the role exists and cannot do what only the owner of the tables may.
func checkServerRole(ctx context.Context, tx pgx.Tx, role, owner string) error {
	var super, creates, member, deletes bool
	err := tx.QueryRow(ctx, `SELECT rolsuper, rolcreaterole, pg_has_role(oid, $2::name, 'MEMBER'),
		EXISTS (SELECT FROM pg_roles AS e WHERE e.rolname = 'innsigli_evidence' AND pg_has_role(pg_roles.oid, e.oid, 'MEMBER'))
		FROM pg_roles WHERE rolname = $1`, role, owner).Scan(&super, &creates, &member, &deletes)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return fmt.Errorf("%w: there is no role %s: create it first, such as with: createuser --pwprompt NAME", ErrRole, quoted(role))
	case err != nil:
		return err
	case super:
		return fmt.Errorf("%w: %s is a superuser: create another role", ErrRole, quoted(role))
	case creates:
		return fmt.Errorf("%w: %s may create roles, and so may become a member of others: run ALTER ROLE %[2]s NOCREATEROLE, or create another role", ErrRole, quoted(role))
	case deletes:
		return fmt.Errorf("%w: %s is, or is a member of, innsigli_evidence, and may delete from the evidence log: create another role", ErrRole, quoted(role))
	case member:
		return fmt.Errorf("%w: %s is, or is a member of, the owner of the tables: create another role", ErrRole, quoted(role))
	}
	return nil
}

// serverGrants returns the statements that give a role the privileges of servers on the tables and sequences of the
// owner, and on those that the owner makes later. They also give innsigli_evidence its own, if that role exists.
func serverGrants(ctx context.Context, tx pgx.Tx, role, owner string) ([]string, error) {
	var deleter bool
	if err := tx.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = 'innsigli_evidence')").Scan(&deleter); err != nil {
		return nil, err
	}
	rows, err := tx.Query(ctx, `SELECT n.nspname, c.relname, c.relkind = 'S'
		FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p', 'S') AND pg_get_userbyid(c.relowner) = $1
		ORDER BY c.relname`, owner)
	if err != nil {
		return nil, err
	}
	var statements []string
	if deleter {
		statements = append(statements, "GRANT SELECT ON innsigli_schema TO innsigli_evidence", "GRANT SELECT, INSERT, DELETE ON evidence, evidence_salts, evidence_batches TO innsigli_evidence")
	}
	var schema, name string
	var sequence bool
	to, of := quoted(role), quoted(owner)
	_, err = pgx.ForEachRow(rows, []any{&schema, &name, &sequence}, func() error {
		kind, privileges := "TABLE", serverPrivileges(name)
		if sequence {
			kind, privileges = "SEQUENCE", "USAGE"
		}
		object := kind + " " + pgx.Identifier{schema, name}.Sanitize()
		statements = append(statements,
			"REVOKE ALL ON "+object+" FROM "+to,
			"GRANT "+privileges+" ON "+object+" TO "+to)
		return nil
	})
	if deleter {
		statements = append(statements, "GRANT USAGE ON SCHEMA "+quoted(schema)+" TO innsigli_evidence")
	}
	later := "ALTER DEFAULT PRIVILEGES FOR ROLE " + of + " IN SCHEMA " + quoted(schema) + " GRANT "
	return append(statements,
		"GRANT USAGE ON SCHEMA "+quoted(schema)+" TO "+to,
		later+serverPrivileges("")+" ON TABLES TO "+to,
		later+"USAGE ON SEQUENCES TO "+to), err
}

func quoted(name string) string { return pgx.Identifier{name}.Sanitize() }
