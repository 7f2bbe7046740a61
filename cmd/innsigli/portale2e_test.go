package main

import (
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/cms"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	postgrestest "github.com/innsigli/innsigli/internal/test/postgres"
	"github.com/innsigli/innsigli/webhook"
)

// story is a client system of the Portal API, with its endpoint and a server that is stopped and started
// again.
type story struct {
	*client
	began    time.Time
	server   *sandboxProcess
	start    func(failpoint string) *sandboxProcess
	endpoint *subscriber
	early    []webhook.Event // that came before they were waited for
	users    []string        // the sandbox's IDs of people
}

func newStory(t *testing.T, program, store string) *story {
	t.Helper()
	folder := shortFolder(t)
	s := &story{began: time.Now(), endpoint: newSubscriber(t, (*httptest.Server).StartTLS)}
	trusted := "SSL_CERT_FILE=" + s.endpoint.trusted(t, folder)
	s.start = func(failpoint string) *sandboxProcess {
		return startSandbox(t, program, store, []string{trusted, "INNSIGLI_FAILPOINT=" + failpoint},
			"--insecure-allow-private-webhooks", "--master-key-file", filepath.Join(folder, "master.key"))
	}
	s.server = s.start("")
	s.client = s.server.signIn(t)
	for _, p := range people {
		s.users = append(s.users, s.addUser(t, p))
	}
	s.endpoint.subscribeToAll(t, s.client)
	return s
}

// startAgain stops the server and starts it again, at another address.
func (s *story) startAgain(t *testing.T) {
	t.Helper()
	s.ends(t)
	s.server = s.start("")
	s.client.base = s.server.BaseURL
}

// ends stops the server. Its log has no error and no link.
func (s *story) ends(t *testing.T) {
	t.Helper()
	rest, err := s.server.stop()
	if log := s.server.talk(); err != nil || rest != "" || strings.Contains(log, "level=ERROR") || strings.Contains(log, "/sign/") {
		t.Errorf("the end: %v, %q\n%s", err, rest, log)
	}
}

// signs has a participant sign as one of people, and checks what the endpoint is told of it. It returns what
// that says of the participant, and its webhook-id.
func (s *story) signs(t *testing.T, made reply, participant, user int) (signed object, id string) {
	t.Helper()
	since := time.Now()
	s.wants(t, http.StatusNoContent, http.MethodPost, made.answerPath(participant, "sign"), signText(s.users[user]))
	return s.toldOfSignature(t, made, participant, user, len(s.signatures(t, made)), since)
}

// toldOfSignature checks what the endpoint is told of a signature, the first of the document being number 1.
func (s *story) toldOfSignature(t *testing.T, made reply, participant, user, number int, since time.Time) (signed object, id string) {
	t.Helper()
	event := s.next(t, made, "participant.signed", tenants[participant].Email)
	signed = object{
		"name": people[user].name, "email": tenants[participant].Email, "kennitala": people[user].kennitala,
		"phone": tenants[participant].Phone, "signature": s.signatures(t, made)[number-1],
		"signedAt": instantIn(t, event, "signedAt", since),
	}
	checkEvent(t, event, object{"signingProcessId": made.ProcessID, "participant": signed})
	return signed, event.ID
}

// signatures are the values of those in the document of a process, in Base64.
func (s *story) signatures(t *testing.T, made reply) (values []string) {
	t.Helper()
	for _, part := range signatureParts(t, s.document(t, made.ProcessID)) {
		signature, err := cms.Parse(part.cms)
		if err != nil {
			t.Fatal(err)
		}
		values = append(values, base64.StdEncoding.EncodeToString(signature.Value))
	}
	return values
}

// toldOfDecline checks what the endpoint is told of a process that was declined.
func (s *story) toldOfDecline(t *testing.T, made reply) {
	t.Helper()
	event := s.next(t, made, "participant.declined", tenants[2].Email)
	checkEvent(t, event, object{"signingProcessId": made.ProcessID, "participant": object{
		"name": tenants[2].Name, "email": tenants[2].Email, "kennitala": tenants[2].Kennitala, "phone": "",
		"declineReason": rent, "declinedAt": instantIn(t, event, "declinedAt", s.began),
	}})
	if len(s.early)+len(s.endpoint.events) > 0 {
		t.Errorf("more is told: %+v", s.early)
	}
}

