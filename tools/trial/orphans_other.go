//go:build !linux

package main

import "os/exec"

// endWithUs can be had on Linux alone: elsewhere a trial that is killed leaves its servers.
func endWithUs(*exec.Cmd) {}
