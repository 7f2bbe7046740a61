package xades_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/ades"
	catest "github.com/innsigli/innsigli/internal/test/ca"
	xmldsig "github.com/innsigli/innsigli/internal/xml/dsig"
	"github.com/innsigli/innsigli/xades"
)

// attack is a row of the table: a document that is changed after it was signed, or that a dishonest signer made, and
// Innsigli's verdict. TestAttacksByValidators has the verdicts of EU DSS and XML Security Library on the same rows.
type attack struct {
	class attackClass
	changedDocument
}

// attackClass is a kind of attack, with a public source that describes it.
type attackClass struct{ name, source string }

// Classes of attacks. "Best practices" is XML Signature Best Practices (W3C), "Engelbertz" is Engelbertz et al.,
// "Security Analysis of XAdES Validation in the CEF Digital Signature Services" (2019).
var (
	signatureWrapping  = attackClass{"signature wrapping", "CVE-2025-47949 (samlify), best practices 2.2.4"}
	partialSignature   = attackClass{"content that is not signed", "CVE-2024-8698 (Keycloak), CVE-2025-54419 (node-saml)"}
	identifierTwice    = attackClass{"one identifier, two elements", "CVE-2021-21238 (pysaml2)"}
	severalSignedInfo  = attackClass{"several SignedInfo", "CVE-2025-29774 (xml-crypto)"}
	digestElsewhere    = attackClass{"digest from elsewhere", "CVE-2024-45409 (ruby-saml)"}
	digestText         = attackClass{"markup in a digest or value", "CVE-2025-29775 (xml-crypto)"}
	severalReferences  = attackClass{"several references", "CVE-2026-33487 (goxmldsig)"}
	commentedText      = attackClass{"markup in signed text", "CVE-2017-11427 (python-saml), CVE-2018-0489 (XMLTooling)"}
	documentType       = attackClass{"document type declaration", "CVE-2025-25291 (ruby-saml), CVE-2022-34716 (.NET)"}
	parserDifference   = attackClass{"parsers that disagree", "CVE-2025-25292, CVE-2025-66567 (ruby-saml), CVE-2020-29511 (encoding/xml)"}
	severalRoots       = attackClass{"several roots", "CVE-2022-39353 (xmldom), CVE-2022-39300 (node-saml)"}
	noCanonicalForm    = attackClass{"no canonical form", "CVE-2025-66568 (ruby-saml)"}
	nothingSelected    = attackClass{"transform that selects nothing", "best practices 2.2.2"}
	code               = attackClass{"transform that is a program", "CVE-2022-34169 (Java), CVE-2022-47966 (Santuario)"}
	outside            = attackClass{"data outside of the document", "CVE-2021-40690 (Santuario)"}
	keyOfDocument      = attackClass{"key of the attacker", "CVE-2024-32962 (xml-crypto), CVE-2021-21239 (pysaml2)"}
	symmetric          = attackClass{"HMAC with what is public", "CVE-2025-48994 (SignXML), CVE-2009-0217"}
	algorithmExchanged = attackClass{"another algorithm", "CVE-2022-21449 (Java)"}
	xadesProperties    = attackClass{"properties of XAdES", "Engelbertz"}
	fakeManifest       = attackClass{"Manifest", "Engelbertz"}
)

func attacks() []attack {
	return slices.Concat(wrappings(), propertyAttacks(), digestAttacks(), parserAttacks(), transformAttacks(), keyAttacks())
}

// TestAttacks checks the verdict on each row.
func TestAttacks(t *testing.T) {
	t.Parallel()
	var rows []changedDocument
	for _, a := range attacks() {
		rows = append(rows, a.changedDocument)
	}
	checkChanges(t, newPerson(t, catest.New(t), p256(t)), ades.B, plainContract, rows)
}

// Verdicts on signatures of another value, and of an algorithm that is not supported.
const (
	wrongValue  = "SIG_CRYPTO_FAILURE WHOLE_DOCUMENT"
	unsupported = "CRYPTO_CONSTRAINTS_FAILURE_NO_POE PARTIAL"
)

// of returns rows of one class.
func of(class attackClass, rows ...changedDocument) (all []attack) {
	for _, row := range rows {
		all = append(all, attack{class, row})
	}
	return all
}

// Classes of attacks on the digests: the price is changed, and the digest of the changed document is in the document.
var digestValue = regexp.MustCompile(`<ds:DigestValue>([^<]*)</ds:DigestValue>`)

// smuggles changes the price, and applies the change that place makes from the digest of the changed document and the
// one that is signed.
func smuggles(place func(fresh, signed string) change) change {
	return func(t testing.TB, p person, b []byte) []byte {
		t.Helper()
		signed := string(digestValue.FindSubmatch(b)[1])
		b = replace("250000", "1")(t, p, b)
		d := parse(t, b)
		reference := childOf(childOf(xmldsig.Find(d)[0], "SignedInfo"), "Reference")
		return place(referenceDigest(t, d, b, reference), signed)(t, p, b)
	}
}

// smugglesText has a digest as the text of DigestValue, where FRESH stands for that of the changed document and SIGNED
// for that which is signed.
func smugglesText(text string) change {
	return smuggles(func(fresh, signed string) change {
		return substitute(digestValue, "<ds:DigestValue>"+strings.NewReplacer("FRESH", fresh, "SIGNED", signed).Replace(text)+"</ds:DigestValue>")
	})
}

