package audkenni

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/big"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/graphemes"
)

// The number of characters that Auðkenni's app shows of a text (spec 3.2) and of a long text.
const (
	maxText     = 60
	maxLongText = 200
)

// The placeholders of a template.
const (
	codePlaceholder     = "{code}"
	documentPlaceholder = "{document}"
)

// fill replaces the placeholders of a template. It truncates the document's name, which must be one line, so that the
// result has at most limit characters.
func fill(template, code, document string, limit int) string {
	available := limit - utf8.RuneCountInString(strings.NewReplacer(codePlaceholder, code, documentPlaceholder, "").Replace(template))
	return strings.NewReplacer(codePlaceholder, code, documentPlaceholder, truncate(document, available)).Replace(template)
}

// truncate returns the first characters of s: at most limit code points, without splitting a grapheme cluster (UAX #29
// 3), such as a letter and its combining accent.
func truncate(s string, limit int) string {
	end, length := 0, 0
	for clusters := graphemes.FromString(s); clusters.Next(); end = clusters.End() {
		if length += utf8.RuneCountInString(clusters.Value()); length > limit {
			break
		}
	}
	return s[:end]
}

// singleLine replaces control characters and line breaks by spaces, since the phone does not allow them. It removes
// characters that change the direction of writing, so that a name cannot be displayed as another.
func singleLine(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Bidi_Control, r):
			return -1
		case unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp):
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, string(utf8.RuneError)))
}

// VerificationCode returns the 4 digits that the app shows for a digest: the last two bytes of the SHA-256 of the
// digest, modulo 10000 (Auðkenni, page 5579735042). The hash is SHA-256 for digests of all algorithms.
func VerificationCode(sum []byte) string {
	h := sha256.Sum256(sum)
	return fourDigits(uint64(binary.BigEndian.Uint16(h[len(h)-2:])) % 10000)
}

// drawCode draws the code of a conversation with the SIM, for which Auðkenni has no code.
func drawCode() (string, error) {
	n, err := rand.Int(rand.Reader, big.NewInt(10000))
	if err != nil {
		return "", fmt.Errorf("audkenni: drawing a verification code: %w", err)
	}
	return fourDigits(n.Uint64()), nil
}

func fourDigits(n uint64) string { return fmt.Sprintf("%04d", n) }
