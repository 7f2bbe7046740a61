package main

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	catest "github.com/innsigli/innsigli/internal/test/ca"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/pades"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
)

const (
	manyFiles     = 200
	manySigners   = 8
	manyFilesTime = 500 * time.Millisecond // of the processor, for all files
)

// BenchmarkVerifyMany has one command verify 200 small files that several signers of one authority signed at level LT,
// with revocation data over HTTP as in production. x-floor is its processor time, start included, as a multiple of the
// least that has to be done: hashing each file, and verifying the values of its signature, of its timestamp and of the
// revocation data about its signer. In each-alone, the files are verified by the package one after the other, with a cache
// of chains for each; in shared, with one for all.
func BenchmarkVerifyMany(b *testing.B) {
	folder, program := b.TempDir(), build(b)
	files := signMany(b, folder)
	roots, err := readRoots(filepath.Join(folder, "root.pem"))
	if err != nil {
		b.Fatal(err)
	}
	b.Run("command", func(b *testing.B) {
		args := append([]string{"verify", "--trust", filepath.Join(folder, "root.pem")}, files...)
		each := benchmarkMany(b, files, func() time.Duration {
			command := exec.Command(program, args...)
			if output, err := command.CombinedOutput(); err != nil || bytes.Count(output, []byte("TOTAL_PASSED")) < manyFiles {
				b.Fatalf("%v: %s", err, output)
			}
			return command.ProcessState.UserTime() + command.ProcessState.SystemTime()
		})
		if each > manyFilesTime {
			b.Errorf("%d files take %v of the processor, more than %v", manyFiles, each, manyFilesTime)
		}
	})
	for name, shared := range map[string]*ades.Chains{"each-alone": nil, "shared": new(ades.Chains)} {
		b.Run(name, func(b *testing.B) {
			benchmarkMany(b, files, func() time.Duration {
				began := testenv.ProcessorTime(b)
				for _, path := range files {
					content := testenv.ReadFile(b, path)
					document := pades.Document{ReaderAt: bytes.NewReader(content), Size: int64(len(content))}
					report, err := pades.Verify(b.Context(), document, ades.VerifyOptions{Roots: roots, Chains: shared})
					if err != nil || !report.Passed() {
						b.Fatal(err, report)
					}
				}
				return testenv.ProcessorTime(b) - began
			})
		})
	}
}

// benchmarkMany reports and returns the processor time of verify for all files.
func benchmarkMany(b *testing.B, files []string, verify func() time.Duration) time.Duration {
	var ours, floor time.Duration
	for b.Loop() {
		ours += verify()
		b.StopTimer()
		floor += floorOfMany(b, files)
		b.StartTimer()
	}
	b.ReportMetric(float64(ours)/float64(floor), "x-floor")
	b.ReportMetric(float64(floor)/float64(b.N), "floor-ns")
	b.ReportMetric(float64(ours)/float64(b.N)/manyFiles, "cpu-ns/file")
	return ours / time.Duration(b.N)
}

// signMany writes the files, and root.pem beside them.
func signMany(b *testing.B, folder string) (files []string) {
	ca := catest.New(b)
	if err := os.WriteFile(filepath.Join(folder, "root.pem"), ca.RootPEM(), 0o600); err != nil {
		b.Fatal(err)
	}
	tsa := catest.Serve(b, ca) + sandboxca.PathTimestamp
	flags := evidenceFlags{TSA: []string{tsa}, AllowPrivate: true}
	sources, err := flags.sources(ades.LT, filepath.Join(folder, "root.pem"), nil)
	if err != nil {
		b.Fatal(err)
	}
	type person struct {
		key    crypto.Signer
		signer ades.SignerIdentity
	}
	var people []person
	for range manySigners {
		key := certtest.NewKey(b, elliptic.P256())
		people = append(people, person{key, catest.IssueSigner(b, ca, key, time.Now())})
	}
	for i := range manyFiles {
		content, by := pdftest.Build(pdftest.Options{Payload: 10_000 + i}), people[i%manySigners]
		doc := pades.Document{ReaderAt: bytes.NewReader(content), Size: int64(len(content))}
		revision, err := pades.Sign(b.Context(), doc, by.key, by.signer, pades.Options{Level: ades.LT}, sources)
		if err != nil {
			b.Fatal(err)
		}
		path := filepath.Join(folder, fmt.Sprintf("%d.pdf", i))
		if err := os.WriteFile(path, append(content, revision.Bytes...), 0o600); err != nil {
			b.Fatal(err)
		}
		files = append(files, path)
	}
	return files
}

// floorOfMany returns the processor time of the least that has to be done for the files.
func floorOfMany(b *testing.B, files []string) time.Duration {
	key := certtest.NewKey(b, elliptic.P256())
	sum := sha256.Sum256(nil)
	value, err := ecdsa.SignASN1(rand.Reader, key, sum[:])
	if err != nil {
		b.Fatal(err)
	}
	began := testenv.ProcessorTime(b)
	for _, path := range files {
		content, err := os.ReadFile(path)
		if err != nil {
			b.Fatal(err)
		}
		sha256.Sum256(content)
		for range 3 {
			if !ecdsa.VerifyASN1(&key.PublicKey, sum[:], value) {
				b.Fatal("the value is wrong")
			}
		}
	}
	return testenv.ProcessorTime(b) - began
}
