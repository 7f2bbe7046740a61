package xades

import "time"

// signatureProperties are what is said of the signature (EN 319 132-1 5.2.1, 5.2.2, 5.2.5), in the order
// of the schema.
func signatureProperties(o Options, certificate string) string {
	return element("xades:SignedSignatureProperties", nil,
		element("xades:SigningTime", nil, o.Time.UTC().Format(time.RFC3339)),
		element("xades:SigningCertificateV2", nil,
			element("xades:Cert", nil, element("xades:CertDigest", nil, certificate))),
		place(o))
}

// place is where somebody signed, if that is said.
func place(o Options) string {
	if o.City == "" && o.Country == "" {
		return ""
	}
	return element("xades:SignatureProductionPlaceV2", nil,
		optional("xades:City", o.City), optional("xades:CountryName", o.Country))
}

func optional(name, content string) string {
	if content == "" {
		return ""
	}
	return element(name, nil, escape(content))
}

// approval is the commitment that a reason describes (EN 319 132-1 5.2.3, TS 119 172-1 B.1).
const approval = "http://uri.etsi.org/01903/v1.2.2#ProofOfApproval"

// dataProperties are what is said of the document (EN 319 132-1 5.2.4, 5.2.3).
func dataProperties(o Options, r reference, x ids) string {
	commitment := ""
	if o.Reason != "" {
		commitment = element("xades:CommitmentTypeIndication", nil,
			element("xades:CommitmentTypeId", nil,
				element("xades:Identifier", nil, approval),
				element("xades:Description", nil, escape(o.Reason))),
			element("xades:AllSignedDataObjects", nil))
	}
	return element("xades:SignedDataObjectProperties", nil,
		element("xades:DataObjectFormat", attributes{"ObjectReference", "#" + x.reference()},
			element("xades:MimeType", nil, mimeType), optional("xades:Encoding", r.encoding)),
		commitment)
}

// mimeType is that of every document.
const mimeType = "text/xml"
