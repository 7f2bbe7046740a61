//go:build !unix

package postgrestest

import (
	"errors"
	"os/exec"
)

var errSystem = errors.New("a server is started on Unix alone: set INNSIGLI_TEST_POSTGRES")

func serve(*exec.Cmd) error { return errSystem }

func handOver(...string) error { return errSystem }
