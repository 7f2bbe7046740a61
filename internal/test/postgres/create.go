package postgres

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// create creates the files of a server that does not flush them.
func create(programs string) (*Server, error) {
	s := &Server{programs: programs, password: rand.Text()}
	var err error
	if s.address, err = testenv.FreeAddress(); err != nil {
		return s, err
	}
	if s.folder, err = os.MkdirTemp(os.Getenv("INNSIGLI_POSTGRES_FOLDER"), "innsigli-postgres-"); err != nil {
		return s, err
	}
	if err := handOver(s.folder); err != nil {
		return s, err
	}
	return s, s.initialize(context.Background(), s.files(), "--no-sync")
}

// initialize creates the files of the server in data, with a random password of its owner.
func (s *Server) initialize(ctx context.Context, data string, more ...string) error {
	secret := filepath.Join(s.folder, "password")
	if err := os.WriteFile(secret, []byte(s.password), 0o600); err != nil {
		return err
	}
	if err := handOver(secret); err != nil {
		return err
	}
	initdb := exec.CommandContext(ctx, filepath.Join(s.programs, "initdb"), append([]string{
		"--pgdata=" + data, "--username=" + owner, "--pwfile=" + secret, "--auth=scram-sha-256", "--encoding=UTF8", "--locale=C"}, more...)...)
	initdb.Dir = s.folder
	if err := serve(initdb); err != nil {
		return err
	}
	if out, err := initdb.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, out)
	}
	return nil
}
