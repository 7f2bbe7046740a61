package main

import (
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/ades"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	postgrestest "github.com/innsigli/innsigli/internal/test/postgres"
)

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