// smugglesInfo adds a SignedInfo that has the digest of the changed document.
func smugglesInfo(add func(forged string) change) change {
	return smuggles(func(fresh, _ string) change {
		return func(t testing.TB, p person, b []byte) []byte {
			t.Helper()
			forged := digestValue.ReplaceAllString(string(element("ds:SignedInfo").Find(b)), "<ds:DigestValue>"+fresh+"</ds:DigestValue>")
			return add(forged)(t, p, b)
		}
	})
}

// wrappings move what is signed, or add what is not (XML Signature Best Practices 3.3).
func wrappings() []attack {
	return slices.Concat(
		of(signatureWrapping,
			changedDocument{"unchanged", enveloped, unchanged, passes},
			changedDocument{"content changed", enveloped, replace("250000", "250001"), hashFailure},
			changedDocument{"signature in another document", enveloped, substitute(regexp.MustCompile(`(?s)^.*(<ds:Signature .*</ds:Signature>).*$`), "<contract>$1</contract>"), hashFailure},
			changedDocument{"signed element moved, another in its place", detached, substitute(contained, "<signed-document>"+forged+"</signed-document><kept>$0</kept>"), partial},
			changedDocument{"root around the container", detached, substitute(element("internally-detached"), "<root>"+forged+"$0</root>"), partial},
			changedDocument{"another Object", enveloping, substitute(signedObject, "<ds:Object>"+forged+"</ds:Object>$0"), partial},
			changedDocument{"signed Object outside of the signature", enveloping, substitute(regexp.MustCompile(`(?s)(<ds:Signature .*)(<ds:Object Id=.*?</ds:Object>)(.*</ds:Signature>)`),
				`<root xmlns:ds="http://www.w3.org/2000/09/xmldsig#">$2$1<ds:Object>`+forged+"</ds:Object>$3</root>"), notFound},
			changedDocument{"enveloping signature in another document", enveloping, substitute(wholeSignature, "<root>"+forged+"$0</root>"), partial},
			changedDocument{"enveloping signature in an empty container", enveloping, substitute(wholeSignature, "<internally-detached>$0</internally-detached>"), partial},
			changedDocument{"signed Object removed", enveloping, substitute(signedObject, ""), notFound},
		),
		of(partialSignature,
			changedDocument{"stylesheet before the root", enveloped, before("<contract ", stylesheet), hashFailure},
			changedDocument{"unsigned Object", enveloped, before(signatureEnd, "<ds:Object>"+forged+"</ds:Object>"), partial},
			changedDocument{"text in the container", detached, after("</signed-document>", "and ten more"), partial},
			changedDocument{"instruction in the container", detached, after("</signed-document>", "<?and ten more?>"), partial},
			changedDocument{"instruction before the container", detached, before("<internally-detached>", stylesheet), partial},
			changedDocument{"attribute of the container", detached, replace("<internally-detached>", `<internally-detached price="1">`), partial},
			changedDocument{"namespace declaration of the container", detached, after("<internally-detached", ` xmlns:p="urn:example:price"`), partial},
			changedDocument{"comments in the container", detached, after("<internally-detached>", "<!-- one --> <!-- two -->"), passes},
			changedDocument{"stylesheet before the signature", enveloping, before("<ds:Signature ", stylesheet), partial},
			changedDocument{"content beside the properties", enveloping, after(qualifyingEnd, forged), partial},
			changedDocument{"instruction in the signature", enveloping, after("</ds:KeyInfo>", "<?and ten more?>"), partial},
			changedDocument{"xml:lang of the signature", enveloping, after("<ds:Signature", ` xml:lang="is"`), partial},
			changedDocument{"attribute of the value", enveloping, after("<ds:SignatureValue", ` price="1"`), partial},
			changedDocument{"element around the Base64", enveloping64, substitute(regexp.MustCompile(`(<ds:Object Id=[^>]*>)([^<]*)`), "$1<b>$2</b>"), partial},
			changedDocument{"Base64 of other data", enveloping64, substitute(regexp.MustCompile(`(<ds:Object Id=[^>]*>)([^<]*)`), "${1}AAAA"), hashFailure},
			changedDocument{"another MimeType", enveloping64, replace(`MimeType="text/xml"`, `MimeType="text/html"`), partial},
			changedDocument{"xml:base of the signature", enveloping64, after("<ds:Signature", ` xml:base="http://example.org/"`), partial},
			changedDocument{"attribute of the Base64", enveloping64, after(`MimeType="text/xml"`, ` price="1"`), partial},
			changedDocument{"element in KeyInfo", enveloped, after("<ds:KeyInfo>", forgedPrice), partial},
			changedDocument{"element deep in KeyInfo", enveloped, after("<ds:X509Data>", forgedPrice), partial},
			changedDocument{"Object in KeyInfo", enveloped, after("<ds:KeyInfo>", "<ds:Object>AAAA</ds:Object>"), partial},
			changedDocument{"text in KeyInfo", enveloped, after("<ds:KeyInfo>", "for ten"), partial},
			changedDocument{"KeyName in KeyInfo", enveloped, after("<ds:KeyInfo>", "<ds:KeyName>ten</ds:KeyName>"), passes},
		),
		of(identifierTwice,
			changedDocument{"identifier twice", detached, substitute(signedStart, "${0}"+forged+"</signed-document>$0"), notFormatted},
			changedDocument{"identifier twice, once as xml:id", detached, substitute(signedStart, "<signed-document xml:id=$1>"+forged+"</signed-document>$0"), notFormatted},
			changedDocument{"identifier twice, once as ID", detached, substitute(signedStart, "<signed-document ID=$1>"+forged+"</signed-document>$0"), notFormatted},
			changedDocument{"identifier twice, once with a character reference", detached, edit(signedStart, func(s string) string {
				return strings.Replace(s, `Id="s`, `Id="&#x73;`, 1) + forged + "</signed-document>" + s
			}), notFormatted},
			changedDocument{"identifier with a prefix, which is none", detached, substitute(signedStart, `<signed-document p:Id=$1 xmlns:p="urn:p">`+forged+"</signed-document>$0"), partial},
			changedDocument{"identifier with white space, which is another", detached, edit(signedStart, func(s string) string {
				return strings.Replace(s, `Id="`, `Id=" `, 1) + forged + "</signed-document>" + s
			}), partial},
			changedDocument{"identifier as an element", detached, substitute(signedStart, "<signed-document><Id>$1</Id>"+forged+"</signed-document>$0"), partial},
		),
	)
}

