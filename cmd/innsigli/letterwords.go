package main

import (
	"time"

	"github.com/innsigli/innsigli/portal/page"
)

// headOf has mail look as the signing page does.
func headOf(o page.Operator) letterhead { return letterhead{o.Name, o.Colour, o.Logo} }

// letterWords are what a letter says in Icelandic and in English. SENDER is the name of the account,
// FILE that of the document, UNTIL when the link expires, NAME who declined, and INVITED the name that
// the invitation had.
type letterWords struct {
	is, en         wording
	linkIS, linkEN string
}

var signerWords = letterWords{
	is:     wording{"Skjal til undirritunar", "SENDER hefur sent þér skjalið „FILE“ til undirritunar."},
	en:     wording{"A document to sign", "SENDER has sent you the document “FILE” to sign."},
	linkIS: "Opna skjalið", linkEN: "Open the document",
}

var viewerWords = letterWords{
	is:     wording{"Skjal til lestrar", "SENDER hefur sent þér skjalið „FILE“ til lestrar."},
	en:     wording{"A document to read", "SENDER has sent you the document “FILE” to read."},
	linkIS: "Opna skjalið", linkEN: "Open the document",
}

var completionWords = letterWords{
	is:     wording{"Undirritun er lokið", "Allir hafa undirritað skjalið „FILE“ sem SENDER sendi."},
	en:     wording{"All have signed", "Everybody has signed the document “FILE” that SENDER sent."},
	linkIS: "Opna skjalið", linkEN: "Open the document",
}

var refusalWords = letterWords{
	is: wording{"Undirritun var hafnað", "NAME hafnaði því að undirrita skjalið „FILE“. Aðrir geta þá ekki heldur undirritað það lengur."},
	en: wording{"A signature was declined", "NAME has declined to sign the document “FILE”. Nobody else can sign it any more."},
}

// otherRefusalWords are about somebody whose electronic ID has another name.
var otherRefusalWords = letterWords{
	is: wording{refusalWords.is.title, "NAME, sem var boðið undir nafninu „INVITED“, hafnaði því að undirrita skjalið „FILE“. Aðrir geta þá ekki heldur undirritað það lengur."},
	en: wording{refusalWords.en.title, "NAME, invited as “INVITED”, has declined to sign the document “FILE”. Nobody else can sign it any more."},
}

// saying is what else a letter may say.
type saying struct{ is, en string }

var (
	// useLink is about a link that is a credential, usePage about a page that needs a login.
	useLink = saying{
		"Opnaðu tengilinn og skráðu þig inn með rafrænum skilríkjum. Tengillinn gildir til UNTIL og er persónulegur: láttu aðra ekki fá hann.",
		"Open the link and log in with your electronic ID. The link is valid until UNTIL and is yours alone: do not pass it on.",
	}
	usePage = saying{
		"Opnaðu tengilinn og skráðu þig inn með rafrænum skilríkjum.",
		"Open the link and log in with your electronic ID.",
	}
	fetchIt = saying{
		"Opnaðu tengilinn og skráðu þig inn með rafrænum skilríkjum til að sækja það undirritað.",
		"To get it with the signatures, open the link and log in with your electronic ID.",
	}
	askForLink = saying{
		"Tengillinn sem þú fékkst gildir ekki lengur. SENDER getur látið þig fá skjalið.",
		"The link that you got is not valid any more. SENDER can give you the document.",
	}
	// neverAsked goes with each link: what nobody asks for who means well.
	neverAsked = saying{
		"PIN-númerið er aðeins slegið inn í símanum sjálfum, aldrei á síðunni sem tengillinn opnar og aldrei í tölvupósti.",
		"Your PIN is entered on the phone itself, never on the page that the link opens, and never in a mail.",
	}
)

func (w letterWords) and(more saying) letterWords {
	w.is.text += " " + more.is
	w.en.text += " " + more.en
	return w
}

// notice puts in what comes after each of the words. UNTIL is written as each language does.
func (w letterWords) notice(file, link string, until time.Time, pairs ...string) notice {
	pairs = append(pairs, "FILE", file)
	say := func(words wording, until string) string { return words.with(append(pairs, "UNTIL", until)...) }
	var never saying
	if link != "" {
		never = neverAsked
	}
	return notice{
		Subject: w.is.title + " / " + w.en.title + ": " + plain(file),
		Languages: []translation{
			{Lang: "is", Title: w.is.title, Text: say(w.is, icelandicTime(until)), Link: link, LinkText: w.linkIS, Note: never.is},
			{Lang: "en", Title: w.en.title, Text: say(w.en, englishTime(until)), Link: link, LinkText: w.linkEN, Note: never.en},
		},
	}
}
