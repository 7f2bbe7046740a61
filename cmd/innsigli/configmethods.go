package main

import (
	"crypto"
	_ "crypto/sha512" // for SHA-384 and SHA-512
	"maps"
	"slices"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/idp/audkenni"
)

// readApp reads an [identity-provider.app].
func readApp(t section) audkenni.AppOptions {
	o := audkenni.AppOptions{
		CertificateACR: t.text("certificate-acr"),
		SignACR:        t.text("sign-acr"),
		Hash:           readHash(t),
		SignHint:       readHint(t, "sign-login-hint", "kennitala", "document-number"),
		ChoiceClaim:    t.text("choice-claim"),
		CodeChoice:     t.flag("choose-code", false),
		Confirm:        t.flag("confirm", false),
		LongText:       t.text("long-text"),
	}
	t.adapter("long-text", audkenni.Options{App: audkenni.AppOptions{LongText: o.LongText, Confirm: o.Confirm}})
	t.end()
	return o
}

// readSIM reads an [identity-provider.sim].
func readSIM(t section) audkenni.SIMOptions {
	o := audkenni.SIMOptions{
		Hash:       readHash(t),
		Hint:       readHint(t, "login-hint", "local-phone", "phone", "kennitala"),
		CMS:        t.oneOf("answer", "pkcs1", "pkcs7") == "pkcs7",
		NoLearning: !t.flag("learn", true),
		Text:       t.text("text"),
		LearnText:  t.text("learn-text"),
		TextLimit:  t.number("text-limit", 20, 200),
	}
	if acr := t.text("acr"); o.CMS {
		o.CMSACR = acr
	} else {
		o.ACR = acr
	}
	t.adapter("text", audkenni.Options{SIM: audkenni.SIMOptions{Text: o.Text, LearnText: "{code}", TextLimit: o.TextLimit}})
	t.adapter("learn-text", audkenni.Options{SIM: audkenni.SIMOptions{LearnText: o.LearnText, Text: "{code}", TextLimit: o.TextLimit}})
	t.end()
	return o
}

// hashes are the digests that can be signed, by their names in a configuration.
var hashes = map[string]crypto.Hash{"SHA-256": crypto.SHA256, "SHA-384": crypto.SHA384, "SHA-512": crypto.SHA512}

// readHash reads a digest; 0 leaves it to the method's own default.
func readHash(t section) crypto.Hash {
	return hashes[t.oneOf("digest", slices.Sorted(maps.Keys(hashes))...)]
}

// hints are what a request can name a person by.
var hints = map[string]audkenni.Hint{
	"kennitala": audkenni.HintKennitala, "document-number": audkenni.HintDocument,
	"local-phone": audkenni.HintLocalPhone, "phone": audkenni.HintPhone,
}

// readHint reads one of the names; empty leaves it to the method's own default.
func readHint(t section, key string, names ...string) audkenni.Hint {
	return hints[t.oneOf(key, names...)]
}

// readErrorRows reads what the provider's errors mean, beside what is known of them.
func readErrorRows(rows []section) map[string]idp.ErrorCode {
	all := make(map[string]idp.ErrorCode)
	for _, t := range rows {
		t.required("description")
		description, code := t.text("description"), idp.ErrorCode(t.text("code"))
		if _, twice := all[description]; twice {
			t.fault("description", "is there already")
		}
		if description != "" {
			t.adapter("code", audkenni.Options{Errors: map[string]idp.ErrorCode{description: code}})
		}
		all[description] = code
		t.end()
	}
	return all
}
