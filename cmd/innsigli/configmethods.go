package main

import (
	"cmp"
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
		CertificateACR: cmp.Or(t.text("certificate-acr"), "app-certificate-choice"),
		SignACR:        cmp.Or(t.text("sign-acr"), "app-sign-with-certificate"),
		Hash:           readHash(t),
		SignHint:       readHint(t, "sign-login-hint", "kennitala", "document-number"),
		ChoiceClaim:    t.text("choice-claim"),
		CodeChoice:     t.flag("choose-code", false),
		Confirm:        t.flag("confirm", false),
		LongText:       t.text("long-text"),
	}
	t.end()
	return o
}

// readSIM reads an [identity-provider.sim].
func readSIM(t section) audkenni.SIMOptions {
	acr, cms := t.text("acr"), t.oneOf("answer", "pkcs1", "pkcs7") == "pkcs7"
	o := audkenni.SIMOptions{
		Hash:       readHash(t),
		Hint:       readHint(t, "login-hint", "local-phone", "phone", "kennitala"),
		CMS:        cms,
		NoLearning: !t.flag("learn", true),
		Text:       t.text("text"),
		LearnText:  t.text("learn-text"),
	}
	if cms {
		o.CMSACR = cmp.Or(acr, "sim-sign")
	} else {
		o.ACR = cmp.Or(acr, "sim-sign-pkcs1")
	}
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
		if code != "" && !slices.Contains(finalCodes, code) {
			t.fault("code", "%q is no errorCode that ends a request", code)
		}
		all[description] = code
		t.end()
	}
	return all
}
