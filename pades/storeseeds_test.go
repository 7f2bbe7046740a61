package pades_test

import "strings"

// storeSeeds are stores as they are, as they may be, and as they should not be.
func storeSeeds() []string {
	const whole = "<< /Type /DSS /Certs [900 0 R] /OCSPs [901 0 R] /CRLs [902 0 R] >>"
	const streams = "\n~\n$issuing\n~\n$good\n~\n$list /Filter /FlateDecode"
	return []string{
		"11 0 R", // the first signature
		"<< /VRI 11 0 R >>",
		"<< / 1 0 R >>", // the catalog
		whole + streams,
		strings.ReplaceAll(whole, "Type", "Typ") + streams,
		"900 0 R\n~\n<< /Certs 901 0 R /OCSPs 902 0 R /CRLs 903 0 R >>\n~\n[]\n~\n[904 0 R]\n~\n[905 0 R]\n~\n$good\n~\n$list",
		// What says something else than it should.
		"<< /OCSPs [900 0 R 901 0 R 902 0 R] /CRLs [903 0 R 904 0 R] >>\n~\n$stale\n~\n$revoked\n~\n$strangers\n~\n$strangerslist\n~\n$list",
		"<< /OCSPs [900 0 R] /CRLs [901 0 R] >>\n~\n$stale\n~\n$list",
		"<< /Certs [900 0 R 901 0 R 901 0 R] /OCSPs [902 0 R] /CRLs [901 0 R] >>\n~\n$other\n~\n$strangerslist\n~\n$strangers",
		"<< /Certs [900 0 R] /OCSPs [901 0 R] /CRLs [901 0 R] >>\n~\n$good\n~\n$issuing",
		"<< /Certs [900 0 R] /OCSPs [900 0 R] >>\n~\n$list",
		"<< /OCSPs [900 0 R] >>\n~\n$good",
		"<< /CRLs [900 0 R] >>\n~\n$list",
		// Arrays that are one, that contain themselves, and that are none.
		"<< /Certs 900 0 R /OCSPs 900 0 R /CRLs 900 0 R >>\n~\n[901 0 R 902 0 R 903 0 R]\n~\n$issuing\n~\n$good\n~\n$list",
		"<< /Certs 900 0 R /OCSPs 901 0 R /CRLs 902 0 R >>\n~\n[900 0 R [900 0 R]]\n~\n902 0 R\n~\n901 0 R",
		"<< /Certs << >> /OCSPs (x) /CRLs 900 0 R >>\n~\n$list",
		// References to nothing: to null, to no object, and by way of another.
		"<< /OCSPs 900 0 R >>\n~\nnull", "<< /OCSPs 900 0 R >>\n~\n901 0 R\n~\nnull", "<< /OCSPs 900 0 R >>\n~\n999 0 R",
		"<< /VRI 900 0 R >>\n~\n901 0 R\n~\nnull",
		"<< /OCSPs [null 5 (x) /N [] << >> 900 0 R] /CRLs [999 0 R 1 0 R 0 0 R] >>\n~\n$good",
		"900 0 R\n~\n900 0 R",
		"900 0 R\n~\n$good /OCSPs [900 0 R]",
		"null", "[]", "5", "(x)", "1 0 R",
		// Streams that cannot be read, or only with care.
		"<< /OCSPs [900 0 R 901 0 R 902 0 R 903 0 R 904 0 R] /CRLs [905 0 R 906 0 R] >>\n~\n$good /Filter /ASCIIHexDecode\n~\n" +
			"$good /Filter [/FlateDecode /FlateDecode]\n~\n$good /Filter /Crypt\n~\n$good /F (elsewhere)\n~\n$good /Length 99999\n~\n" +
			"$list /Filter /FlateDecode /DecodeParms << /Predictor 12 /Columns 4 >>\n~\n<< /Length 905 0 R >>\nstream\n$list\nendstream",
		// The dictionary for each signature, which proves nothing.
		"<< /VRI << /0123 << /Cert [900 0 R] /OCSP 5 /TU (x) /TS 900 0 R >> /#00 900 0 R / 901 0 R /VRI 902 0 R >> /OCSPs [900 0 R] /CRLs [903 0 R] >>" +
			"\n~\n$good\n~\n<< /CRL 901 0 R >>\n~\n[902 0 R]\n~\n$list",
		"<< /VRI 900 0 R /Certs [] >>\n~\n<< /VRI 900 0 R >>",
		"<< /VRI [900 0 R] >>\n~\n$good",
		// More than anybody has.
		"<< /Certs [" + strings.Repeat("900 0 R ", 5000) + "] /OCSPs [" + strings.Repeat("999 0 R ", 1000) + "] >>\n~\n$issuing",
		"<< /CRLs [" + strings.Repeat("5 ", 5000) + "900 0 R] >>\n~\n$list",
	}
}
