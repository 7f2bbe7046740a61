package postgres

import (
	"crypto/rand"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// create makes the files of a server, whose owner has a password that no other process of
// this machine knows.
func create(programs string) (*Server, error) {
	s := &Server{programs: programs, password: rand.Text()}
	var err error
	if s.address, err = testenv.FreeAddress(); err != nil {
		return s, err
	}
	if s.folder, err = os.MkdirTemp(os.Getenv("INNSIGLI_POSTGRES_FOLDER"), "innsigli-postgres-"); err != nil {
		return s, err
	}
	secret := filepath.Join(s.folder, "password")
	if err := os.WriteFile(secret, []byte(s.password), 0o600); err != nil {
		return s, err
	}
	if err := handOver(s.folder, secret); err != nil {
		return s, err
	}
	initdb := exec.Command(filepath.Join(programs, "initdb"),
		"--pgdata="+s.files(), "--username="+owner, "--pwfile="+secret, "--auth=scram-sha-256",
		"--encoding=UTF8", "--locale=C", "--no-sync")
	initdb.Dir = s.folder
	if err := serve(initdb); err != nil {
		return s, err
	}
	if out, err := initdb.CombinedOutput(); err != nil {
		return s, fmt.Errorf("initdb: %w\n%s", err, out)
	}
	return s, nil
}