var signedStart = regexp.MustCompile(`<signed-document Id=([^>]*)>`)

// propertyAttacks change the properties of XAdES, and Manifests.
func propertyAttacks() []attack {
	return slices.Concat(
		of(xadesProperties,
			changedDocument{"two QualifyingProperties, the first without Target", enveloped, edit(qualifying, func(s string) string { return withoutIdentifiers(strings.Replace(s, "Reykjavik", "Akureyri", 1)) + s }), notFound + " intact"},
			changedDocument{"two QualifyingProperties with the same Target", enveloped, edit(qualifying, func(s string) string { return s + "</ds:Object><ds:Object>" + strings.Replace(s, " Id=", " Other=", 1) }), notFound + " intact"},
			changedDocument{"QualifyingProperties deeper in the Object", enveloped, substitute(qualifying, "<b>$0</b>"), notFound + " intact"},
			changedDocument{"QualifyingProperties for another signature", enveloped, replace(`Target="#`, `Target="#other-`), notFound + " intact"},
			changedDocument{"signature without Id", enveloped, replace(` Id="signature-`, ` ID2="signature-`), notFound + " intact"},
			changedDocument{"signed properties moved, others in their place", enveloped, edit(qualifying, func(s string) string {
				kept := strings.Replace(signedProperties.FindString(s), " ", ` xmlns:xades="http://uri.etsi.org/01903/v1.3.2#" `, 1)
				return signedProperties.ReplaceAllStringFunc(s, withoutIdentifiers) + "</ds:Object><ds:Object>" + kept
			}), notFoundWhole + " intact"},
			changedDocument{"two SignedProperties", enveloped, edit(signedProperties, func(s string) string { return withoutIdentifiers(s) + s }), notFoundWhole + " intact"},
			changedDocument{"SignedProperties removed", enveloped, substitute(signedProperties, ""), notFoundWhole},
			changedDocument{"two UnsignedProperties", enveloped, before(qualifyingEnd, "<xades:UnsignedProperties/><xades:UnsignedProperties/>"), notFoundWhole + " intact"},
			changedDocument{"element in QualifyingProperties", enveloped, before(qualifyingEnd, forgedPrice), partial},
			changedDocument{"attribute of QualifyingProperties", enveloped, after("<xades:QualifyingProperties", ` price="1"`), partial},
			changedDocument{"element in UnsignedProperties", enveloped, inUnsignedProperties(forgedPrice), partial},
			changedDocument{"unsigned property of data objects", enveloped, inUnsignedProperties("<xades:UnsignedDataObjectProperties><xades:UnsignedDataObjectProperty>" + forgedPrice + "</xades:UnsignedDataObjectProperty></xades:UnsignedDataObjectProperties>"), partial},
			changedDocument{"element without namespace as unsigned property", enveloped, inUnsignedProperty(forgedPrice), partial},
			changedDocument{"SignedProperties as unsigned property", enveloped, inUnsignedProperty("<xades:SignedProperties/>"), partial},
			changedDocument{"element in CounterSignature", enveloped, inUnsignedProperty("<xades:CounterSignature>" + forgedPrice + "</xades:CounterSignature>"), partial},
			changedDocument{"unsigned property of a foreign namespace", enveloped, inUnsignedProperty(`<p:seen Id="p" xmlns:p="urn:example:property">1</p:seen>`), passes},
		),
		of(fakeManifest,
			changedDocument{"content that a Manifest alone covers", enveloped, all(signsManifest(referenceTo("", "#other", exclusiveTransform)), replace(`<ds:Object Id="other">AAAA`, `<ds:Object Id="other">BBBB`)), "HASH_FAILURE WHOLE_DOCUMENT"},
			changedDocument{"document that a Manifest alone covers", enveloped, all(signs(inManifest), replace("250000", "1")), hashFailure},
			changedDocument{"Manifest moved out of the signature", enveloped, all(signsManifest(referenceTo("", "#other", exclusiveTransform)),
				edit(regexp.MustCompile(`(?s)^.*$`), func(s string) string {
					list := regexp.MustCompile(`(?s)<ds:Manifest .*?</ds:Manifest>`).FindString(s)
					moved := strings.Replace(list, "<ds:Manifest ", `<ds:Manifest xmlns:ds="http://www.w3.org/2000/09/xmldsig#" `, 1)
					return strings.Replace(strings.Replace(s, list, "", 1), "</contract>", moved+"</contract>", 1)
				})), hashFailure},
		),
	)
}

