package postgres

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	postgrestest "github.com/innsigli/innsigli/internal/test/postgres"
	"github.com/innsigli/innsigli/storage/storagetest"
)

// goldenFile has the rows of all tables of this version's schema.
//
// The blocks of a golden file are separated by empty lines. A block of one line is the name of a
// table. Each block after it is a row of that table, and each line of it is a column and its
// value. Values are as in the text format of COPY: \N is NULL, and a backslash is two. Columns that
// Postgres computes are left out, and so are sequences.
const goldenFile, goldenSchema = "testdata/records-14.golden", 14

// fileBeforeChain is that of version 12.
const fileBeforeChain = "testdata/earlier/records-12.golden"

// sameTimes replaces the times that a backend takes from a clock.
const sameTimes = `
	UPDATE innsigli_schema SET applied_at = '2000-01-01T00:00:00Z';
	UPDATE documents SET started_at = '2000-01-01T00:00:00Z';
	UPDATE rate_buckets SET full_at = '2100-01-01T00:00:00Z'`

// TestGoldenRecordsAreWritten checks that records are stored as the golden file has them.
func TestGoldenRecordsAreWritten(t *testing.T) {
	url := migrated(t)
	renamed := storagetest.WriteExamples(t, backend(t, url))
	execute(t, url, sameTimes)
	testenv.SameAsGolden(t, goldenFile, []byte(dump(t, url, strings.NewReplacer(renamed...))))
}

// TestGoldenRecordsAreRead checks that this version reads the records of this and earlier versions. One of the files of version 11
// has the members of participants in another order.
func TestGoldenRecordsAreRead(t *testing.T) {
	for file, schema := range map[string]int{
		goldenFile:      goldenSchema,
		fileBeforeChain: 12,
		"testdata/earlier/records-11-sorted.golden": 11,
		"testdata/earlier/records-11.golden":        11,
	} {
		t.Run(file, func(t *testing.T) {
			url := postgrestest.Database(t)
			if _, _, err := migrate(t.Context(), url, Options{}, versions(t, schema)); err != nil {
				t.Fatal(err)
			}
			golden, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			restore(t, url, string(golden))
			if _, _, err := Migrate(t.Context(), url, Options{}); err != nil {
				t.Fatal(err)
			}
			switch file {
			case goldenFile:
				storagetest.ReadExamples(t, backend(t, url))
			case fileBeforeChain:
				storagetest.ReadExamplesBeforeChain(t, backend(t, url))
			default:
				storagetest.ReadEarlierExamples(t, backend(t, url))
			}
		})
	}
}

// dump returns the text of a golden file. It replaces the values that are never the same, and
// then sorts the rows of each table. A table without a row fails the test.
func dump(t *testing.T, url string, rename *strings.Replacer) string {
	t.Helper()
	conn := connected(t, with(t, url, "timezone", "UTC", "datestyle", "ISO", "bytea_output", "hex"))
	var blocks []string
	for _, table := range tables(t, conn) {
		rows := dumpTable(t, conn, table)
		if len(rows) == 0 {
			t.Errorf("the table %s has no row", table.name)
		}
		for i := range rows {
			rows[i] = rename.Replace(rows[i])
		}
		slices.Sort(rows)
		blocks = append(append(blocks, table.name), rows...)
	}
	return strings.Join(blocks, "\n\n") + "\n"
}

// connected returns a connection that is open until the end of the test.
func connected(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

// storedTable is a table of the database, with the columns that are written to.
type storedTable struct {
	name    string
	columns []string
}

// tables returns the tables in the order in which they were made, so that a row comes after the
// rows that it refers to.
func tables(t *testing.T, conn *pgx.Conn) []storedTable {
	t.Helper()
	rows, err := conn.Query(t.Context(), `
		SELECT c.relname::text, array_agg(a.attname::text ORDER BY a.attnum)
		FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
		WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r'
			AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
		GROUP BY c.oid ORDER BY c.oid`)
	if err != nil {
		t.Fatal(err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (s storedTable, err error) {
		return s, row.Scan(&s.name, &s.columns)
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// dumpTable returns the rows of a table, each as a block.
func dumpTable(t *testing.T, conn *pgx.Conn, table storedTable) (blocks []string) {
	t.Helper()
	var text strings.Builder
	statement := fmt.Sprintf("COPY %s (%s) TO STDOUT", table.name, strings.Join(table.columns, ", "))
	if _, err := conn.PgConn().CopyTo(t.Context(), &text, statement); err != nil {
		t.Fatal(err)
	}
	for row := range strings.Lines(text.String()) {
		var lines []string
		for i, value := range strings.Split(strings.TrimSuffix(row, "\n"), "\t") {
			lines = append(lines, table.columns[i]+"="+value)
		}
		blocks = append(blocks, strings.Join(lines, "\n"))
	}
	return blocks
}

// restore adds the rows of a golden file to the tables of a database. The migrations have written
// to innsigli_schema already.
func restore(t *testing.T, url, golden string) {
	t.Helper()
	conn := connected(t, url)
	table := ""
	for block := range strings.SplitSeq(strings.TrimSuffix(golden, "\n"), "\n\n") {
		var columns, values []string
		for line := range strings.SplitSeq(block, "\n") {
			column, value, _ := strings.Cut(line, "=")
			columns, values = append(columns, column), append(values, value)
		}
		if !strings.Contains(block, "=") {
			table = block
			continue
		}
		if table == "innsigli_schema" {
			continue
		}
		statement := fmt.Sprintf("COPY %s (%s) FROM STDIN", table, strings.Join(columns, ", "))
		if _, err := conn.PgConn().CopyFrom(t.Context(), strings.NewReader(strings.Join(values, "\t")), statement); err != nil {
			t.Fatalf("%v: %s of %s", err, block, table)
		}
	}
}
