package tsp_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/innsigli/innsigli/internal/pki/cms"
	"github.com/innsigli/innsigli/internal/pki/tsp"
	testenv "github.com/innsigli/innsigli/internal/test/env"
)

var contents = regexp.MustCompile(`/Contents\s*<([0-9A-Fa-f]{1000,})>`)

// foreignTokens are those of the signed PDFs: document timestamps, and timestamps of
// signatures.
func foreignTokens(t *testing.T) map[string][]byte {
	t.Helper()
	tokens := make(map[string][]byte)
	files, err := filepath.Glob(filepath.Join(testenv.Corpus(t, "signed/pdf"), "*.pdf"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i, match := range contents.FindAllSubmatch(content, -1) {
			der, err := hex.DecodeString(string(match[1]))
			if err != nil {
				continue
			}
			name := fmt.Sprintf("%s %d", filepath.Base(file), i)
			if signed, err := cms.Parse(der); err == nil {
				for j, token := range signed.SignatureTimestamps() {
					tokens[fmt.Sprintf("%s.%d", name, j)] = token
				}
			} else if _, err := tsp.ParseToken(der); err == nil {
				tokens[name] = der
			}
		}
	}
	return tokens
}

// Tokens that others made verify as openssl has it. Their chains are left aside: it is
// handed what they carry.
func TestForeignTokens(t *testing.T) {
	openssl := testenv.Program(t, "openssl")
	tokens := foreignTokens(t)
	if len(tokens) < 50 {
		t.Fatalf("only %d tokens found in the corpus", len(tokens))
	}
	verified := 0
	for name, der := range tokens {
		token, err := tsp.ParseToken(der)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		f := folder{t, t.TempDir()}
		out, refusal := exec.Command(openssl, "ts", "-verify", "-token_in", "-in", f.write("token", token.Raw),
			"-digest", hex.EncodeToString(token.Sum), "-CAfile", f.writePEM("certs.pem", token.Certificates...),
			"-partial_chain", "-attime", fmt.Sprint(token.Time.Unix())).CombinedOutput()
		if refusal != nil && bytes.Contains(out, []byte("asn1 encoding routines")) {
			refusal = nil // openssl cannot read an attribute
		}
		switch err := token.Verify(); {
		case err == nil && refusal == nil:
			verified++
		case err == nil:
			t.Errorf("%s: openssl refuses: %s", name, out)
		case refusal == nil:
			t.Errorf("%s: %v", name, err)
		case errors.Is(err, tsp.ErrFormat):
			t.Errorf("%s: both refuse, we for its form: %v", name, err)
		}
	}
	t.Logf("%d of %d foreign tokens verify", verified, len(tokens))
}