// inManifest moves the reference to the document into a Manifest.
func inManifest(t testing.TB, p person, b []byte) []byte {
	t.Helper()
	reference := string(documentReference.Find(b))
	return all(
		substitute(documentReference, strings.ReplaceAll(referenceTo(manifestType, "#list", exclusiveTransform), "$", "$$")),
		before(signatureEnd, `<ds:Object><ds:Manifest Id="list">`+reference+"</ds:Manifest></ds:Object>"),
	)(t, p, b)
}

// digestAttacks have another digest than the signed one found.
func digestAttacks() []attack {
	info := element("ds:SignedInfo")
	return slices.Concat(
		of(severalSignedInfo,
			changedDocument{"SignedInfo twice", enveloped, substitute(info, "$0$0"), notFormatted},
			changedDocument{"forged SignedInfo before the signed one", enveloped, smugglesInfo(func(s string) change { return before("<ds:SignedInfo>", s) }), notFormatted},
			changedDocument{"forged SignedInfo after the signed one", enveloped, smugglesInfo(func(s string) change { return after("</ds:SignedInfo>", s) }), notFormatted},
			changedDocument{"forged SignedInfo, the signed one in an Object", enveloped, smugglesInfo(func(s string) change {
				return edit(info, func(signed string) string { return s + "<ds:Object>" + signed + "</ds:Object>" })
			}), notFormatted},
			changedDocument{"forged SignedInfo in an Object", enveloped, smugglesInfo(func(s string) change { return before(signatureEnd, "<ds:Object>"+s+"</ds:Object>") }), hashFailure},
			changedDocument{"forged SignedInfo of another namespace", enveloped, smugglesInfo(func(s string) change {
				return before("<ds:SignedInfo>", strings.Replace(s, "<ds:SignedInfo>", `<ds:SignedInfo xmlns:ds="http://www.w3.org/2000/09/xmldsig">`, 1))
			}), notFormatted},
			changedDocument{"forged SignedInfo in the signed one", enveloped, smugglesInfo(func(s string) change { return after("<ds:SignedInfo>", s) }), notFormatted},
		),
		of(digestElsewhere,
			changedDocument{"forged DigestValue in an Object", enveloped, smuggles(func(fresh, _ string) change {
				return before(signatureEnd, "<ds:Object><ds:DigestValue>"+fresh+"</ds:DigestValue></ds:Object>")
			}), hashFailure},
			changedDocument{"forged DigestValue before the signature", enveloped, smuggles(func(fresh, _ string) change {
				return before("<ds:Signature ", `<ds:DigestValue xmlns:ds="http://www.w3.org/2000/09/xmldsig#">`+fresh+"</ds:DigestValue>")
			}), hashFailure},
			changedDocument{"forged Reference in KeyInfo", enveloped, smuggles(func(fresh, _ string) change {
				return after("<ds:KeyInfo>", strings.Replace(referenceTo("", "", filterTransform+exclusiveTransform), "AAAA", fresh, 1))
			}), hashFailure},
			changedDocument{"forged DigestValue in place of the signed one", enveloped, smugglesText("FRESH"), wrongValue},
			changedDocument{"forged DigestValue before the signed one", enveloped, smuggles(func(fresh, _ string) change {
				return before("<ds:DigestValue>", "<ds:DigestValue>"+fresh+"</ds:DigestValue>")
			}), notFormatted},
		),
		of(digestText,
			changedDocument{"forged digest as a comment before the signed one", enveloped, smugglesText("<!--FRESH-->SIGNED"), hashFailure},
			changedDocument{"forged digest as a comment in the signed one", enveloped, smugglesText("<!-- -->SIGNED<!--FRESH-->"), hashFailure},
			changedDocument{"forged digest, the signed one as a comment", enveloped, smugglesText("FRESH<!--SIGNED-->"), wrongValue},
			changedDocument{"forged digest as a CDATA section before the signed one", enveloped, smugglesText("<![CDATA[FRESH]]>SIGNED"), notFormatted},
			changedDocument{"forged digest as an instruction before the signed one", enveloped, smugglesText("<?d FRESH?>SIGNED"), hashFailure},
			changedDocument{"forged digest as an attribute", enveloped, smuggles(func(fresh, signed string) change {
				return substitute(digestValue, `<ds:DigestValue value="`+fresh+`">`+signed+"</ds:DigestValue>")
			}), hashFailure},
			changedDocument{"signed digest as a CDATA section", enveloped, substitute(digestValue, "<ds:DigestValue><![CDATA[$1]]></ds:DigestValue>"), passes},
			changedDocument{"comment in the value", enveloped, substitute(signatureValue, "$0<!-- AAAA -->"), passes},
			changedDocument{"element in the value", enveloped, substitute(signatureValue, "$0<ds:Object/>"), notFormatted},
			changedDocument{"more Base64 after the padding of the value", enveloped, substitute(signatureValue, "${0}AAAA"), notFormatted},
			changedDocument{"value with a character that is not of Base64", enveloped, substitute(signatureValue, "$0!"), notFormatted},
			changedDocument{"another value", enveloped, substitute(signatureValue, "${1}"+strings.Repeat("A", 86)+"=="), wrongValue},
			changedDocument{"no value", enveloped, substitute(signatureValue, "${1}"), wrongValue},
			changedDocument{"no digest", enveloped, all(replace("250000", "1"), substitute(digestValue, "<ds:DigestValue></ds:DigestValue>"), revalue), hashFailure},
			changedDocument{"beginning of the digest", enveloped, all(smugglesText("FRESH"), edit(digestValue, func(s string) string {
				return "<ds:DigestValue>" + s[len("<ds:DigestValue>"):len("<ds:DigestValue>")+4] + "</ds:DigestValue>"
			}), revalue), hashFailure},
		),
		of(severalReferences,
			changedDocument{"first of two elements changed", enveloped, all(signsTwo, replace("<a Id=\"a\">1", "<a Id=\"a\">2")), hashFailure},
			changedDocument{"second of two elements changed", enveloped, all(signsTwo, replace("<b Id=\"b\">1", "<b Id=\"b\">2")), hashFailure},
			changedDocument{"identifiers of two elements exchanged", enveloped, all(signsTwo, replace(`<a Id="a">1</a><b Id="b">1</b>`, `<a Id="b">1</a><b Id="a">1</b>`)), hashFailure},
			changedDocument{"two references to one element, one of another digest", enveloped, all(signsTwo,
				before("</ds:SignedInfo>", referenceTo("", "#a", exclusiveTransform)), revalue), hashFailure},
		),
	)
}

