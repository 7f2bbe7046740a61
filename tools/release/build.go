package main

import (
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// target is a platform that is released for.
type target struct{ os, arch string }

var targets = []target{
	{"linux", "amd64"}, {"linux", "arm64"},
	{"darwin", "amd64"}, {"darwin", "arm64"},
	{"windows", "amd64"}, {"windows", "arm64"},
}

func (t target) String() string { return t.os + "/" + t.arch }

func (t target) program() string {
	if t.os == "windows" {
		return "innsigli.exe"
	}
	return "innsigli"
}

// extension is that of the archives which people on the platform can open with what they have.
func (t target) extension() string {
	if t.os == "windows" {
		return ".zip"
	}
	return ".tar.gz"
}

func chosen(only string) ([]target, error) {
	if only == "" {
		return targets, nil
	}
	for _, t := range targets {
		if t.String() == only {
			return []target{t}, nil
		}
	}
	return nil, fmt.Errorf("%q is not among the platforms %v", only, targets)
}

// source is a checkout of the commit that is released, in a folder of its own.
type source struct {
	folder string
	time   time.Time // of the commit, and so of everything in the release
}

// checkOut clones the repository of the working folder: what is not committed is in no release.
func checkOut(ctx context.Context, revision, folder string) (source, error) {
	top, err := output(ctx, "", nil, "git", "rev-parse", "--show-toplevel")
	if err != nil {
		return source{}, err
	}
	commit, err := output(ctx, "", nil, "git", "rev-parse", "--verify", "--end-of-options", revision+"^{commit}")
	if err != nil {
		return source{}, err
	}
	for _, args := range [][]string{
		{"clone", "--quiet", "--no-checkout", top, folder},
		{"-C", folder, "-c", "core.autocrlf=false", "-c", "advice.detachedHead=false", "checkout", "--quiet", commit},
	} {
		if _, err := output(ctx, "", nil, "git", args...); err != nil {
			return source{}, err
		}
	}
	stamp, err := output(ctx, folder, nil, "git", "show", "--no-patch", "--format=%ct", "HEAD")
	if err != nil {
		return source{}, err
	}
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	return source{folder, time.Unix(seconds, 0).UTC()}, err
}

// built is a program, and what Go noted in it.
type built struct {
	target
	path string
	info *buildinfo.BuildInfo
}

func (s source) build(ctx context.Context, t target, path string) (built, error) {
	_, err := output(ctx, s.folder, t.environment(), "go", "build", "-trimpath", "-buildvcs=true", "-ldflags=-s -w", "-o", path, "./cmd/innsigli")
	if err != nil {
		return built{}, err
	}
	info, err := buildinfo.ReadFile(path)
	if err == nil && strings.HasSuffix(info.Main.Version, "+dirty") {
		err = errors.New("the checkout is not that of the commit")
	}
	return built{t, path, info}, err
}

// environment is what the result depends on, whatever the builder's own says.
func (t target) environment() []string {
	return append(os.Environ(),
		"GOOS="+t.os, "GOARCH="+t.arch, "CGO_ENABLED=0", "GOAMD64=v1", "GOARM64=v8.0",
		"GOFLAGS=-mod=readonly", "GOEXPERIMENT=", "GODEBUG=", "GOFIPS140=off", "GOWORK=off")
}

// output runs a program and returns what it printed, without the line's end.
func output(ctx context.Context, folder string, environment []string, name string, args ...string) (string, error) {
	command := exec.CommandContext(ctx, name, args...)
	command.Dir, command.Env = folder, environment
	printed, err := command.Output()
	if failed := new(exec.ExitError); errors.As(err, &failed) {
		err = fmt.Errorf("%s: %w\n%s", command, err, failed.Stderr)
	}
	return strings.TrimSuffix(string(printed), "\n"), err
}
