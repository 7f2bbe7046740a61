package notify

import (
	"errors"
	"fmt"
	"time"

	"github.com/innsigli/innsigli/portal"
)

// processWords are the texts of a message in Icelandic and in English. SENDER is the name of the account, FILE the name of
// the document, UNTIL when the link expires, NAME who declined, and INVITED the name in the invitation.
type processWords struct {
	is, en         wording
	linkIS, linkEN string
}

var signerWords = processWords{
	is:     wording{"Skjal til undirritunar", "SENDER hefur sent þér skjalið „FILE“ til undirritunar."},
	en:     wording{"A document to sign", "SENDER has sent you the document “FILE” to sign."},
	linkIS: "Opna skjalið", linkEN: "Open the document",
}

var viewerWords = processWords{
	is:     wording{"Skjal til lestrar", "SENDER hefur sent þér skjalið „FILE“ til lestrar."},
	en:     wording{"A document to read", "SENDER has sent you the document “FILE” to read."},
	linkIS: "Opna skjalið", linkEN: "Open the document",
}

var completionWords = processWords{
	is:     wording{"Undirritun er lokið", "Allir hafa undirritað skjalið „FILE“ sem SENDER sendi."},
	en:     wording{"All signers have signed", "All signers have signed the document “FILE” that SENDER sent."},
	linkIS: "Opna skjalið", linkEN: "Open the document",
}

var refusalWords = processWords{
	is: wording{"Undirritun var hafnað", "NAME hafnaði því að undirrita skjalið „FILE“. Ekki er lengur hægt að undirrita það."},
	en: wording{"Signing was declined", "NAME has declined to sign the document “FILE”. It can no longer be signed."},
}

// otherRefusalWords are for a person whose electronic ID has another name than the invitation.
var otherRefusalWords = processWords{
	is: wording{refusalWords.is.title, "NAME, sem var boðið undir nafninu „INVITED“, hafnaði því að undirrita skjalið „FILE“. Ekki er lengur hægt að undirrita það."},
	en: wording{refusalWords.en.title, "NAME, invited as “INVITED”, has declined to sign the document “FILE”. It can no longer be signed."},
}

// addition is an additional sentence of a message.
type addition struct{ is, en string }

var (
	// useLink is for a link that is a credential, and usePage for a page that needs a login.
	useLink = addition{
		"Opnaðu tengilinn og skráðu þig inn með rafrænum skilríkjum. Tengillinn gildir til UNTIL og er persónulegur: láttu aðra ekki fá hann.",
		"Open the link and log in with your electronic ID. The link is valid until UNTIL and is for you alone: do not pass it on.",
	}
	usePage = addition{
		"Opnaðu tengilinn og skráðu þig inn með rafrænum skilríkjum.",
		"Open the link and log in with your electronic ID.",
	}
	fetchIt = addition{
		"Opnaðu tengilinn og skráðu þig inn með rafrænum skilríkjum til að sækja undirritaða skjalið.",
		"To download the signed document, open the link and log in with your electronic ID.",
	}
	askForLink = addition{
		"Tengillinn sem þú fékkst gildir ekki lengur. SENDER getur látið þig fá skjalið.",
		"The link that you received is no longer valid. SENDER can give you the document.",
	}
	// pinWarning accompanies each link, against fraudulent pages that ask for the PIN.
	pinWarning = addition{
		"PIN-númerið er aðeins slegið inn í símanum sjálfum, aldrei á síðunni sem tengillinn opnar og aldrei í tölvupósti.",
		"Your PIN is entered on the phone itself, never on the page that the link opens, and never in a mail.",
	}
)

func (w processWords) and(more addition) processWords {
	w.is.text += " " + more.is
	w.en.text += " " + more.en
	return w
}

