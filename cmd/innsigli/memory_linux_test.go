package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	postgrestest "github.com/innsigli/innsigli/internal/test/postgres"
)

// Documents are streamed through the server, never held: its anonymous memory grows by
// little, and stays under a limit however many large ones come in and go out at once. Pages
// of the store that bbolt has mapped are the kernel's to take back and do not count.
const (
	memoryOfOne    = 16 << 20  // what one start or one poll adds
	memoryLimit    = 128 << 20 // in all, with many at once
	memoryOfOneXML = 200 << 20 // what signing one adds
	largeDocument  = 22 << 20  // spec 1.6: about the largest that fits a request
	memorySampling = 2 * time.Millisecond
)

// collected lets little count that is no longer in use.
var collected = []string{"GOGC=20"}

func BenchmarkMemoryOfLargeDocuments(b *testing.B) {
	memoryOfLargeDocuments(b, "bolt:"+filepath.Join(shortFolder(b), "store.db"))
}

func BenchmarkMemoryOfLargeDocumentsInPostgres(b *testing.B) {
	memoryOfLargeDocuments(b, postgrestest.Database(b))
}

func memoryOfLargeDocuments(b *testing.B, store string) {
	b.Helper()
	server := startSandbox(b, build(b), store, collected, "--master-key-file", filepath.Join(b.TempDir(), "master.key"))
	c := server.signIn(b)
	c.addPeople(b, people[0])
	large := pdftest.Build(pdftest.Options{Payload: largeDocument})
	body := []byte(startText(large, people[0], "IdpSim", "", ""))
	idle := server.idleMemory(b, c)
	for _, round := range []struct{ requests, limit int }{{1, idle + memoryOfOne}, {20, memoryLimit}} {
		polling := make([]string, round.requests)
		starts := server.peakDuring(b, round.requests, func(ctx context.Context, i int) error {
			a, err := c.call(ctx, http.MethodPost, "/api/v1/signing", bytes.NewReader(body))
			if err == nil && a.Status != http.StatusOK {
				err = fmt.Errorf("start: %v", a)
			}
			polling[i] = a.PollingID
			return err
		})
		polls := server.peakDuring(b, round.requests, func(ctx context.Context, i int) error {
			size, err := c.download(ctx, "/api/v1/signing/"+polling[i])
			if err == nil && size < largeDocument*4/3 {
				err = fmt.Errorf("poll: %d bytes", size)
			}
			return err
		})
		for _, step := range []struct {
			name string
			peak int
		}{{"starts", starts}, {"polls", polls}} {
			b.Logf("figure: %d %s of %d MB at once: peak RssAnon %.1f MB, idle %.1f MB", round.requests, step.name, largeDocument>>20, float64(step.peak)/(1<<20), float64(idle)/(1<<20))
			if step.peak > round.limit {
				b.Errorf("%s: peak RssAnon is over %d MB", step.name, round.limit>>20)
			}
		}
	}
}

// XML is read whole to be signed. One document takes several times its length, in each packing, and so does
// one with a signature in it; many at once take no more than two of the largest.
func BenchmarkMemoryOfLargeXML(b *testing.B) {
	server := startSandbox(b, build(b), "bolt:"+filepath.Join(shortFolder(b), "store.db"), nil, "--master-key-file", filepath.Join(b.TempDir(), "master.key"))
	c := server.signIn(b)
	c.addPeople(b, people[0])
	row := "<row n='1'><to>Jón Jónsson</to><sum currency='ISK'>1000</sum></row>\n"
	large := []byte("<rows>" + strings.Repeat(row, largeDocument/len(row)) + "</rows>")
	idle := server.idleMemory(b, c)
	for _, packing := range []string{"Enveloped", "Enveloping", "InternallyDetached"} {
		once := server.signLarge(b, c, idle+memoryOfOneXML, packing, large, "a first signature", 1)
		server.signLarge(b, c, idle+memoryOfOneXML, packing, once, "a second signature", 1)
	}
	server.signLarge(b, c, idle+2*memoryOfOneXML, "Enveloped", large, "at once", 4)
}

// signLarge signs a document of XML so many times at once, and returns what it becomes.
func (p *sandboxProcess) signLarge(b *testing.B, c *client, limit int, packing string, content []byte, what string, requests int) (signed []byte) {
	b.Helper()
	large := request{method: "IdpSim", packing: packing}
	large.prepareFor(content, "Lt")
	peak := p.peakDuring(b, requests, func(ctx context.Context, i int) error {
		r := request{body: large.body, key: fmt.Sprint(packing, what, i)}
		a, err := r.goOn(ctx, c)
		if err == nil && (a.Status != http.StatusOK || len(a.SignedFile) < len(content)) {
			err = fmt.Errorf("%v", a)
		}
		if i == 0 {
			signed = a.SignedFile
		}
		return err
	})
	b.Logf("figure: %d XML documents of %d MB, %s, %s: peak RssAnon %.1f MB, limit %d MB", requests, largeDocument>>20, packing, what, float64(peak)/(1<<20), limit>>20)
	if peak > limit {
		b.Errorf("%d %s, %s: peak RssAnon is over %d MB", requests, packing, what, limit>>20)
	}
	return signed
}

