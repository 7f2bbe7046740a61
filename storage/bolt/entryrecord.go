package bolt

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/innsigli/innsigli/storage"
)

type entryRecord struct {
	Seq     int64     `json:"seq"`
	Subject string    `json:"subject"`
	Account string    `json:"account"`
	Kind    string    `json:"kind"`
	At      time.Time `json:"at"`
	// Facts are bytes here, because encoding/json writes a RawMessage anew and what is
	// evidence stays as it was recorded.
	Facts []byte `json:"facts"`
}

// entry returns the entry of a record, with its salt.
func (r entryRecord) entry(tx *boltTx, id []byte) storage.Entry {
	e := storage.Entry{Seq: r.Seq, Subject: r.Subject, Account: r.Account, Kind: r.Kind, At: r.At, Facts: r.Facts}
	if salt := saltBucket.get(tx).Get(id); salt != nil {
		e.Salt = append([]byte(nil), salt...)
	}
	return e
}

// entryForm is the first byte of a record of the evidence log, which most records of a store are. In JSON, which versions
// 5 and before wrote, a record begins with "{" and takes half as much space again. After the first byte come:
//
//   - the record's place in the order of creation, and its Seq, both as unsigned varints
//   - Subject, Account and Kind, each as an unsigned varint and its bytes. The varint is 0 for a UUID in its usual form,
//     which takes 16 bytes, and else 1 more than the number of bytes.
//   - At, as a byte with the length of what time.Time.MarshalBinary returns, and that
//   - Facts, to the end
const entryForm = 1

var errEntryForm = errors.New("a record of the evidence log is cut off or of an unknown form")

// encodeEntry returns the stored form of a record.
func encodeEntry(r *row[entryRecord]) ([]byte, error) {
	e := r.Record
	at, err := e.At.MarshalBinary()
	if err != nil {
		return nil, fmt.Errorf("the time of an entry: %w", err)
	}
	p := make([]byte, 0, 128+len(e.Facts))
	p = append(p, entryForm)
	p = binary.AppendUvarint(p, r.Seq)
	p = binary.AppendUvarint(p, uint64(e.Seq))
	for _, text := range []string{e.Subject, e.Account, e.Kind} {
		if id, err := uuid.Parse(text); err == nil && id.String() == text {
			p = append(append(p, 0), id[:]...)
			continue
		}
		p = append(binary.AppendUvarint(p, uint64(len(text))+1), text...)
	}
	p = append(append(p, byte(len(at))), at...)
	return append(p, e.Facts...), nil
}

// decodeEntry is the inverse of encodeEntry, and reads JSON too.
func decodeEntry(p []byte) (r row[entryRecord], err error) {
	if len(p) > 0 && p[0] == '{' {
		return r, json.Unmarshal(p, &r)
	}
	d := entryDecoder{rest: p}
	if form := d.bytes(1); d.err == nil && form[0] != entryForm {
		d.err = errEntryForm
	}
	r.Seq = d.number()
	r.Record.Seq = int64(d.number())
	r.Record.Subject, r.Record.Account, r.Record.Kind = d.text(), d.text(), d.text()
	if size := d.bytes(1); d.err == nil {
		if at := d.bytes(uint64(size[0])); d.err == nil {
			d.err = r.Record.At.UnmarshalBinary(at)
		}
	}
	r.Record.Facts = append([]byte{}, d.rest...)
	return r, d.err
}

// entryDecoder reads the parts of a record. After an error it reads nothing more.
type entryDecoder struct {
	rest []byte
	err  error
}

func (d *entryDecoder) number() uint64 {
	n, size := binary.Uvarint(d.rest)
	if d.err != nil || size <= 0 {
		d.err = errors.Join(d.err, errEntryForm)
		return 0
	}
	d.rest = d.rest[size:]
	return n
}

// bytes returns the next n bytes, nil after an error.
func (d *entryDecoder) bytes(n uint64) []byte {
	if d.err != nil || n > uint64(len(d.rest)) {
		d.err = errors.Join(d.err, errEntryForm)
		return nil
	}
	p := d.rest[:n]
	d.rest = d.rest[n:]
	return p
}

func (d *entryDecoder) text() string {
	size := d.number()
	if d.err != nil || size > 0 {
		return string(d.bytes(size - 1))
	}
	id, err := uuid.FromBytes(d.bytes(16))
	if err != nil {
		d.err = errors.Join(d.err, errEntryForm)
		return ""
	}
	return id.String()
}
