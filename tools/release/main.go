// Command release makes what a release consists of, out of a commit and nothing that lies around: for each
// platform an archive with the program, and a bill of materials (CycloneDX 1.6) beside it; and the checksums of all.
//
//	go run ./tools/release                                  of HEAD, into the folder dist
//	go run ./tools/release -revision v1.2.3 -o /tmp/release
//	go run ./tools/release -only linux/amd64
//
// The same commit and the same Go give the same bytes, on any machine: times are those of the commit, paths are
// trimmed, and nothing of what the builder has set for Go gets through. The version is what Go takes from
// the tags of the repository, as "go install" does: v1.2.3 at a tag, else one that tells the commit.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
)

func main() {
	revision := flag.String("revision", "HEAD", "commit or tag to release")
	out := flag.String("o", "dist", "folder for the result; what it has of an earlier release is replaced")
	only := flag.String("only", "", "one platform, such as linux/amd64; else all of them")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *revision, *out, *only); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, revision, out, only string) error {
	targets, err := chosen(only)
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "innsigli-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	s, err := checkOut(ctx, revision, filepath.Join(folder, "source"))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	if err := removeReleased(out); err != nil {
		return err
	}
	for _, t := range targets {
		name, err := s.release(ctx, t, folder, out)
		if err != nil {
			return fmt.Errorf("%s: %w", t, err)
		}
		fmt.Println(filepath.Join(out, name))
	}
	return writeSums(out)
}

// release makes the two files of a platform, and returns the name that they share.
func (s source) release(ctx context.Context, t target, scratch, out string) (string, error) {
	b, err := s.build(ctx, t, filepath.Join(scratch, t.program()))
	if err != nil {
		return "", err
	}
	notices, err := s.notices(ctx, b)
	if err != nil {
		return "", err
	}
	bill, err := b.bill(s.time)
	if err != nil {
		return "", err
	}
	name := fmt.Sprintf("innsigli-%s-%s-%s", b.info.Main.Version, t.os, t.arch)
	if err := os.WriteFile(filepath.Join(out, name+".cdx.json"), bill, 0o644); err != nil {
		return "", err
	}
	entries, err := s.entries(b, notices)
	if err != nil {
		return "", err
	}
	return name, pack(filepath.Join(out, name+t.extension()), name, entries, s.time)
}
