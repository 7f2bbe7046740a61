package main

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	postgrestest "github.com/innsigli/innsigli/internal/test/postgres"
	"github.com/innsigli/innsigli/webhook"
)

// subscribeToAll subscribes the endpoint to all that can be subscribed to, and activates it.
func (e *subscriber) subscribeToAll(t *testing.T, c *client) {
	t.Helper()
	e.subscribe(t, c, e.URL+path)
	change := `{"eventTypes":["participant.signed","participant.declined","process.completed"]}`
	if a := c.hook(t, http.MethodPut, "/"+e.id, change); a.Status != http.StatusOK {
		t.Fatalf("the subscription: %v %s", a, a.Body)
	}
	if a := c.hook(t, http.MethodPost, "/"+e.id+"/activate", ""); a.Status != http.StatusOK || !a.Active {
		t.Fatalf("activation: %v %s", a, a.Body)
	}
	for range 2 { // pings
		soon(t, e.requests)
	}
}

// isAway has the endpoint turn the next event of a type away.
func (e *subscriber) isAway(eventType string) {
	e.once(eventType, func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.WriteHeader(http.StatusServiceUnavailable)
	})
}

// forgets has the endpoint receive the next event of a type, and not say so.
func (e *subscriber) forgets(eventType string) {
	e.once(eventType, func(w http.ResponseWriter, r *http.Request, usual http.Handler) {
		usual.ServeHTTP(httptest.NewRecorder(), r)
		w.WriteHeader(http.StatusServiceUnavailable)
	})
}

// once has the endpoint treat the next event of a type otherwise than those that follow.
func (e *subscriber) once(eventType string, treat func(w http.ResponseWriter, r *http.Request, usual http.Handler)) {
	usual := *e.handler.Load()
	var other http.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		if event, err := webhook.ParseEvent(r.Header, body); err != nil || event.Type != eventType {
			usual.ServeHTTP(w, r)
			return
		}
		e.handler.Store(&usual)
		treat(w, r, usual)
	})
	e.handler.Store(&other)
}

// hears waits until a request has come again, of those that were not looked at so far.
func (e *subscriber) hears(t *testing.T, id string) {
	t.Helper()
	for range 2 {
		for soon(t, e.requests) != id {
		}
	}
}

// box is a place on a page as it is displayed, in points from its upper left corner.
type box struct {
	Left   float64 `xml:"xMin,attr"`
	Top    float64 `xml:"yMin,attr"`
	Right  float64 `xml:"xMax,attr"`
	Bottom float64 `xml:"yMax,attr"`
}

func (b box) width() float64  { return b.Right - b.Left }
func (b box) height() float64 { return b.Bottom - b.Top }

func (b box) holds(c box) bool {
	return b.Left <= c.Left && c.Right <= b.Right && b.Top <= c.Top && c.Bottom <= b.Bottom
}

// word is one on a page as pdftotext reads it. One that is not upright is higher than wide.
type word struct {
	box
	Text string `xml:",chardata"`
}

func wordsOn(t *testing.T, path string) []word {
	t.Helper()
	text, err := exec.Command(testenv.Program(t, "pdftotext"), "-bbox", path, "-").Output()
	var document struct {
		Words []word `xml:"body>doc>page>word"`
	}
	if err == nil {
		err = xml.Unmarshal(text, &document)
	}
	if err != nil {
		t.Fatalf("pdftotext: %v\n%s", err, text)
	}
	return document.Words
}

var rectangle = regexp.MustCompile(`/Rect ?\[ ?([0-9.]+) ([0-9.]+) ([0-9.]+) ([0-9.]+) ?\]`)

