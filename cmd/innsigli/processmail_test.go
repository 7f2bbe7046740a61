package main

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// In production everybody is invited by mail, with the link that the API shows; also when the
// operator invites again while no server runs.
func TestInvitationsAreSent(t *testing.T) {
	p := newProduction(t, installed(t), "", "--insecure-simulated-idp", "--mail", "dir:mail")
	p.keepsToItself(t)
	p.run(t)
	p.client = p.account(t, p.store)
	made := p.client.createProcess(t, processText(document, people[0], people[1]))
	p.wantLetters(t, made, 3)
	if _, err := p.stop(); err != nil {
		t.Fatal(err)
	}
	again := output(t, done, "process", "resend", made.ProcessID, "--store", p.store, "--master-key-file", filepath.Join(p.folder, "master.key"))
	if again != "invitations made again: 3\n" {
		t.Error(again)
	}
	p.run(t)
	later := p.client.must(t, http.MethodGet, processesPath+"/"+made.ProcessID, "")
	if *later.Participants[0].SigningURL == *made.Participants[0].SigningURL {
		t.Error("the old link is still the link")
	}
	p.wantLetters(t, later, 6)
}

// wantLetters waits until there is so much mail in all, and wants each participant's link in a
// letter to nobody else. No log has one.
func (p *production) wantLetters(t *testing.T, process reply, number int) {
	t.Helper()
	var files []string
	p.waitUntil(t, func() bool {
		var err error
		if files, err = filepath.Glob(filepath.Join(p.folder, "mail", "*.eml")); err != nil {
			t.Fatal(err)
		}
		return len(files) >= number
	})
	if len(files) != number || len(process.Participants) != 3 {
		t.Fatalf("%d letters about %+v", len(files), process)
	}
	to := make(map[string]string) // the link in whose letter
	for _, file := range files {
		letter := testenv.ReadMail(t, file)
		for _, one := range process.Participants {
			if strings.Contains(letter.Text, "\n"+*one.SigningURL+"\n") && strings.Contains(letter.HTML, `href="`+*one.SigningURL+`"`) {
				to[*one.SigningURL] += addressee(t, letter)
			}
		}
	}
	for i, want := range []string{"5550101@example.is", "5550102@example.is", "viewer@example.is"} {
		link := *process.Participants[i].SigningURL
		if to[link] != want || !strings.HasPrefix(link, "http://localhost/sign/") {
			t.Errorf("the link %s went to %s, want %s", link, to[link], want)
		}
		if strings.Contains(p.logs(), strings.TrimPrefix(link, "http://localhost/sign/")) {
			t.Errorf("a link is in the log:\n%s", p.logs())
		}
	}
}

// addressee is the address of the one person whom a letter is to, by name.
func addressee(t *testing.T, letter testenv.Mail) string {
	t.Helper()
	to, err := letter.AddressList("To")
	if err != nil || len(to) != 1 || to[0].Name == "" {
		t.Fatalf("to %v: %v", to, err)
	}
	return to[0].Address
}