// signsTwo has the signer sign two elements, with a reference for each, in place of the document.
func signsTwo(t testing.TB, p person, b []byte) []byte {
	t.Helper()
	return signs(before("<price ", `<a Id="a">1</a><b Id="b">1</b>`),
		substitute(documentReference, referenceTo("", "#a", exclusiveTransform)+referenceTo("", "#b", exclusiveTransform)))(t, p, b)
}

// signsPrefixed has the signer sign a document with a prefix in a value, and leave a prefix out of the list of those
// that the canonical form keeps.
func signsPrefixed(without string) change {
	return func(t testing.TB, p person, _ []byte) []byte {
		t.Helper()
		b := sign(t, []byte(`<contract xmlns:p="urn:p"><price type="p:amount">250000</price></contract>`), p, xades.Options{})
		if without == "" {
			return b
		}
		return signs(edit(regexp.MustCompile(`<ec:InclusiveNamespaces [^>]*></ec:InclusiveNamespaces>`), func(string) string { return "" }))(t, p, b)
	}
}

// parserAttacks are documents that some parsers read in another way.
func parserAttacks() []attack {
	declaration := func(internal string) change { return before("<contract ", "<!DOCTYPE contract ["+internal+"]>") }
	return slices.Concat(
		of(documentType,
			changedDocument{"empty", enveloped, before("<contract ", "<!DOCTYPE contract>"), unreadableXML},
			changedDocument{"entity in place of the price", enveloped, all(declaration(`<!ENTITY p "250000">`), replace("250000", "&p;")), unreadableXML},
			changedDocument{"entity that is declared twice", enveloped, all(declaration(`<!ENTITY p "250000"><!ENTITY p "1">`), replace("250000", "&p;")), unreadableXML},
			changedDocument{"entity without a declaration", enveloped, replace("250000", "&p;250000"), unreadableXML},
			changedDocument{"external entity", enveloped, all(declaration(`<!ENTITY p SYSTEM "file:///etc/hostname">`), replace("250000", "&p;")), unreadableXML},
			changedDocument{"attribute by default", enveloped, declaration(`<!ATTLIST price currency CDATA "EUR" vat CDATA "0">`), unreadableXML},
			changedDocument{"attribute as identifier", detached, before("<internally-detached>", `<!DOCTYPE internally-detached [<!ATTLIST contract number ID #IMPLIED>]>`), unreadableXML},
			changedDocument{"document in a quoted identifier", enveloped, before("<contract ", `<!DOCTYPE contract SYSTEM '><contract><price>1</price></contract>'>`), unreadableXML},
			changedDocument{"document in a comment of it", enveloped, declaration("<!-- ]><contract><price>1</price></contract> -->"), unreadableXML},
		),
		of(severalRoots,
			changedDocument{"root before it", enveloped, before("<contract ", forged), unreadableXML},
			changedDocument{"root after it", enveloped, after("</contract>", forged), unreadableXML},
			changedDocument{"text after it", enveloped, after("</contract>", "and ten more"), unreadableXML},
			changedDocument{"text before it", enveloped, before("<contract ", "1"), unreadableXML},
			changedDocument{"declaration of XML after a comment", enveloped, before("<contract ", `<!-- --><?xml version="1.0"?>`), unreadableXML},
		),
		of(parserDifference,
			changedDocument{"prefix of another namespace for the signature", enveloped, replace(`xmlns:ds="http://www.w3.org/2000/09/xmldsig#"`, `xmlns:ds="http://www.w3.org/2000/09/xmldsig"`), noSignature},
			changedDocument{"namespace of the signature with a character reference", enveloped, replace(`xmlns:ds="http://www.w3.org/2000/09/xmldsig#"`, `xmlns:ds="http://www.w3.org/2000/09/xmldsig&#35;"`), passes},
			changedDocument{"namespace of the contract with a character reference", enveloped, replace(`xmlns="urn:example:contract"`, `xmlns="urn:example&#58;contract"`), passes},
			changedDocument{"namespace of the contract changed", enveloped, replace(`xmlns="urn:example:contract"`, `xmlns="urn:example:offer"`), hashFailure},
			changedDocument{"prefix in place of the default namespace", enveloped, all(replace("<contract xmlns=", "<c:contract xmlns:c="), replace("</contract>", "</c:contract>")), hashFailure},
			changedDocument{"prefix xml of another namespace", enveloped, after("<contract", ` xmlns:xml="urn:example:xml"`), unreadableXML},
			changedDocument{"prefix xmlns declared", enveloped, after("<contract", ` xmlns:xmlns="urn:example:xmlns"`), unreadableXML},
			changedDocument{"prefix without a declaration", enveloped, after("<price", ` p:vat="0"`), unreadableXML},
			changedDocument{"attribute twice", enveloped, after("<price", ` currency="EUR"`), unreadableXML},
			changedDocument{"attribute twice, by two prefixes of one namespace", enveloped, after("<price", ` xmlns:p="urn:p" xmlns:q="urn:p" p:vat="0" q:vat="1"`), unreadableXML},
			changedDocument{"attribute of a prefix beside one without", enveloped, after("<price", ` xmlns:p="urn:p" p:currency="EUR"`), hashFailure},
			changedDocument{"two colons in a name", enveloped, after("<price", ` a:b:c="0"`), unreadableXML},
			changedDocument{"end tag of another prefix", enveloped, replace("</price>", "</:price>"), unreadableXML},
			changedDocument{"prefix in a value, of another namespace", enveloped, all(signsPrefixed(""), replace(`xmlns:p="urn:p"`, `xmlns:p="urn:q"`)), hashFailure},
			changedDocument{"prefix in a value that the signer does not list, of another namespace", enveloped, all(signsPrefixed("p"), replace(`xmlns:p="urn:p"`, `xmlns:p="urn:q"`)), "TRY_LATER WHOLE_DOCUMENT intact warning, passes"},
			changedDocument{"character that XML does not allow", enveloped, replace("250000", "250000\x00"), unreadableXML},
			changedDocument{"reference to a character that XML does not allow", enveloped, replace("250000", "250000&#0;"), unreadableXML},
			changedDocument{"reference with a sign", enveloped, replace("250000", "&#+50;50000"), unreadableXML},
			changedDocument{"version 1.1", enveloped, before("<contract ", `<?xml version="1.1"?>`), unreadableXML},
			changedDocument{"another encoding declared", enveloped, before("<contract ", `<?xml version="1.0" encoding="UTF-16"?>`), unreadableXML},
			changedDocument{"UTF-7 declared", enveloped, before("<contract ", `<?xml version="1.0" encoding="UTF-7"?>`), unreadableXML},
			changedDocument{"characters in a longer form than UTF-8 permits", enveloped, replace("250000", "250000\xc0\xb0"), unreadableXML},
			changedDocument{"signature in a comment, another contract", enveloped, all(before("<ds:Signature ", "<!--"), after(signatureEnd, "-->")), noSignature},
		),
		of(commentedText,
			changedDocument{"comment in the price", enveloped, replace("250000", "25<!-- -->0000"), "TRY_LATER WHOLE_DOCUMENT intact warning, passes"},
			changedDocument{"instruction in the price", enveloped, replace("250000", "25<?p?>0000"), hashFailure},
			changedDocument{"CDATA section in the price", enveloped, replace("250000", "25<![CDATA[0000]]>"), passes},
			changedDocument{"element in the price", enveloped, replace("250000", "25<p/>0000"), hashFailure},
			changedDocument{"character reference in the price", enveloped, replace("250000", "&#50;50000"), passes},
		),
	)
}