// stampsOn are the places of the stamps on a page that was turned by 90 degrees, where what goes right in
// the file goes down. The first is at the right.
func stampsOn(t *testing.T, path string) (stamps []box) {
	t.Helper()
	for _, match := range rectangle.FindAllSubmatch(testenv.ReadFile(t, path), -1) {
		var n [4]float64
		for i := range n {
			var err error
			if n[i], err = strconv.ParseFloat(string(match[i+1]), 64); err != nil {
				t.Fatal(err)
			}
		}
		stamps = append(stamps, box{Left: n[1], Top: n[0], Right: n[3], Bottom: n[2]})
	}
	slices.SortFunc(stamps, func(a, b box) int { return cmp.Compare(b.Right, a.Right) })
	return stamps
}

// checkStamps checks the stamps of signers, in the order in which they were invited: side by side from the
// bottom right corner, each with its signer's name, upright.
func checkStamps(t *testing.T, path string, signers []person) {
	t.Helper()
	words, stamps := wordsOn(t, path), stampsOn(t, path)
	if len(stamps) != len(signers) {
		t.Fatalf("%s: %d stamps", path, len(stamps))
	}
	const margin = 10 // at most
	right := float64(leaseWidth)
	for i, s := range stamps {
		inRow := leaseHeight-margin <= s.Bottom && s.Bottom <= leaseHeight && right-margin <= s.Right && s.Right <= right
		if s.width() != 117 || s.height() != 55 || !inRow {
			t.Errorf("%s: stamp %d is at %+v", path, i, s)
		}
		right = s.Left // so that no two overlap
		first, _, _ := strings.Cut(signers[i].name, " ")
		found := false
		for _, word := range words {
			if word.Text == first {
				found = s.holds(word.box) && word.width() > word.height()
			}
		}
		if !found {
			t.Errorf("%s: %s is not upright in %+v", path, first, s)
		}
	}
}

// A server dies while a participant signs. Another one on its database puts the signature into the document,
// and no other participant signs before it is there.
func TestPortalServerDies(t *testing.T) {
	testenv.Slow(t, "a server dies, and another waits for what it had in hand")
	t.Parallel()
	s := newStory(t, build(t, "-tags", "failpoints"), postgrestest.Database(t))
	made := s.createProcess(t, inviteText(t, lease, tenants...))
	dying := s.start("signing/signed")
	other := clientOf(dying.BaseURL)
	other.token = s.token
	if a, err := other.call(t.Context(), http.MethodPost, made.answerPath(0, "sign"), strings.NewReader(signText(s.users[0]))); err == nil {
		t.Errorf("the server that was to die says %v", a)
	}
	if !dying.dies(t) {
		t.Fatalf("the server did not die:\n%s", dying.talk())
	}
	s.signsInTurn(t, made, 2, 1)
	anna, _ := s.toldOfSignature(t, made, 0, 0, 1, s.began)
	jon, _ := s.toldOfSignature(t, made, 2, 1, 2, s.began)
	s.refused(t, http.StatusBadRequest, "Participant has already answered", http.MethodPost, made.answerPath(0, "sign"), signText(s.users[0]))
	sol, _ := s.signs(t, made, 3, 2)
	s.told(t, made, "process.completed", object{"signingProcessId": made.ProcessID, "participants": []any{anna, jon, sol}})
	s.showsProcess(t, made, "Completed", "Completed", "None", "Completed", "Completed")
	if n := len(s.signatures(t, made)); n != 3 {
		t.Errorf("%d signatures", n)
	}
	s.ends(t)
}

// signsInTurn lets a participant sign once no other participant does. When a server has died, another one gets its job
// when the lease has run out, after two minutes.
func (s *story) signsInTurn(t *testing.T, made reply, participant, user int) {
	t.Helper()
	testenv.Wait(t, "a turn to sign", func() bool {
		a, err := s.call(t.Context(), http.MethodPost, made.answerPath(participant, "sign"), strings.NewReader(signText(s.users[user])))
		if err != nil || a.Status != http.StatusNoContent && a.Status != http.StatusLocked {
			t.Fatalf("signing in turn: %v, %v\n%s", a, err, s.server.talk())
		}
		return a.Status == http.StatusNoContent
	})
}
