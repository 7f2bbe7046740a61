package main

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/emersion/go-smtp"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// While the mail server stalls, the API goes on as if nothing were. Of what it then refuses for a while, or
// does not answer, nothing is lost and nothing is sent twice, but for letters that it took without a word: they
// come again under the same Message-ID.
func TestMailServerThatStallsAndFlaps(t *testing.T) {
	testenv.Slow(t, "letters are sent again after seconds")
	t.Parallel()
	const processes, letters = 3, 6 // as many signatures as are free
	over := make(chan struct{})
	var cuts, refusals atomic.Int64
	out := startMailServer(t, func(number int, _ string) error {
		if number > letters {
			return nil
		}
		<-over
		switch number % 3 {
		case 0:
			refusals.Add(1)
			return &smtp.SMTPError{Code: 451, EnhancedCode: smtp.EnhancedCode{4, 7, 1}, Message: "greylisted, come again"}
		case 1:
			cuts.Add(1)
			return errCut
		}
		return nil
	})
	p := newProduction(t, installed(t), "", "--insecure-simulated-idp", "--mail", out.address)
	p.keepsToItself(t)
	p.run(t)
	p.client = p.account(t, p.store)
	var made []string
	for range processes {
		made = append(made, p.client.createProcess(t, processText(document, people[0])).ProcessID)
	}
	p.waitUntil(t, func() bool { return out.attempts() == letters })
	for _, id := range made {
		p.client.must(t, http.MethodGet, processesPath+"/"+id, "")
	}
	if len(out.mails()) > 0 { // all calls were answered before
		t.Errorf("%d letters are sent", len(out.mails()))
	}
	close(over)
	sentAll := func() bool {
		all := 0
		for _, one := range out.mails() {
			all += min(1, toldOf(one))
		}
		return all == letters
	}
	p.waitUntil(t, sentAll)
	twice := 0
	for id, list := range out.mails() {
		if toldOf(list) != 1 || len(list) > 2 || list[0].to != list[len(list)-1].to {
			t.Errorf("%s was taken %d times, and %d times said so", id, len(list), toldOf(list))
		}
		twice += len(list) - 1
	}
	if cuts.Load() != 2 || refusals.Load() != 2 || twice != 2 || out.attempts() != letters+4 {
		t.Errorf("%d cuts, %d refusals, %d letters came twice, %d attempts", cuts.Load(), refusals.Load(), twice, out.attempts())
	}
	p.wantMailEvents(t, made, letters)
}

// Letters of one process that the server lets wait, more than there is room for, keep none from the others.
func TestMailOfOtherProcessesGoesOn(t *testing.T) {
	over := make(chan struct{})
	out := startMailServer(t, func(_ int, to string) error {
		if strings.HasPrefix(to, "slow") {
			<-over
		}
		return nil
	})
	p := newProduction(t, installed(t), "", "--insecure-simulated-idp", "--mail", out.address)
	p.run(t)
	p.client = p.account(t, p.store)
	var viewers strings.Builder
	const slow = 40
	for i := range slow {
		fmt.Fprintf(&viewers, `{"name":"Some Viewer","email":"slow%d@example.is","role":"Viewer"},`, i)
	}
	many := strings.Replace(processText(document, people[0]), `"participants":[`, `"participants":[`+viewers.String(), 1)
	p.client.createProcess(t, many)
	p.waitUntil(t, func() bool { return out.attempts() >= 8 })
	before := len(out.mails())
	p.client.createProcess(t, processText(document, people[1]))
	p.waitUntil(t, func() bool { return len(out.mails()) == before+2 }) // while the slow ones are still waiting
	close(over)
	p.waitUntil(t, func() bool { return len(out.mails()) == slow+4 })
	if out.attempts() != slow+4 {
		t.Errorf("%d attempts for %d letters", out.attempts(), slow+4)
	}
}

// wantMailEvents wants what the operator sees of the letters of processes.
func (p *production) wantMailEvents(t *testing.T, processes []string, letters int) {
	t.Helper()
	var events string
	count := func(what string) int { return strings.Count(events, what) }
	p.waitUntil(t, func() bool {
		events = ""
		for _, id := range processes {
			events += output(t, done, "process", "events", id, "--store", p.store)
		}
		return count(`"kind":"mail.sent"`) == letters
	})
	if count(`"kind":"mail.delayed"`) != 4 || count(`"code":451,"enhanced":"4.7.1"`) != 2 || count(`"maybeSent":true`) != 2 || count(`"attempts":2}`) != 4 {
		t.Errorf("the events:\n%s", events)
	}
}
