package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"fmt"
	"os"
	"runtime"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/pades"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
)

// floorRate is what the same cryptography takes without a service.
type floorRate struct {
	perSecond float64
	cpu       time.Duration // each, with the work of the authority, which is in the server's process too
}

func (f floorRate) String() string {
	return fmt.Sprintf("%.0f a second, %v CPU each", f.perSecond, f.cpu.Round(10*time.Microsecond))
}

// measureFloor signs the document at level LT, again and again on all CPUs, and makes each of them durable by one sync of a
// file in the folder.
func measureFloor(ctx context.Context, folder string, content []byte, span time.Duration) (f floorRate, err error) {
	authority, err := sandboxca.New(time.Now())
	if err != nil {
		return f, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return f, err
	}
	certificate, err := authority.Issue("Floor", "0101302989", key.Public(), time.Now())
	if err != nil {
		return f, err
	}
	sources := authority.Sources(nil)
	sources.Chains = new(ades.Chains) // as a server has one
	identity := ades.SignerIdentity{Certificate: certificate, Chain: authority.Chain()}
	sign := func(file *os.File) error {
		document := pades.Document{ReaderAt: bytes.NewReader(content), Size: int64(len(content))}
		revision, err := pades.Sign(ctx, document, key, identity, pades.Options{Level: ades.LT}, sources)
		if err != nil {
			return err
		}
		if _, err := file.WriteAt(content, 0); err != nil {
			return err
		}
		if _, err := file.WriteAt(revision.Bytes, revision.Base); err != nil {
			return err
		}
		return file.Sync()
	}
	before, err := cpuTime(os.Getpid())
	if err != nil {
		return f, err
	}
	var n atomic.Int64
	began := time.Now()
	var group errgroup.Group
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() error {
			file, err := os.CreateTemp(folder, "floor")
			if err != nil {
				return err
			}
			defer file.Close()
			for time.Since(began) < span && ctx.Err() == nil {
				if err := sign(file); err != nil {
					return err
				}
				n.Add(1)
			}
			return ctx.Err()
		})
	}
	if err := group.Wait(); err != nil {
		return f, err
	}
	f.perSecond = float64(n.Load()) / time.Since(began).Seconds()
	after, err := cpuTime(os.Getpid())
	f.cpu = (after - before) / time.Duration(max(n.Load(), 1))
	return f, err
}
