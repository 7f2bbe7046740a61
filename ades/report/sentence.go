package report

import "regexp"

// prefixes say which package an error is of, at its beginning or where it wraps another, and that a document cannot
// be read, which the text says in its own words.
var prefixes = regexp.MustCompile(
	`(^|: |[;\n] ?)(?:(?:ades|cms|crl|ocsp|online|pades|pdf|tsp|validation|xades|xmldoc|xmldsig|document cannot be read): )+`)

// sentence is what the validation says it found, for people: without what only who has the source makes something of.
func sentence(text string) string { return clean(prefixes.ReplaceAllString(text, "$1"), mostDetail) }