// nothing is the digest of no octets in Base64.
var nothing = func() string { sum := sha256.Sum256(nil); return base64.StdEncoding.EncodeToString(sum[:]) }()

// digestOfNothing has the first reference's digest be that of no octets.
var digestOfNothing = substitute(digestValue, "<ds:DigestValue>"+nothing+"</ds:DigestValue>")

// transformAttacks have the digest be of something else than the document.
func transformAttacks() []attack {
	instead := func(transforms string) change {
		return all(replace(filterTransform+prefixTransform, transforms), digestOfNothing, revalue)
	}
	xpath := func(expression string) string {
		return `<ds:Transform Algorithm="http://www.w3.org/TR/1999/REC-xpath-19991116"><ds:XPath>` + expression + `</ds:XPath></ds:Transform>`
	}
	of2 := func(old, by string) change { return signs(replace(old, by)) }
	return slices.Concat(
		of(noCanonicalForm,
			changedDocument{"relative namespace in the document", enveloped, all(after("<contract", ` xmlns:p="p" p:q="1"`), digestOfNothing, revalue), notFormatted},
			changedDocument{"relative namespace around SignedInfo", enveloped, valueOfNothing, "FORMAT_FAILURE WHOLE_DOCUMENT"},
			changedDocument{"unknown canonicalization of SignedInfo", enveloped, all(replace(`<ds:CanonicalizationMethod Algorithm="`, `<ds:CanonicalizationMethod Algorithm="urn:`)), notFound},
			changedDocument{"digest of nothing", enveloped, all(digestOfNothing, revalue), hashFailure},
		),
		of(nothingSelected,
			changedDocument{"expression that is false", enveloped, instead(xpath("false()") + exclusiveTransform), notFound},
			changedDocument{"filter that subtracts all", enveloped, instead(strings.Replace(filterTransform, "/descendant::ds:Signature", "/", 1) + exclusiveTransform), notFound},
			changedDocument{"the signature without itself", enveloped, all(edit(documentReference, func(s string) string {
				return strings.Replace(strings.Replace(s, `URI=""`, `URI="#SELF"`, 1), filterTransform, ownTransform, 1)
			}), selfReference, digestOfNothing, revalue), notFound},
			changedDocument{"Base64 of an element without text", detached, all(substitute(documentReference, strings.Replace(referenceTo("", "#empty", base64Transform), "AAAA", nothing, 1)),
				before("<signed-document ", `<price Id="empty" amount="1"></price>`), revalue), partial},
			changedDocument{"empty URI with a fragment sign", enveloped, all(replace(`URI=""`, `URI="#"`), digestOfNothing, revalue), notFound},
			changedDocument{"XPointer that selects nothing", enveloped, all(replace(`URI=""`, `URI="#xpointer(/none)"`), digestOfNothing, revalue), notFound},
			changedDocument{"canonicalization twice", enveloped, instead(exclusiveTransform + exclusiveTransform), notFound},
		),
		of(code,
			changedDocument{"stylesheet in the reference", enveloped, of2(filterTransform, styleTransform), notFound},
			changedDocument{"stylesheet in KeyInfo", enveloped, after("<ds:KeyInfo>", `<ds:RetrievalMethod URI="#k"><ds:Transforms>`+styleTransform+`</ds:Transforms></ds:RetrievalMethod>`), passes},
			changedDocument{"expression with variables", enveloped, of2(filterTransform, xpath("count(//*/ancestor-or-self::*)=1")), notFound},
		),
		of(outside,
			changedDocument{"URI of a server", enveloped, of2(`URI=""`, `URI="http://example.org/"`), notFound},
			changedDocument{"URI of a file", enveloped, of2(`URI=""`, `URI="file:///etc/passwd"`), notFound},
			changedDocument{"relative URI", enveloped, of2(`URI=""`, `URI="contract.xml"`), notFound},
			changedDocument{"no URI", enveloped, of2(` URI=""`, ``), notFound},
			changedDocument{"KeyInfoReference to a file", enveloped, after("<ds:KeyInfo>", `<d:KeyInfoReference xmlns:d="http://www.w3.org/2009/xmldsig11#" URI="file:///etc/passwd"/>`), passes},
			changedDocument{"inclusion of a file", enveloped, before("<price ", `<i:include xmlns:i="http://www.w3.org/2001/XInclude" href="file:///etc/hostname" parse="text"/>`), hashFailure},
		),
	)
}

