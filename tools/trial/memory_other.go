//go:build !linux

package main

import (
	"context"
	"errors"
	"time"
)

// peakOf needs /proc.
func peakOf(ctx context.Context, _ *server) (int64, error) {
	<-ctx.Done()
	return 0, errors.New("only Linux says how much anonymous memory a process has")
}

// anonymousMemory is not known elsewhere.
func anonymousMemory(int) (int64, error) { return 0, nil }

var errNoProc = errors.New("only Linux says what a process has used")

func cpuTime(int) (time.Duration, error) { return 0, errNoProc }

func bytesWritten(int) (int64, error) { return 0, errNoProc }

func isPostgres(int) bool { return false }