// A signing process is made of a large document, and this is read, with little memory beside what the page
// renderer keeps, which has drawn a page before.
func BenchmarkMemoryOfALargeProcess(b *testing.B) {
	program := build(b)
	b.Run("bbolt", func(b *testing.B) {
		memoryOfALargeProcess(b, program, "bolt:"+filepath.Join(shortFolder(b), "store.db"))
	})
	b.Run("postgres", func(b *testing.B) { memoryOfALargeProcess(b, program, postgrestest.Database(b)) })
}

func memoryOfALargeProcess(b *testing.B, program, store string) {
	b.Helper()
	server := startSandbox(b, program, store, collected, "--master-key-file", filepath.Join(b.TempDir(), "master.key"))
	c := server.signIn(b)
	anna := invitee{Name: "Anna", Email: "anna@example.is", Role: "Signer"}
	c.createProcess(b, inviteText(b, document, anna))
	body := []byte(inviteText(b, pdftest.Build(pdftest.Options{Payload: largeDocument}), anna))
	idle := server.anonymousMemory(b)
	var made reply
	making := server.peakDuring(b, 1, func(ctx context.Context, _ int) (err error) {
		made, err = c.call(ctx, http.MethodPost, processesPath, bytes.NewReader(body))
		if err == nil && made.Status != http.StatusCreated {
			err = fmt.Errorf("creation: %v", made)
		}
		return err
	})
	reading := server.peakDuring(b, 1, func(ctx context.Context, _ int) error {
		size, err := c.download(ctx, processesPath+"/"+made.ProcessID+"/document")
		if err == nil && size < largeDocument*4/3 {
			err = fmt.Errorf("document: %d bytes", size)
		}
		return err
	})
	const mb = 1 << 20
	b.Logf("figure: a process of %d MB: peak RssAnon %.1f MB making it and %.1f MB reading its document, idle %.1f MB", largeDocument/mb, float64(making)/mb, float64(reading)/mb, float64(idle)/mb)
	if max(making, reading) > idle+memoryOfOne {
		b.Errorf("peak RssAnon is more than that and %d MB", memoryOfOne/mb)
	}
}

// The page renderer is compiled by another process, and read by the server when it is.
func BenchmarkMemoryOfTheFirstStart(b *testing.B) {
	server := startSandbox(b, build(b), "bolt:"+filepath.Join(shortFolder(b), "store.db"), []string{cacheVariable + "="})
	peak := server.peakDuring(b, 1, func(ctx context.Context, _ int) error {
		for !strings.Contains(server.talk(), "compiled the page renderer") {
			select {
			case <-time.After(10 * time.Millisecond):
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	b.Logf("figure: the first start: peak RssAnon %.1f MB", float64(peak)/(1<<20))
	if peak > memoryLimit {
		b.Errorf("it is over %d MB", memoryLimit>>20)
	}
}

// idleMemory is what a server has that has signed a document, with a stamp for which the renderer was made ready.
func (p *sandboxProcess) idleMemory(b *testing.B, c *client) int {
	b.Helper()
	first := request{method: "IdpSim", key: "first"}
	first.prepare()
	if a, err := first.goOn(b.Context(), c); err != nil || a.Status != http.StatusOK {
		b.Fatalf("a small document: %v, %v", a, err)
	}
	return p.anonymousMemory(b)
}

// peakDuring makes so many requests at once and returns the most anonymous memory that the
// server had meanwhile.
func (p *sandboxProcess) peakDuring(b *testing.B, requests int, request func(ctx context.Context, i int) error) (peak int) {
	b.Helper()
	group, ctx := errgroup.WithContext(b.Context())
	for i := range requests {
		group.Go(func() error { return request(ctx, i) })
	}
	ended := make(chan error, 1)
	go func() { ended <- group.Wait() }()
	ticker := time.NewTicker(memorySampling)
	defer ticker.Stop()
	for {
		peak = max(peak, p.anonymousMemory(b))
		select {
		case err := <-ended:
			if err != nil {
				b.Fatalf("%v\n%s", err, p.talk())
			}
			return peak
		case <-ticker.C:
		}
	}
}

// anonymousMemory is RssAnon of proc_pid_status(5), in bytes.
func (p *sandboxProcess) anonymousMemory(b *testing.B) int {
	b.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.command.Process.Pid))
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[0] == "RssAnon:" && fields[2] == "kB" {
			if n, err := strconv.Atoi(fields[1]); err == nil {
				return n << 10
			}
		}
	}
	b.Fatalf("no RssAnon in %q", text)
	return 0
}
