package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
)

const (
	// largestDocument is about the largest that a request takes (spec 1.6), and largeMemory how much anonymous
	// memory a server may have, whatever comes.
	largestDocument = 22 << 20
	largeMemory     = 256 << 20
	// longLarge is how long a trial goes on that may take any time.
	longLarge = 15 * time.Minute
)

func largeTrial(ctx context.Context, flags *flag.FlagSet, args []string, out io.Writer) error {
	l := large{}
	store := flags.String("store", "", "URL of an empty database, or path of a new file")
	flags.IntVar(&l.requests, "requests", 40, "requests at once, all of one client")
	flags.IntVar(&l.size, "size", largestDocument, "length of each document in bytes")
	flags.DurationVar(&l.within, "within", 90*time.Second, "all are to be signed in this time")
	if err := flags.Parse(args); err != nil {
		return err
	}
	return l.run(ctx, *store, out)
}

// large is a trial of many large documents at once.
type large struct {
	requests, size int
	within         time.Duration
}

// largeOutcome is what became of one request.
type largeOutcome struct {
	refused int           // times that its start was, for a while
	signed  time.Duration // from the beginning on; 0: never
	err     error
}

func (l large) run(ctx context.Context, store string, out io.Writer) error {
	var peak int64
	var all []largeOutcome
	err := onNewServer(ctx, store, func(ctx context.Context, s *server) (err error) {
		peak, all, err = l.sign(ctx, s)
		return err
	})
	if err != nil {
		return err
	}
	return l.judge(out, peak, all)
}

// onNewServer does something with a server on a store of its own, from its first start on.
func onNewServer(ctx context.Context, store string, do func(context.Context, *server) error) error {
	h, err := newHouse(ctx, storeOf(store))
	if err != nil {
		return err
	}
	defer h.remove()
	s, err := h.newServer(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, longLarge)
	defer cancel()
	return errors.Join(do(ctx, s), s.stop())
}

// storeOf is the --store of a file or a database.
func storeOf(store string) string {
	if strings.Contains(store, "://") {
		return store
	}
	return "bolt:" + store
}

// sign has all documents signed at once.
func (l large) sign(ctx context.Context, s *server) (peak int64, all []largeOutcome, err error) {
	first, err := newClient(ctx, []string{s.address})
	if err != nil {
		return 0, nil, err
	}
	person := &signer{client: first, count: new(figures)}
	if err := person.addUser(ctx, 0, 0); err != nil {
		return 0, nil, err
	}
	patience := new(*first)
	patience.http.Timeout = longLarge
	content := pdftest.Build(pdftest.Options{Payload: l.size})
	body := []byte(person.startTextAt(content, "", "Lt"))
	all = make([]largeOutcome, l.requests)
	signing, end := context.WithCancel(ctx)
	var group errgroup.Group
	group.Go(func() (err error) {
		peak, err = peakOf(signing, s)
		return err
	})
	began := time.Now()
	var requests sync.WaitGroup
	for i := range all {
		requests.Go(func() {
			p := patientClient{client: patience}
			all[i].err = p.sign(ctx, body, len(content))
			all[i].refused, all[i].signed = p.refused, time.Since(began)
		})
	}
	requests.Wait()
	end()
	return peak, all, group.Wait()
}

// judge prints the figures. [errBroken]: a promise was not kept.
func (l large) judge(out io.Writer, peak int64, all []largeOutcome) error {
	var at, signed int
	var last time.Duration
	faults := new(figures)
	for _, o := range all {
		if o.err != nil {
			faults.fault("%v", o.err)
			continue
		}
		if signed++; o.refused == 0 {
			at++
		}
		last = max(last, o.signed)
	}
	err := faults.table(out, [][2]any{
		{"documents at once", fmt.Sprintf("%d of %d MB", l.requests, l.size>>20)},
		{"signed", signed},
		{"of them admitted at once", at},
		{"the last after", last.Round(time.Millisecond)},
		{"peak RssAnon of the server", fmt.Sprintf("%.1f MB", float64(peak)/(1<<20))},
	})
	if err == nil && (signed < l.requests || 4*at < l.requests || last > l.within || peak > largeMemory) {
		err = errBroken
	}
	return err
}
