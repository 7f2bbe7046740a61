package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
)

// What is promised of pages that take much memory or time.
const (
	bombPeak    = 500_000_000 // bytes of a server's anonymous memory
	bombRest    = 200_000_000 // bytes, once it has rested
	bombRested  = 10 * time.Second
	floodFactor = 3.0 // times as long as alone, by the 95th percentile
)

func bombsTrial(ctx context.Context, flags *flag.FlagSet, args []string, out io.Writer) error {
	b := bombs{}
	store := flags.String("store", "", "URL of an empty database, or path of a new file")
	flags.StringVar(&b.only, "only", "", "bombs with this in their names alone; none: only the flood")
	flags.IntVar(&b.starts, "starts", 100, "starts of an account that are timed, alone and beside another's flood")
	flags.IntVar(&b.flood, "flood", 24, "starts, and half as many pages, that the other has under way")
	flags.Float64Var(&b.times, "times", floodFactor, "how many times as long as alone they may take, by the 95th percentile")
	flags.StringVar(&b.program, "program", "", "another program to try, built with the tag failpoints; default: this version")
	if err := flags.Parse(args); err != nil {
		return err
	}
	return b.run(ctx, *store, out)
}

// bombs is a trial of documents that are costly to render.
type bombs struct {
	only, program string
	starts, flood int
	times         float64
}

// bombed is what became of a server that was sent one of them.
type bombed struct {
	name         string
	size         int
	starts       tally // by status
	pages        tally
	peak         int64
	rested       time.Duration // until the memory was given back; bombRested: not so soon
	memoryRested int64
}

// tally counts statuses.
type tally map[int]int

