package httpapi

import (
	"github.com/innsigli/innsigli/httpapi/internal/openapi"
	"github.com/innsigli/innsigli/idp"
)

// signingSchemas are the bodies of spec 3.2 and 3.7.
func signingSchemas() openapi.Map[*openapi.Schema] {
	return openapi.Map[*openapi.Schema]{
		{Name: "BusySignal", Value: openapi.Object([]string{"id"}, openapi.Map[*openapi.Schema]{{Name: "id", Value: identifier("Identifies the busy signal, to be sent as `busySignal.id`.")}})},
		{Name: "SigningStart", Value: startSchema()},
		{Name: "SigningFile", Value: fileSchema()},
		{Name: "Signer", Value: signerSchema()},
		{Name: "SignatureImage", Value: imageSchema()},
		{Name: "AdvancedSignatureSettings", Value: settingsSchema()},
		{Name: "BusySignalUse", Value: openapi.Object([]string{"id"}, openapi.Map[*openapi.Schema]{
			{Name: "id", Value: identifier("The ID of a busy signal.")},
			{Name: "userId", Value: optional(maxHolder, "An ID of yours for whoever holds the signal. Others who find it held are told.")},
		})},
		{Name: "SigningStarted", Value: openapi.Object([]string{"pollingId", "expiresIn", "interval", "verificationCode"}, openapi.Map[*openapi.Schema]{
			{Name: "pollingId", Value: identifier("Identifies the request for polling.")},
			{Name: "expiresIn", Value: atLeast(integer, 0, "Seconds until the request expires.")},
			{Name: "interval", Value: atLeast(integer, 1, "The least number of seconds between polls.")},
			{Name: "verificationCode", Value: verificationCode("The code to show the signer. Null with `IdpApp`, where the first poll that has one tells it.")},
		})},
		{Name: "SignedDocument", Value: openapi.Object([]string{"signedFileB64"}, openapi.Map[*openapi.Schema]{{Name: "signedFileB64", Value: encoded("", "The signed document, Base64.")}})},
		{Name: "SigningFailure", Value: failureSchema()},
	}
}

// startSchema has the rules between a file and the rest: an XML document has no stamp, and a PDF one
// packing (spec 3.4).
func startSchema() *openapi.Schema {
	s := openapi.Object([]string{"file", "signer"}, openapi.Map[*openapi.Schema]{
		{Name: "file", Value: openapi.Reference("SigningFile")},
		{Name: "signer", Value: openapi.Reference("Signer")},
		{Name: "signatureImage", Value: orNull("SignatureImage", "A visible stamp, of a PDF alone. Without it nothing is drawn, and the signature is as valid.")},
		{Name: "advancedSignatureSettings", Value: orNull("AdvancedSignatureSettings", "The level of the signature, and how an XML document is packed.")},
		{Name: "busySignal", Value: orNull("BusySignalUse", "The busy signal of the file, where several sign it.")},
	})
	file := func(kind string) *openapi.Schema {
		return openapi.Object([]string{"file"}, openapi.Map[*openapi.Schema]{{Name: "file", Value: is("type", kind)}})
	}
	noStamp := &openapi.Schema{Properties: openapi.Map[*openapi.Schema]{{Name: "signatureImage", Value: &openapi.Schema{Type: openapi.Types{"null"}}}}}
	enveloped := &openapi.Schema{Properties: openapi.Map[*openapi.Schema]{{Name: "signaturePacking", Value: &openapi.Schema{Enum: []any{packingNames[0], nil}}}}}
	s.AllOf = []*openapi.Schema{
		{If: file(formatNames[1]), Then: noStamp},
		{If: file(formatNames[0]), Then: &openapi.Schema{Properties: openapi.Map[*openapi.Schema]{{Name: "advancedSignatureSettings", Value: enveloped}}}},
	}
	return s
}

// orNull is an object that may be left out.
func orNull(name, about string) *openapi.Schema {
	return &openapi.Schema{OneOf: []*openapi.Schema{openapi.Reference(name), {Type: openapi.Types{"null"}}}, Description: about}
}

