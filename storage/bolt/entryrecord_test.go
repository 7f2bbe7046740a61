package bolt

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var entryRows = map[string]row[entryRecord]{
	"usual": {7, entryRecord{7, "98c41a1f-b793-439e-aab2-5e291aaaf507", "a9793346-bc3f-4d90-a30e-9699f5c7e15a", "signature.asked",
		time.Date(2026, 11, 28, 20, 52, 0, 508310000, time.UTC), []byte(`{"level": "LT"}`)}},
	"empty":           {1, entryRecord{Facts: []byte{}}},
	"no usual UUID":   {300, entryRecord{299, "98C41A1F-B793-439E-AAB2-5E291AAAF507", "{a9793346-bc3f-4d90-a30e-9699f5c7e15a}", "k", time.Unix(0, 1).UTC(), []byte("{}")}},
	"long, in a zone": {1, entryRecord{1, strings.Repeat("þ", 300), "\x00", "k", time.Date(2026, 11, 28, 1, 0, 0, 0, time.FixedZone("", 3600)), bytes.Repeat([]byte(" "), 9000)}},
}

// A record of the evidence log is read as it was written, and as versions before wrote it.
func TestEntryRecords(t *testing.T) {
	for name, want := range entryRows {
		t.Run(name, func(t *testing.T) {
			encoded, err := encodeEntry(&want)
			if err != nil {
				t.Fatal(err)
			}
			asJSON, err := json.Marshal(want)
			if err != nil {
				t.Fatal(err)
			}
			if len(encoded) >= len(asJSON) {
				t.Errorf("it has %d bytes, and %d in JSON", len(encoded), len(asJSON))
			}
			for form, p := range map[string][]byte{"new": encoded, "JSON": asJSON} {
				got, err := decodeEntry(p)
				if diff := cmp.Diff(want, got); diff != "" || err != nil {
					t.Errorf("%s (-want +got):\n%s%v", form, diff, err)
				}
			}
			facts := len(want.Record.Facts)
			for i := range len(encoded) - facts {
				if _, err := decodeEntry(encoded[:i]); err == nil {
					t.Errorf("it is read without its bytes from %d on", i)
				}
			}
		})
	}
}

func FuzzEntryRecord(f *testing.F) {
	for _, r := range entryRows {
		p, err := encodeEntry(&r)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(p)
	}
	f.Add([]byte(`{"seq":1}`))
	f.Add([]byte{2})
	f.Fuzz(func(t *testing.T, p []byte) {
		r, err := decodeEntry(p)
		if err != nil {
			return
		}
		again, err := encodeEntry(&r)
		if err != nil {
			return // a time in a zone that has none
		}
		if same, err := decodeEntry(again); err != nil || !cmp.Equal(r, same, cmpopts.EquateEmpty()) {
			t.Errorf("%+v is read as %+v, %v", r, same, err)
		}
	})
}
