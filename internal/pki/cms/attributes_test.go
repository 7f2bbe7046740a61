package cms

import (
	"bytes"
	"crypto"
	"encoding/asn1"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/crypto/cryptobyte"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// The package does not parse tokens: any SEQUENCE is accepted.
var (
	firstToken  = []byte{0x30, 3, 2, 1, 1}
	secondToken = []byte{0x30, 3, 2, 1, 2}
)

// TestSignatureTimestamps checks that a timestamp is an unsigned attribute, which may occur several times up to a limit
// (EN 319 122-1 5.3).
func TestSignatureTimestamps(t *testing.T) {
	p := newP256Signer(t).detached(t, document)
	if got := mustParse(t, mustMarshal(t, p)).SignatureTimestamps(); got != nil {
		t.Errorf("without timestamp: got %x", got)
	}
	p.SignatureTimestamp = firstToken
	sd := mustParse(t, mustMarshal(t, p))
	if diff := cmp.Diff([][]byte{firstToken}, sd.SignatureTimestamps()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if err := sd.Verify(sum(crypto.SHA256, document)); err != nil || !bytes.Equal(sd.Value, p.Value) {
		t.Errorf("got value %x, want %x: %v", sd.Value, p.Value, err)
	}
	first, err := marshalSignatureTimestamp(firstToken)
	testenv.NoError(t, err)
	second, err := marshalSignatureTimestamp(secondToken)
	testenv.NoError(t, err)
	sd.unsigned, err = parseAttributes(slices.Concat(first, second))
	if diff := cmp.Diff([][]byte{firstToken, secondToken}, sd.SignatureTimestamps()); diff != "" || err != nil {
		t.Errorf("%v, -want +got:\n%s", err, diff)
	}
	for n, want := range map[int]error{maxAttributes: nil, maxAttributes + 1: ErrFormat} {
		if _, err := parseAttributes(bytes.Repeat(first, n)); !errors.Is(err, want) {
			t.Errorf("%d attributes: got %v, want %v", n, err, want)
		}
	}
	for name, token := range map[string][]byte{
		"empty":        {},
		"two elements": slices.Concat(firstToken, secondToken),
		"truncated":    firstToken[:4],
		"no SEQUENCE":  {2, 1, 1},
	} {
		p.SignatureTimestamp = token
		if _, err := Marshal(p); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: got %v, want ErrFormat", name, err)
		}
	}
}

// TestProfiles checks which attributes make a signature advanced or baseline (EN 319 122-1 5.2.2, EN 319 142-1 6.3), and
// which requirements of the PDF SubFilters it meets (ISO 32000-1 12.8.3.3.1).
func TestProfiles(t *testing.T) {
	sd := mustParse(t, mustMarshal(t, newP256Signer(t).detached(t, document)))
	with := func(oid asn1.ObjectIdentifier) *SignedData {
		changed := *sd
		changed.attributes = append(slices.Clip(sd.attributes), parsedAttribute{oid, []cryptobyte.String{{5, 0}}})
		return &changed
	}
	twoSigners, withContent := *sd, *sd
	twoSigners.oneSigner = false
	withContent.Content = make([]byte, 20)
	type profile struct{ Advanced, Baseline, Digest, DigestContent, SigningTime, Policy, Commitment bool }
	for name, test := range map[string]struct {
		sd   *SignedData
		want profile
	}{
		"as written":                {sd, profile{Advanced: true, Baseline: true, Digest: true}},
		"signing time":              {with(oidSigningTime), profile{Advanced: true, Digest: true, SigningTime: true}},
		"signature policy":          {with(oidSignaturePolicy), profile{Advanced: true, Baseline: true, Digest: true, Policy: true}},
		"commitment":                {with(oidCommitment), profile{Advanced: true, Baseline: true, Digest: true, Commitment: true}},
		"both signing certificates": {with(oidSigningCertificate), profile{Digest: true}},
		"two signers":               {&twoSigners, profile{Digest: true}},
		"digest as content":         {&withContent, profile{DigestContent: true}},
	} {
		got := profile{
			test.sd.IsAdvanced(), test.sd.IsBaseline(), test.sd.HasDigest(), test.sd.HasDigestContent(),
			test.sd.HasSigningTime(), test.sd.HasPolicy(), test.sd.HasCommitment(),
		}
		if got != test.want {
			t.Errorf("%s: got %+v, want %+v", name, got, test.want)
		}
	}
}

// TestHasSignerCertificate also finds a signer's certificate that Go cannot parse.
func TestHasSignerCertificate(t *testing.T) {
	s := newP256Signer(t)
	sd := mustParse(t, mustMarshal(t, s.detached(t, document)))
	unparsed := *sd
	unparsed.Certificates, unparsed.unparsed = nil, [][]byte{{1}, s.Certificate.Raw}
	if !sd.HasSignerCertificate() || !unparsed.HasSignerCertificate() {
		t.Error("the signer's certificate is not found")
	}
	unparsed.unparsed = [][]byte{{1}}
	if unparsed.HasSignerCertificate() {
		t.Error("a certificate is found that is not the signer's")
	}
}

// TestArchivedRevocation reads the adbe-revocationInfoArchival attribute (ISO 32000-1 12.8.3.3.2).
func TestArchivedRevocation(t *testing.T) {
	explicit := func(n byte, der ...byte) []byte {
		return appendTLV(nil, []byte{0xa0 | n}, appendTLV(nil, []byte{0x30}, der))
	}
	list, response := []byte{0x30, 1, 1}, []byte{0x30, 1, 2}
	for name, test := range map[string]struct {
		value            []byte
		lists, responses [][]byte
	}{
		"lists and responses": {append(explicit(0, append(list, list...)...), explicit(1, response...)...), [][]byte{list, list}, [][]byte{response}},
		"responses":           {explicit(1, response...), nil, [][]byte{response}},
		"empty":               {nil, nil, nil},
		"malformed":           {explicit(0, 4, 1), nil, nil},
	} {
		value := cryptobyte.String(appendTLV(nil, []byte{0x30}, test.value))
		sd := SignedData{attributes: []parsedAttribute{{oidRevocationArchival, []cryptobyte.String{value}}}}
		lists, responses := sd.ArchivedRevocation()
		if !slices.EqualFunc(lists, test.lists, bytes.Equal) || !slices.EqualFunc(responses, test.responses, bytes.Equal) {
			t.Errorf("%s: got %x and %x, want %x and %x", name, lists, responses, test.lists, test.responses)
		}
	}
	if lists, responses := new(SignedData).ArchivedRevocation(); lists != nil || responses != nil {
		t.Errorf("without attribute: got %x and %x", lists, responses)
	}
}