// told checks what the endpoint is told of a process.
func (s *story) told(t *testing.T, made reply, eventType string, data object) {
	t.Helper()
	checkEvent(t, s.next(t, made, eventType, ""), data)
}

// next waits for an event of a process in which an address stands. Events come in any order.
func (s *story) next(t *testing.T, made reply, eventType, email string) (event webhook.Event) {
	t.Helper()
	for {
		i := slices.IndexFunc(s.early, func(e webhook.Event) bool {
			return e.Type == eventType && strings.Contains(string(e.Data), made.ProcessID) && strings.Contains(string(e.Data), email)
		})
		if i >= 0 {
			event = s.early[i]
			s.early = slices.Delete(s.early, i, i+1)
			return event
		}
		s.early = append(s.early, soon(t, s.endpoint.events))
	}
}

func checkEvent(t *testing.T, event webhook.Event, data object) {
	t.Helper()
	var got object
	if err := json.Unmarshal(event.Data, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(data, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", event.Type, diff)
	}
}

// instantIn is a time that the participant of an event has; it is as spec 1.5 has it.
func instantIn(t *testing.T, event webhook.Event, member string, since time.Time) string {
	t.Helper()
	var data map[string]json.RawMessage
	var participant map[string]string
	if err := errors.Join(json.Unmarshal(event.Data, &data), json.Unmarshal(data["participant"], &participant)); err != nil {
		t.Fatal(err)
	}
	checkInstant(t, "2006-01-02T15:04:05.000+00:00", participant[member], since)
	return participant[member]
}

// checkInstant checks the form of a time, and that it lies between another and now.
func checkInstant(t *testing.T, form, text string, since time.Time) {
	t.Helper()
	at, err := time.Parse(form, text)
	if err != nil || at.Before(since.Truncate(time.Millisecond)) || at.After(time.Now()) {
		t.Errorf("%q is not a time since %v, %v", text, since, err)
	}
}

// link is the path of an invitation, with a token of 32 bytes.
var link = regexp.MustCompile(`/sign/[0-9A-Za-z_-]{43}$`)

// showsProcess checks all that the API says of a process of tenants.
func (s *story) showsProcess(t *testing.T, made reply, status string, statuses ...string) {
	t.Helper()
	var participants []any
	for i, one := range tenants {
		p := object{
			"participantId": made.Participants[i].ID, "name": one.Name, "email": one.Email, "role": one.Role, "status": statuses[i],
			"hasCompleted": statuses[i] == "Completed", "hasDeclined": statuses[i] == "Declined", "declineReason": nil, "signingUrl": nil,
		}
		switch statuses[i] {
		case "Declined":
			p["declineReason"] = rent
		case "Waiting", "None":
			p["signingUrl"] = s.base + link.FindString(*made.Participants[i].SigningURL)
		}
		participants = append(participants, p)
	}
	got := s.get(t, processesPath+"/"+made.ProcessID)
	created, _ := got["createdAt"].(string)
	checkInstant(t, "2006-01-02T15:04:05.000Z", created, s.began)
	want := object{"signingProcessId": made.ProcessID, "status": status, "createdAt": created, "participants": participants, "warnings": []any{}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the process (-want +got):\n%s", diff)
	}
}

// The Portal API from the first call to the signed document, as spec 4 tells it: people are invited,
// sign and decline, and an endpoint is told of it, while the server is stopped and started again. What
// they have signed is judged by foreign validators.
func TestPortal(t *testing.T) {
	testenv.Slow(t, "foreign programs verify what is signed")
	stores := []struct {
		name  string
		store func(*testing.T) string
	}{
		{"bbolt", func(t *testing.T) string { return "bolt:" + filepath.Join(shortFolder(t), "store.db") }},
		{"postgres", func(t *testing.T) string { return postgrestest.Database(t) }},
	}
	folder, files, roots := t.TempDir(), make([]*signedFile, len(stores)), make([]*x509.Certificate, len(stores))
	signed := t.Run("signed", func(t *testing.T) {
		for i, on := range stores {
			t.Run(on.name, func(t *testing.T) {
				t.Parallel()
				s := newStory(t, installed(t), on.store(t))
				gone := s.declinedAndDeleted(t)
				files[i] = &signedFile{name: on.name, path: filepath.Join(folder, on.name+".pdf"), level: ades.LT}
				files[i].signers = []string{people[0].name, people[2].name, people[1].name}
				if err := os.WriteFile(files[i].path, s.signedByThree(t), 0o600); err != nil {
					t.Fatal(err)
				}
				roots[i] = certificate(t, s.server.RootCertificate)
				s.toldOfDecline(t, gone)
				s.ends(t)
			})
		}
	})
	if !signed {
		return
	}
	for _, f := range files {
		checkStamps(t, f.path, people)
	}
	checkDSS(t, files, roots)
	checkPyHanko(t, files, roots)
	checkPDFSig(t, files, roots)
	checkOpenSSL(t, files, roots)
	checkQPDF(t, files)
}

// tenants are invited to sign. Their names are not those that their electronic IDs give, which are of
// people.
var tenants = []invitee{
	{Name: "Anna", Email: "anna@example.is", Role: "Signer"},
	{Name: "Vala", Email: "vala@example.is", Role: "Viewer"},
	{Name: "Jón", Email: "jon@example.is", Role: "Signer", Kennitala: people[1].kennitala},
	{Name: "Sól", Email: "sol@example.is", Role: "Signer", Phone: people[2].phone},
}

// rent is why one of them declines.
const rent = "Leigan er of há."

// lease is a page that lies on its side, of so many points as it is displayed.
var lease = pdftest.Build(pdftest.Options{Page: "/Rotate 90"})

const leaseWidth, leaseHeight = 842, 595

// signedByThree has all tenants sign, and returns what they have signed.
func (s *story) signedByThree(t *testing.T) []byte {
	t.Helper()
	made := s.createProcess(t, inviteText(t, lease, tenants...))
	s.showsProcess(t, made, "Waiting", "Waiting", "None", "Waiting", "Waiting")
	sent := object{"fileName": documentName, "contentBase64": base64.StdEncoding.EncodeToString(lease)}
	if diff := cmp.Diff(sent, s.get(t, processesPath+"/"+made.ProcessID+"/document")); diff != "" {
		t.Errorf("the document (-want +got):\n%s", diff)
	}
	s.refused(t, http.StatusBadRequest, "Participant is a viewer", http.MethodPost, made.answerPath(1, "sign"), signText(s.users[0]))
	s.refused(t, http.StatusBadRequest, "Kennitala does not match", http.MethodPost, made.answerPath(2, "sign"), signText(s.users[0]))

	s.endpoint.forgets("participant.signed")
	anna, id := s.signs(t, made, 0, 0)
	s.startAgain(t)
	s.showsProcess(t, made, "Waiting", "Completed", "None", "Waiting", "Waiting")
	sol, _ := s.signs(t, made, 3, 2)
	s.showsProcess(t, made, "Waiting", "Completed", "None", "Waiting", "Completed")
	jon, _ := s.signs(t, made, 2, 1)
	s.told(t, made, "process.completed", object{"signingProcessId": made.ProcessID, "participants": []any{anna, jon, sol}})
	s.showsProcess(t, made, "Completed", "Completed", "None", "Completed", "Completed")
	s.refused(t, http.StatusBadRequest, "Participant has already answered", http.MethodPost, made.answerPath(2, "decline"), `{"reason":""}`)
	s.endpoint.hears(t, id)
	return s.document(t, made.ProcessID)
}

// declinedAndDeleted has a process declined, and deleted before the endpoint has heard of it.
func (s *story) declinedAndDeleted(t *testing.T) reply {
	t.Helper()
	made := s.createProcess(t, inviteText(t, lease, tenants...))
	s.endpoint.isAway("participant.declined")
	s.wants(t, http.StatusNoContent, http.MethodPost, made.answerPath(2, "decline"), fmt.Sprintf(`{"reason":%q}`, rent))
	for _, participant := range []int{0, 3} {
		s.refused(t, http.StatusBadRequest, "Signing process is not waiting", http.MethodPost, made.answerPath(participant, "sign"), signText(s.users[0]))
		s.refused(t, http.StatusBadRequest, "Signing process is not waiting", http.MethodPost, made.answerPath(participant, "decline"), `{"reason":""}`)
	}
	s.refused(t, http.StatusBadRequest, "Participant has already answered", http.MethodPost, made.answerPath(2, "sign"), signText(s.users[1]))
	s.showsProcess(t, made, "Declined", "Waiting", "None", "Declined", "Waiting")
	soon(t, s.endpoint.requests) // which was in vain
	s.wants(t, http.StatusNoContent, http.MethodDelete, processesPath+"/"+made.ProcessID, "")
	s.unknown(t, made.processReply, s.users[0])
	return made
}