func (t tally) String() string {
	var list []string
	for status, n := range t {
		list = append(list, fmt.Sprintf("%d x %d", n, status))
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}

func (b bombs) run(ctx context.Context, store string, out io.Writer) error {
	h, err := newHouse(ctx, storeOf(store))
	if err != nil {
		return err
	}
	defer h.remove()
	if b.program != "" {
		h.program = b.program
	}
	p, err := h.newPortal(ctx, "person-pending = 0", "person-starts = 0") // one person is asked by all starts
	if err != nil {
		return err
	}
	var all []bombed
	rows := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(rows, "page\tbytes\tstarts\tpages\tpeak MB\tMB afterwards\tafter")
	for _, bomb := range pdftest.Bombs() {
		if !strings.Contains(bomb.Name, b.only) {
			continue
		}
		one, err := p.bomb(ctx, bomb)
		if err != nil {
			return errors.Join(err, p.stop())
		}
		fmt.Fprintf(rows, "%s\t%d\t%v\t%v\t%.0f\t%.0f\t%v\n", one.name, one.size, one.starts, one.pages, float64(one.peak)/1e6, float64(one.memoryRested)/1e6, one.rested.Round(100*time.Millisecond))
		all = append(all, one)
	}
	rows.Flush()
	alone, beside, err := b.floods(ctx, p)
	if err = errors.Join(err, p.stop()); err != nil {
		return err
	}
	return b.judge(out, all, alone, beside)
}

// judge prints the figures of the starts. [errBroken]: a promise was not kept.
func (b bombs) judge(out io.Writer, all []bombed, alone, beside timedStarts) error {
	ratio := float64(beside.percentile()) / float64(alone.percentile())
	err := (&figures{}).table(out, [][2]any{
		{"starts alone: statuses, 95th percentile", fmt.Sprintf("%v, %v", alone.statuses, alone.percentile())},
		{"beside another account's flood", fmt.Sprintf("%v, %v (%.2f times as long)", beside.statuses, beside.percentile(), ratio)},
		{"starts and pages of the flood", fmt.Sprint(beside.flood)},
	})
	broken := slices.ContainsFunc(all, func(one bombed) bool { return one.peak > bombPeak || one.rested >= bombRested })
	if err == nil && (broken || alone.statuses[http.StatusOK] != b.starts || beside.statuses[http.StatusOK] != b.starts || ratio > b.times) {
		err = errBroken
	}
	return err
}

// pagesServer is a server in production, with simulated people, and two accounts.
type pagesServer struct {
	*server
	house    *house
	accounts [2]*client
}

// newPortal starts the server, with limits that differ from the defaults, and makes the accounts.
func (h *house) newPortal(ctx context.Context, limits ...string) (*pagesServer, error) {
	address, err := testenv.FreeAddress()
	if err != nil {
		return nil, err
	}
	key, random := filepath.Join(h.folder, "master.key"), make([]byte, 32)
	rand.Read(random)
	config := filepath.Join(h.folder, "server.toml")
	err = errors.Join(
		os.WriteFile(key, []byte(base64.StdEncoding.EncodeToString(random)), 0o600),
		os.WriteFile(config, []byte("[limits]\n"+strings.Join(limits, "\n")+"\n"), 0o600))
	if err != nil {
		return nil, err
	}
	p := &pagesServer{server: &server{house: h, address: address}, house: h}
	p.process = process{program: h.program, arguments: []string{"serve", "--environment", "production", "--insecure-simulated-idp",
		"--listen", address, "--base-url", "http://" + address, "--store", h.store, "--master-key-file", key, "--config", config,
		"--mail", "dir:" + filepath.Join(h.folder, "mail"), "--log-level", "error"}}
	if err := p.process.startSilent(); err != nil {
		return nil, err
	}
	err = p.awaitReady(ctx)
	if err == nil {
		err = p.prepare(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, p.stop())
	}
	return p, nil
}

// awaitReady waits until the server is ready.
func (p *pagesServer) awaitReady(ctx context.Context) error {
	for ready := false; !ready; pause(ctx, 50*time.Millisecond) {
		select {
		case err := <-p.ended:
			p.ended <- err
			return fmt.Errorf("the server ended: %w", cmp.Or(err, errors.New("without an error")))
		case <-ctx.Done():
			return ctx.Err()
		default:
		}
		if response, err := http.Get("http://" + p.address + "/readyz"); err == nil {
			response.Body.Close()
			ready = response.StatusCode == http.StatusOK
		}
	}
	return nil
}

// prepare makes the accounts.
func (p *pagesServer) prepare(ctx context.Context) error {
	for i := range p.accounts {
		account, err := p.house.operate(ctx, "account", "create", fmt.Sprint("Account ", i))
		if err != nil {
			return err
		}
		if _, err := p.house.operate(ctx, "account", "payment-method", account[0], "on"); err != nil {
			return err
		}
		made, err := p.house.operate(ctx, "client", "create", account[0], "trial")
		if err != nil {
			return err
		}
		if p.accounts[i], err = newClientWith(ctx, []string{p.address}, made[2], made[5]); err != nil {
			return err
		}
	}
	return nil
}

// operate runs a command of the program on the store, and returns the words that it prints.
func (h *house) operate(ctx context.Context, arguments ...string) ([]string, error) {
	out, err := exec.CommandContext(ctx, h.program, append(arguments, "--store", h.store)...).Output()
	if err != nil {
		return nil, fmt.Errorf("%v: %w", arguments, err)
	}
	return strings.Fields(string(out)), nil
}

// bomb has both accounts send a document, twice each, and one has it opened on the signing page.
func (p *pagesServer) bomb(ctx context.Context, bomb pdftest.Bomb) (o bombed, err error) {
	o = bombed{name: bomb.Name, size: len(bomb.File), starts: make(tally), pages: make(tally)}
	watching, end := context.WithCancel(ctx)
	peak := make(chan error, 1)
	go func() {
		var err error
		o.peak, err = peakOf(watching, p.server)
		peak <- err
	}()
	err = p.explode(ctx, bomb.File, &o)
	began := time.Now()
	for {
		var memoryErr error
		if o.memoryRested, memoryErr = anonymousMemory(p.command.Process.Pid); memoryErr != nil {
			err = errors.Join(err, memoryErr)
			break
		}
		if o.rested = time.Since(began); o.memoryRested < bombRest || o.rested >= bombRested {
			break
		}
		pause(ctx, 50*time.Millisecond)
	}
	end()
	return o, errors.Join(err, <-peak)
}

func (p *pagesServer) explode(ctx context.Context, file []byte, o *bombed) error {
	reader, err := p.opened(ctx, p.accounts[0], file)
	if err != nil {
		return err
	}
	var lock sync.Mutex
	count := func(t tally, status int) {
		lock.Lock()
		defer lock.Unlock()
		t[status]++
	}
	var all sync.WaitGroup
	for n := range 4 {
		all.Go(func() { count(o.starts, p.start(ctx, p.accounts[n%2], file, n).Status) })
	}
	for _, width := range []int{640, 960, 1440} {
		all.Go(func() { count(o.pages, reader.page(ctx, 1, width)) })
	}
	all.Wait()
	return ctx.Err()
}

// start starts a request for a document that is like no other before, with a stamp on its first page.
func (p *pagesServer) start(ctx context.Context, c *client, file []byte, n int) answer {
	unique := fmt.Appendf(bytes.Clone(file), "%% %d %d\n", n, time.Now().UnixNano())
	return c.post(ctx, "/api/v1/signing", fmt.Sprintf(
		`{"signer":{"kennitala":"0101302989","phone":"555%04d","signingMethod":"IdpSim"},"advancedSignatureSettings":{"signatureLevel":"B"},`+
			`"signatureImage":{"page":1,"alignment":"BottomRight","positioning":"Auto"},"file":{"type":"Pdf","name":"contract.pdf","contentB64":%q}}`,
		n%8000, base64.StdEncoding.EncodeToString(unique)))
}

// timedStarts is what became of an account's starts.
type timedStarts struct {
	statuses, flood tally
	took            []time.Duration
}

func (t timedStarts) percentile() time.Duration {
	return percentile(slices.Sorted(slices.Values(t.took)), 95)
}

// floods times the starts of one account alone, and beside the other's flood of starts and pages.
func (b bombs) floods(ctx context.Context, p *pagesServer) (alone, beside timedStarts, err error) {
	if _, err = b.timed(ctx, p); err != nil { // what is done once is not timed
		return alone, beside, err
	}
	if alone, err = b.timed(ctx, p); err != nil {
		return alone, beside, err
	}
	all := pdftest.Bombs()
	var readers []*reader
	for _, bomb := range all[:min(len(all), b.flood)] {
		r, err := p.opened(ctx, p.accounts[1], bomb.File)
		if err != nil {
			return alone, beside, err
		}
		readers = append(readers, r)
	}
	flooding, end := context.WithCancel(ctx)
	defer end()
	flood, lock := make(tally), sync.Mutex{}
	var group sync.WaitGroup
	for n := range b.flood + b.flood/2 {
		group.Go(func() {
			for i := n; flooding.Err() == nil; i++ {
				status := 0
				if n < b.flood {
					status = p.start(flooding, p.accounts[1], all[i%len(all)].File, i).Status
				} else {
					status = readers[i%len(readers)].page(flooding, 1, []int{640, 960, 1440}[i/len(readers)%3])
				}
				lock.Lock()
				flood[status]++
				lock.Unlock()
				if status == http.StatusTooManyRequests || status == http.StatusUnprocessableEntity {
					pause(flooding, 100*time.Millisecond)
				}
			}
		})
	}
	pause(ctx, 3*time.Second) // the queues are full
	beside, err = b.timed(ctx, p)
	end()
	group.Wait()
	delete(flood, 0) // what the end of the flood cut off
	beside.flood = flood
	return alone, beside, err
}

// timed times starts, one after another, within the rate that a client may have.
func (b bombs) timed(ctx context.Context, p *pagesServer) (t timedStarts, err error) {
	t.statuses = make(tally)
	file := pdftest.Book([]pdftest.Leaf{{Text: []string{"A contract.", "It has two lines."}}})
	for n := range b.starts {
		a := p.start(ctx, p.accounts[0], file, 1000+n)
		if a.err != nil {
			return t, a.err
		}
		t.statuses[a.Status]++
		t.took = append(t.took, a.received.Sub(a.sent))
		pause(ctx, 60*time.Millisecond)
	}
	return t, ctx.Err()
}

// opened has an account invite a person to sign a document, whose first page is a bomb, on its second page, and returns
// the person, who has logged in.
func (p *pagesServer) opened(ctx context.Context, c *client, file []byte) (*reader, error) {
	body := fmt.Sprintf(`{"file":{"name":"contract.pdf","contentBase64":%q},"signatureLocation":"BottomRight","signaturePage":2,`+
		`"participants":[{"name":"Jón Jónsson","email":"jon@example.is","role":"Signer"}]}`, base64.StdEncoding.EncodeToString(file))
	var a answer
	for a = c.post(ctx, processesPath, body); a.Status == http.StatusTooManyRequests || a.Status == http.StatusServiceUnavailable; a = c.post(ctx, processesPath, body) {
		pause(ctx, time.Second)
	}
	if a.Status != http.StatusCreated || len(a.Participants) == 0 {
		return nil, fmt.Errorf("inviting: %v", a)
	}
	r := &reader{cookies: make(map[string]string), base: "http://" + p.address}
	return r, cmp.Or(r.logIn(ctx, a.Participants[0].SigningURL), ctx.Err())
}
