package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"github.com/innsigli/innsigli/ades"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/pades"
)

// kept is the processes that servers have acknowledged, which no loss of power may take.
type kept struct {
	mu        sync.Mutex
	processes []*keptProcess
	checked   int  // documents
	missing   bool // something of them is not there
}

// keptProcess is a process with the signatures in it that are acknowledged.
type keptProcess struct {
	id, participant string
	original        []byte
	signatures      int
}

func (k *kept) add(p *keptProcess) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.processes = append(k.processes, p)
}

func (k *kept) made() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.processes)
}

func (k *kept) signed() (n int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, p := range k.processes {
		n += p.signatures
	}
	return n
}

func (k *kept) isMissing() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.missing
}

// any returns a process that the client has acknowledged, nil if there is none. Those of others may be signed meanwhile.
func (k *kept) any() *keptProcess {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.processes) == 0 {
		return nil
	}
	return k.processes[rand.IntN(len(k.processes))]
}

// maker is a client that makes processes, has them signed, and reads those that are there.
type maker struct {
	*client
	machine *machine
	user    string // sandbox user
}

func (m *machine) makers(ctx context.Context, number int) (all []*maker, err error) {
	var addresses []string
	for _, s := range m.servers {
		addresses = append(addresses, s.address)
	}
	for i := range number {
		k := &maker{machine: m}
		if k.client, err = newClient(ctx, addresses); err != nil {
			return nil, err
		}
		k.down = m.down
		var user struct{ UUID string }
		body := fmt.Sprintf(`{"fullName":"Maker %d","kennitala":"%010d","phone":"556%04d","delayInSecondsBeforeAction":0}`, i, 101310000+i, i)
		if status, err := k.ask(ctx, http.MethodPost, "/api/v1/sandbox/users", []byte(body), &user); err != nil || user.UUID == "" {
			return nil, fmt.Errorf("making a sandbox user: %d %v", status, err)
		}
		k.user = user.UUID
		all = append(all, k)
	}
	return all, nil
}

// makeOnce makes a process, has it signed or not, and reads this or another one.
func (k *maker) makeOnce(ctx context.Context) {
	p := &keptProcess{original: pdftest.Build(pdftest.Options{Payload: 1 + rand.IntN(200_000)})}
	body, err := draftOf(p.original)
	if err != nil {
		k.machine.count.fault("%v", err)
		return
	}
	var made struct {
		SigningProcessID string
		Participants     []struct{ ParticipantID string }
	}
	status, err := k.ask(ctx, http.MethodPost, "/api/v1/portal/signing-processes", []byte(body), &made)
	if err != nil || status >= 300 { // not acknowledged
		pause(ctx, 50*time.Millisecond)
		return
	}
	p.id, p.participant = made.SigningProcessID, made.Participants[1].ParticipantID
	k.machine.kept.add(p)
	if rand.IntN(2) == 0 {
		k.sign(ctx, p)
	}
	k.check(ctx, p)
	k.check(ctx, k.machine.kept.any())
}

// sign has a participant sign. When it calls again after an answer that was lost, 400 says that the participant has
// signed, and 423 that the call before has begun a signature, which nothing acknowledges here.
func (k *maker) sign(ctx context.Context, p *keptProcess) {
	path := fmt.Sprintf("/api/v1/sandbox/portal/signing-processes/%s/participants/%s/sign", p.id, p.participant)
	switch status := k.insistOn(ctx, http.MethodPost, path, fmt.Appendf(nil, `{"sandboxUserId":%q}`, k.user), nil); status {
	case http.StatusNoContent, http.StatusBadRequest:
		k.machine.kept.mu.Lock()
		defer k.machine.kept.mu.Unlock()
		p.signatures = 1
	case http.StatusLocked:
	default:
		k.fault(ctx, "signing in %s: %d", p.id, status)
	}
}

// check reads a process with its document.
func (k *maker) check(ctx context.Context, p *keptProcess) {
	k.machine.kept.mu.Lock()
	signatures := p.signatures
	k.machine.kept.checked++
	k.machine.kept.mu.Unlock()
	if status := k.insistOn(ctx, http.MethodGet, "/api/v1/portal/signing-processes/"+p.id, nil, nil); status != http.StatusOK {
		k.missing(ctx, "the process %s: %d", p.id, status)
	}
	var document struct{ ContentBase64 []byte }
	if status := k.insistOn(ctx, http.MethodGet, "/api/v1/portal/signing-processes/"+p.id+"/document", nil, &document); status != http.StatusOK {
		k.missing(ctx, "the document of %s: %d", p.id, status)
		return
	}
	b := document.ContentBase64
	report, err := pades.Verify(ctx, pades.Document{ReaderAt: bytes.NewReader(b), Size: int64(len(b))}, ades.VerifyOptions{Roots: k.machine.signers[0].roots})
	switch {
	case err != nil:
		k.missing(ctx, "the document of %s cannot be read: %v", p.id, err)
	case !bytes.HasPrefix(b, p.original):
		k.missing(ctx, "the document of %s is another one", p.id)
	case len(report.Signatures) < signatures || len(report.Signatures) > 0 && !report.Passed():
		k.missing(ctx, "the document of %s has %d signatures, of which at least %d were acknowledged: %+v", p.id, len(report.Signatures), signatures, report.Signatures)
	}
}

// checkAll reads all processes.
func (k *maker) checkAll(ctx context.Context) {
	for _, p := range k.machine.kept.processes {
		k.check(ctx, p)
	}
}

// fault notes what should not have happened, unless the trial has ended.
func (k *maker) fault(ctx context.Context, format string, args ...any) {
	if ctx.Err() == nil {
		k.machine.count.fault(format, args...)
	}
}

// missing notes that something is not there that a server had acknowledged, unless the trial has ended.
func (k *maker) missing(ctx context.Context, format string, args ...any) {
	if ctx.Err() != nil {
		return
	}
	k.machine.kept.mu.Lock()
	k.machine.kept.missing = true
	k.machine.kept.mu.Unlock()
	k.fault(ctx, format, args...)
}

// insistOn repeats a call until there is an answer of a server that has power. It returns the status, 0 if the context has
// ended.
func (k *maker) insistOn(ctx context.Context, method, path string, body []byte, into any) int {
	for ctx.Err() == nil {
		status, err := k.ask(ctx, method, path, body, into)
		switch {
		case err != nil, status == http.StatusServiceUnavailable, status == http.StatusTooManyRequests:
		default:
			return status
		}
		pause(ctx, 50*time.Millisecond)
	}
	return 0
}

// ask makes one call. The error is that there was no whole answer, or none of a machine that has power.
func (c *client) ask(ctx context.Context, method, path string, body []byte, into any) (status int, err error) {
	request, err := http.NewRequestWithContext(ctx, method, "http://"+c.addresses[rand.IntN(len(c.addresses))]+path, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	request.Header.Set("Authorization", "Bearer "+c.token)
	request.Header.Set("Content-Type", "application/json")
	down := c.machineDown()
	response, err := c.http.Do(request)
	if err != nil {
		return 0, err
	}
	text, err := io.ReadAll(response.Body)
	if err = errors.Join(err, response.Body.Close()); err == nil && into != nil && response.StatusCode < 300 {
		err = json.Unmarshal(text, into)
	}
	if err == nil && response.StatusCode == http.StatusInternalServerError && isClosed(down) {
		err = errPowerOff
	}
	return response.StatusCode, err
}