const base64Transform = `<ds:Transform Algorithm="http://www.w3.org/2000/09/xmldsig#base64"></ds:Transform>`

// selfReference has the URI "#SELF" name the signature.
func selfReference(t testing.TB, p person, b []byte) []byte {
	t.Helper()
	return replace(`URI="#SELF"`, `URI="#`+string(signatureID.Find(b))+`"`)(t, p, b)
}

// valueOfNothing puts a relative namespace around SignedInfo, which is canonicalized with it, and has the value be over
// no octets.
func valueOfNothing(t testing.TB, p person, b []byte) []byte {
	t.Helper()
	b = all(after("<contract", ` xmlns:p="p"`), replace(`<ds:CanonicalizationMethod Algorithm="`+exclusiveMethod, `<ds:CanonicalizationMethod Algorithm="http://www.w3.org/TR/2001/REC-xml-c14n-20010315`))(t, p, b)
	return fill(b, childOf(xmldsig.Find(parse(t, b))[0], "SignatureValue"), valueOver(t, p, nil))
}

// keyAttacks have the value verified with something else than the key of the signer.
func keyAttacks() []attack {
	method := `xmldsig-more#ecdsa-sha256`
	return slices.Concat(
		of(keyOfDocument,
			changedDocument{"signed by the attacker", enveloped, byAttacker(func(attacker person) change { return attacker.signsForged }), "NO_CERTIFICATE_CHAIN_FOUND WHOLE_DOCUMENT intact"},
			changedDocument{"value of the attacker", enveloped, byAttacker(func(attacker person) change { return attacker.resigns }), wrongValue},
			changedDocument{"value and certificate of the attacker, first", enveloped, byAttacker(func(attacker person) change {
				return all(attacker.resigns, after("<ds:X509Data>", certificateOf(attacker)))
			}), wrongValue},
			changedDocument{"value and certificate of the attacker alone", enveloped, byAttacker(func(attacker person) change {
				return all(attacker.resigns, substitute(keyInfo, "<ds:KeyInfo><ds:X509Data>"+certificateOf(attacker)+"</ds:X509Data></ds:KeyInfo>"))
			}), noSigner + " intact"},
			changedDocument{"value and KeyValue of the attacker", enveloped, byAttacker(func(attacker person) change {
				return all(attacker.resigns, after("<ds:KeyInfo>", keyValueOf(attacker)))
			}), wrongValue},
			changedDocument{"KeyInfo removed", enveloped, substitute(keyInfo, ""), noSigner},
			changedDocument{"certificates in another order", enveloped, substitute(regexp.MustCompile(`(<ds:X509Certificate>[^<]*</ds:X509Certificate>)(.*)</ds:X509Data>`), "$2$1</ds:X509Data>"), passes},
		),
		of(symmetric,
			changedDocument{"key is the certificate", enveloped, hmacWith(func(p person) []byte { return p.signer.Certificate.Raw }, ""), unsupported},
			changedDocument{"key is the public key", enveloped, hmacWith(func(p person) []byte { return p.signer.Certificate.RawSubjectPublicKeyInfo }, ""), unsupported},
			changedDocument{"key is empty", enveloped, hmacWith(func(person) []byte { return nil }, ""), unsupported},
			changedDocument{"value of no bits", enveloped, hmacWith(func(person) []byte { return nil }, "<ds:HMACOutputLength>0</ds:HMACOutputLength>"), unsupported},
		),
		of(algorithmExchanged,
			changedDocument{"r and s zero", enveloped, all(replace("250000", "1"), resign, substitute(signatureValue, "${1}"+base64.StdEncoding.EncodeToString(make([]byte, 64)))), wrongValue},
			changedDocument{"method of another key", enveloped, signs(replace(method, `xmldsig-more#rsa-sha256`)), "CRYPTO_CONSTRAINTS_FAILURE_NO_POE WHOLE_DOCUMENT"},
			changedDocument{"no method", enveloped, signs(replace(`Algorithm="http://www.w3.org/2001/04/`+method+`"`, "")), unsupported},
			changedDocument{"method with SHA-1 for a value with SHA-256", enveloped, replace(method, `xmldsig-more#ecdsa-sha1`), wrongValue},
			changedDocument{"MD5 for the document", enveloped, all(edit(documentReference, func(s string) string {
				return strings.Replace(s, sha256Method, `<ds:DigestMethod Algorithm="http://www.w3.org/2001/04/xmldsig-more#md5"></ds:DigestMethod>`, 1)
			}), revalue), unsupported},
		),
	)
}