// notice returns the notice with placeholders replaced by pairs. UNTIL is formatted in each language.
func (w processWords) notice(file, link string, until time.Time, pairs ...string) notice {
	pairs = append(pairs, "FILE", file)
	say := func(words wording, until string) string { return words.with(append(pairs, "UNTIL", until)...) }
	var note addition
	if link != "" {
		note = pinWarning
	}
	return notice{
		Subject: w.is.title + " / " + w.en.title + ": " + Plain(file),
		Languages: []translation{
			{Lang: "is", Title: w.is.title, Text: say(w.is, icelandicTime(until)), Link: link, LinkText: w.linkIS, Note: note.is},
			{Lang: "en", Title: w.en.title, Text: say(w.en, englishTime(until)), Link: link, LinkText: w.linkEN, Note: note.en},
		},
	}
}

// writer writes messages about a process.
type writer struct {
	process     portal.Process
	participant portal.Participant
	sender      string
	baseURL     string
}

// notice returns the message of a job as of now.
func (w writer) notice(j processJob, now time.Time) (notice, error) {
	switch j.Topic {
	case invitation:
		return w.invitation(j.Since, now)
	case completion:
		return w.completion(now)
	case refusal:
		return w.refusal()
	}
	return notice{}, fmt.Errorf("mail about %q cannot be written", j.Topic)
}

// invitation returns the invitation that was made at a time. It returns errOutdated if there is a later one, or if none is
// needed any more.
func (w writer) invitation(made, now time.Time) (notice, error) {
	one := w.participant
	signs := one.Role == portal.Signer
	if !one.Link.InvitedAt.Equal(made) || signs && (one.Status() != portal.Waiting || w.process.Status(now) != portal.Waiting) {
		return notice{}, errOutdated
	}
	link, err := w.link(now)
	if err == nil && link == "" {
		err = errOutdated
	}
	if err != nil {
		return notice{}, err
	}
	words, use := viewerWords, useLink
	if signs {
		words = signerWords
	}
	if one.Person != nil {
		use = usePage
	}
	return words.and(use).notice(w.process.FileName, link, made.Add(portal.InvitationTime), "SENDER", w.sender), nil
}

// completion returns the message about a completed process, with a link to the page of the participant. A participant whose
// link expired unopened gets the message without a link.
func (w writer) completion(now time.Time) (notice, error) {
	link, err := w.link(now)
	if err != nil {
		return notice{}, err
	}
	more := fetchIt
	if link == "" {
		more = askForLink
	}
	return completionWords.and(more).notice(w.process.FileName, link, time.Time{}, "SENDER", w.sender), nil
}

// errSealed is a temporary error: another server may have the key.
var errSealed = errors.New("the link of the participant does not open with this server's master key")

// link returns the URL of the page on which the participant signs or reads, also after the answer; empty if the participant
// cannot open it any more.
func (w writer) link(now time.Time) (string, error) {
	one := w.participant
	switch path := w.process.Path(one, now); {
	case path != "":
		return w.baseURL + path, nil
	case one.Person != nil:
		return w.baseURL + w.process.Page(one.ID), nil
	case one.LinkState(now) == portal.Unopened:
		return "", errSealed
	}
	return "", nil
}

// refusal returns the message that a participant declined, with the ID of the process. The person who declined may have
// another name than the invitation.
func (w writer) refusal() (notice, error) {
	decline, name := w.participant.Decline, w.participant.Name
	if decline == nil {
		return notice{}, errOutdated
	}
	words := refusalWords
	if who := w.participant.Person; who != nil && who.Name != "" && who.Name != name {
		words, name = otherRefusalWords, who.Name
	}
	n := words.notice(w.process.FileName, "", time.Time{}, "NAME", name, "INVITED", w.participant.Name)
	n.Languages[0].Facts = []fact{{"Undirritunarferli", w.process.ID}}
	n.Languages[1].Facts = []fact{{"Signing process", w.process.ID}}
	if reason := Plain(decline.Reason); reason != "" {
		n.Languages[0].Facts = append(n.Languages[0].Facts, fact{"Skýring", reason})
		n.Languages[1].Facts = append(n.Languages[1].Facts, fact{"Reason", reason})
	}
	return n, nil
}
