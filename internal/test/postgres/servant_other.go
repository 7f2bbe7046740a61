//go:build !unix

package postgres

import (
	"errors"
	"os/exec"
)

var errSystem = errors.New("a server is started on Unix alone: set INNSIGLI_TEST_POSTGRES")

func serve(*exec.Cmd) error { return errSystem }

func handOver(...string) error { return errSystem }
