package main

import (
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// scene is a store with an account, whose servers die one after the other.
type scene struct {
	portalKilling
	t       *testing.T
	folder  string
	place   string // --store
	server  *sandboxProcess
	client  *client
	users   []string // IDs of the test users
	receive *receiver
	seen    []played
}

// played is what became of a process.
type played struct {
	processReply
	signed   int
	declined bool
	size     int64 // of the document; 0: there is none
}

// kill takes processes through the deaths of their servers, one after the other, and says how many
// servers died.
func (k portalKilling) kill(t *testing.T, points []string, call string, times int) (kills int) {
	s := &scene{portalKilling: k, t: t, folder: shortFolder(t), receive: newReceiver(t)}
	s.place = k.store(t, s.folder)
	s.start("")
	s.client = s.server.signIn(t)
	for _, p := range people[:2] {
		s.users = append(s.users, s.client.must(t, http.MethodPost, "/api/v1/sandbox/users", p.profile()).UUID)
	}
	s.receive.subscribe(t, s.client)
	for i := range times {
		s.play(i, points, call)
		kills += len(points)
	}
	s.check()
	return kills
}

// start starts a server that dies at a point; "" is none.
func (s *scene) start(point string) {
	s.t.Helper()
	environment := []string{"INNSIGLI_FAILPOINT=" + point, "SSL_CERT_FILE=" + s.receive.trusted(s.t, s.folder)}
	s.server = startSandbox(s.t, s.program, s.place, environment, "--master-key-file", filepath.Join(s.folder, "master.key"), "--insecure-allow-private-webhooks")
	if s.client != nil {
		s.client.base = s.server.BaseURL
	}
}

// step is a call, and the answers after which it is done: that of the call that does it, and that of
// one that finds it done.
type step struct {
	method, path, body string
	done               []string
}

// steps are the calls up to the one in which the server dies, and what is left to be done after it.
// Every other time it is the second signer's call.
func (s *scene) steps(i int, call string, of *played) (before []func() step, dies func() step, after []func() step) {
	create := func() step {
		return step{http.MethodPost, processesPath, processText(document, people[:2]...), []string{"201"}}
	}
	answer := func(n int, name, body string) func() step {
		return func() step {
			return step{http.MethodPost, of.answerPath(n, name), body, []string{"204", "400 Participant has already answered"}}
		}
	}
	sign := func(n int) func() step { return answer(n, "sign", fmt.Sprintf(`{"sandboxUserId":%q}`, s.users[n])) }
	remove := func() step {
		return step{http.MethodDelete, processesPath + "/" + of.ProcessID, "", []string{"204", "404 Not found"}}
	}
	switch {
	case call == "create":
		return nil, create, []func() step{sign(0), sign(1)}
	case call == "decline":
		of.declined, of.signed = true, 1
		return []func() step{create, sign(0)}, answer(1, "decline", `{"reason":"No"}`), nil
	case call == "delete":
		return []func() step{create, sign(0)}, remove, nil
	case i%2 == 0:
		return []func() step{create}, sign(0), []func() step{sign(1)}
	}
	return []func() step{create, sign(0)}, sign(1), nil
}

// play makes the calls of a process, in which the servers die.
func (s *scene) play(i int, points []string, call string) {
	s.t.Helper()
	of := &played{signed: 2}
	before, dies, after := s.steps(i, call, of)
	key := "process " + strconv.Itoa(i)
	for _, one := range before {
		s.insist(of, one(), key)
	}
	s.server.command.Process.Kill()
	s.server.command.Wait()
	for n, point := range points {
		s.start(point)
		if n == 0 {
			one := dies()
			if a, err := s.try(of, one, key); err == nil {
				s.t.Errorf("%s: before the server died: %v", point, a)
			}
		}
		if !s.server.dies(s.t) {
			s.t.Fatalf("%s: the server did not end by SIGKILL: %s\n%s", point, s.server.command.ProcessState, s.server.talk())
		}
	}
	s.start("")
	s.insist(of, dies(), key)
	for _, one := range after {
		s.insist(of, one(), key)
	}
	s.see(of, call == "delete")
}

// try makes a call once.
func (s *scene) try(of *played, one step, key string) (reply, error) {
	a, err := s.client.call(s.t.Context(), one.method, one.path, strings.NewReader(one.body), "Idempotency-Key", key)
	if err == nil && a.Status == http.StatusCreated {
		of.processReply = a.processReply
	}
	return a, err
}

// insist makes a call until it is done. What is in hand of a server that died takes as long as that
// one's leases: those of jobs last two minutes.
func (s *scene) insist(of *played, one step, key string) {
	s.t.Helper()
	testenv.Wait(s.t, one.method+" "+one.path+" to be done", func() bool {
		a, err := s.try(of, one, key)
		if err == nil && slices.Contains(one.done, strings.TrimSpace(fmt.Sprint(a.Status, " ", a.Title))) {
			return true
		}
		inHand := a.Status == http.StatusLocked || a.Status == http.StatusConflict || a.Status == http.StatusServiceUnavailable
		if err != nil || !inHand {
			s.t.Fatalf("%s %s: %v, %v %s\n%s", one.method, one.path, a, err, a.Body, s.server.talk())
		}
		return false
	})
}