// byAttacker applies a change that an attacker makes with a key and a certificate of an authority that is not trusted.
func byAttacker(with func(attacker person) change) change {
	return func(t testing.TB, p person, b []byte) []byte {
		t.Helper()
		return with(newPerson(t, catest.New(t), p256(t)))(t, p, b)
	}
}

// signsForged returns another contract, with the signature of q.
func (q person) signsForged(t testing.TB, _ person, _ []byte) []byte {
	t.Helper()
	return sign(t, []byte(forged), q, xades.Options{})
}

// resigns changes the price, and has q compute the digests and the value again.
func (q person) resigns(t testing.TB, p person, b []byte) []byte {
	t.Helper()
	return resign(t, q, replace("250000", "1")(t, p, b))
}

func certificateOf(p person) string {
	return "<ds:X509Certificate>" + base64.StdEncoding.EncodeToString(p.signer.Certificate.Raw) + "</ds:X509Certificate>"
}

// keyValueOf returns a KeyValue with a key of the curve P-256 (xmldsig-core1 4.5.2.3).
func keyValueOf(p person) string {
	info := p.signer.Certificate.RawSubjectPublicKeyInfo
	point := base64.StdEncoding.EncodeToString(info[len(info)-65:])
	return `<ds:KeyValue><d:ECKeyValue xmlns:d="http://www.w3.org/2009/xmldsig11#"><d:NamedCurve URI="urn:oid:1.2.840.10045.3.1.7"/><d:PublicKey>` +
		point + "</d:PublicKey></d:ECKeyValue></ds:KeyValue>"
}

// hmacWith changes the price, and has the value be an HMAC with a key that is public, and a parameter of the method.
func hmacWith(key func(p person) []byte, parameter string) change {
	return func(t testing.TB, p person, b []byte) []byte {
		t.Helper()
		b = all(replace("250000", "1"), replace(`xmldsig-more#ecdsa-sha256">`, `xmldsig-more#hmac-sha256">`+parameter), resign)(t, p, b)
		mac := hmac.New(sha256.New, key(p))
		mac.Write(signedInfo(t, b))
		sum := mac.Sum(nil)
		if parameter != "" {
			sum = nil
		}
		return fill(b, childOf(xmldsig.Find(parse(t, b))[0], "SignatureValue"), base64.StdEncoding.EncodeToString(sum))
	}
}