func fileSchema() *openapi.Schema {
	return openapi.Object([]string{"type", "name", "contentB64"}, openapi.Map[*openapi.Schema]{
		{Name: "type", Value: choice(formatNames, "What the file is. A PDF is signed as PAdES, XML as XAdES.")},
		{Name: "name", Value: field(maxFileName, "The name of the file. The identity provider's app shows the first 60 characters to the signer.")},
		{Name: "contentB64", Value: encoded("", "The file, Base64. With the whole request at most 30 MB, which is a file of about 22 MB.")},
	})
}

// signerSchema has the rule that the SIM card needs a phone; with the app it is not looked at
// (spec 3.2).
func signerSchema() *openapi.Schema {
	const phone = "The signer's phone number, at most 16 characters. Required with `IdpSim`, ignored with `IdpApp`."
	s := openapi.Object([]string{"kennitala", "signingMethod"}, openapi.Map[*openapi.Schema]{
		{Name: "kennitala", Value: &openapi.Schema{
			Type: str, Pattern: `^(?:-*[^-` + controls + `]){1,10}-*$`, Not: &openapi.Schema{Pattern: `^\s*$`},
			Description: "The signer's kennitala, the Icelandic national ID, with or without a hyphen.",
		}},
		{Name: "signingMethod", Value: choice(methodNames, "How the signer approves: in the identity provider's app, or with the electronic ID on the phone's SIM card.")},
		{Name: "phone", Value: &openapi.Schema{Type: strOrNull, Pattern: plain, Description: phone}},
		{Name: "country", Value: optional(maxPlaceOrWhy, "Where the signer signs from. It is stored in the signature.")},
		{Name: "city", Value: optional(maxPlaceOrWhy, "Where the signer signs from. It is stored in the signature.")},
		{Name: "reason", Value: defaulted(optional(maxPlaceOrWhy, "Why the document is signed. It is stored in the signature and shown on the stamp."), "Undirritun")},
	})
	s.If = is("signingMethod", string(idp.SIM))
	s.Then = openapi.Object([]string{"phone"}, openapi.Map[*openapi.Schema]{{Name: "phone", Value: field(maxPhone, "")}})
	return s
}

func settingsSchema() *openapi.Schema {
	return openapi.Object(nil, openapi.Map[*openapi.Schema]{
		{Name: "signatureLevel", Value: defaulted(choice(levelNames, "`B`: valid while the certificate is. `T`: with a timestamp. `Lt`: with all that is needed to validate it later. `Lta`: with a timestamp over that, for archives."), "Lt")},
		{Name: "signaturePacking", Value: defaulted(choice(packingNames, "Where the signature of an XML document stands: in the document, around it, or beside it in one file. A PDF takes `Enveloped` alone."), packingNames[0])},
	})
}

func verificationCode(about string) *openapi.Schema {
	return &openapi.Schema{Type: strOrNull, Pattern: `^[0-9]{4}$`, Description: about}
}

func failureSchema() *openapi.Schema {
	code := &openapi.Schema{Type: str, Description: "What the client is to go by. `AuthorizationPending` and `SlowDown` mean that polling goes on; any other ends the request. Null is an error of the identity provider that the service does not know, and ends it too."}
	for _, c := range idp.ErrorCodes() {
		code.Enum = append(code.Enum, c)
	}
	return openapi.Object([]string{"errorCode", "error", "errorDescription", "verificationCode"}, openapi.Map[*openapi.Schema]{
		{Name: "errorCode", Value: code.OrNull()},
		{Name: "error", Value: &openapi.Schema{Type: strOrNull, Description: "The OAuth error of the identity provider, such as `authorization_pending` or `access_denied`."}},
		{Name: "errorDescription", Value: &openapi.Schema{Type: strOrNull, Description: "The identity provider's own words, unchanged: a short code, or a sentence."}},
		{Name: "verificationCode", Value: verificationCode("The code to show the signer.")},
	})
}
