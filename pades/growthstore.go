package pades

import "github.com/innsigli/innsigli/internal/pdf"

// plainStore reports whether a document security store has what ISO 32000-2 tables 261 and 262 say and nothing else,
// which could be meant for another reader.
func plainStore(file *pdf.File, o pdf.Object) (bool, error) {
	dict, err := file.Dict(o)
	if err != nil || !same(dict, nil, "Type", "Certs", "OCSPs", "CRLs", "VRI") {
		return false, err
	}
	if ok, err := areStreams(file, dict["Certs"], dict["OCSPs"], dict["CRLs"]); !ok || err != nil {
		return false, err
	}
	vri, err := file.Dict(dict["VRI"])
	if err != nil {
		return false, err
	}
	for key, entry := range vri {
		if key == "Type" { // that of its entries (table 262), which some writers give the dictionary around them too
			if _, err := file.Name(entry); err != nil {
				return false, err
			}
			continue
		}
		about, err := file.Dict(entry)
		if err != nil || !same(about, nil, "Type", "Cert", "OCSP", "CRL", "TU", "TS") {
			return false, err
		}
		if ok, err := areStreams(file, about["Cert"], about["OCSP"], about["CRL"]); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

// areStreams says whether arrays have streams in them and nothing else.
func areStreams(file *pdf.File, arrays ...pdf.Object) (bool, error) {
	for _, o := range arrays {
		array, err := file.Array(o)
		if err != nil {
			return false, err
		}
		for _, entry := range array {
			if stream, err := file.StreamObject(entry); stream == nil || err != nil {
				return false, err
			}
		}
	}
	return true, nil
}
