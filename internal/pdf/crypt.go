package pdf

import (
	"fmt"
	"io"
)

// encryption decrypts the strings and streams of an encrypted file, and encrypts those that an
// update adds (7.6). The other parts of an encrypted file are plain text.
type encryption struct {
	file            *File
	dictRef         Ref     // of the encryption dictionary; Num is 0 if it is direct
	version         Integer // V
	filters         Dict    // CF
	strings         cipherMethod
	streams         cipherMethod
	embedded        cipherMethod // for embedded files
	encryptMetadata bool         // EncryptMetadata: metadata streams are encrypted too
	id              []byte       // first part of the file identifier (14.4)
	key             []byte       // file encryption key
	permissions     Permissions
}

// Permissions has the user access permissions of an encrypted file: what a user may do who opens
// the file without the owner password (Table 22).
type Permissions struct {
	Modify   bool // bit 4: modify the contents in other ways than those below
	Annotate bool // bit 6: annotate and fill in form fields; with Modify, also create fields
	FillIn   bool // bit 9: fill in existing form fields, including signature fields
}

// cipherMethod is the encryption method of a crypt filter (Table 25, CFM).
type cipherMethod uint8

const (
	identity cipherMethod = iota // no encryption
	rc4Cipher
	aes128Cipher // AES-128 with a key for each object
	aes256Cipher // AES-256 with the file encryption key
)

// Permissions returns what an encrypted file permits. For a file that is not encrypted, encrypted
// is false and p is empty.
func (f *File) Permissions() (p Permissions, encrypted bool) {
	if f.encryption == nil {
		return Permissions{}, false
	}
	return f.encryption.permissions, true
}

// openEncryption reads the encryption dictionary and computes the key. It tries only the empty user
// password, as viewers do before they ask the user for a password.
func (f *File) openEncryption() error {
	f.encryption = nil
	value, ok := f.Trailer()["Encrypt"]
	if !ok {
		return nil
	}
	e, err := f.readEncryption(value)
	if err != nil {
		return fmt.Errorf("encryption dictionary: %w", err)
	}
	f.encryption = e
	f.streams = streamCache{} // the cache may have object streams that were read without the key
	return nil
}

func (f *File) readEncryption(value Object) (*encryption, error) {
	dict, err := resolveTo[Dict](f, value)
	if err != nil {
		return nil, err
	}
	if dict == nil {
		return nil, fmt.Errorf("%w: it is null", ErrEncrypted)
	}
	e := &encryption{file: f, id: f.permanentID()}
	e.dictRef, _ = value.(Ref)
	if err := e.readFilters(dict); err != nil {
		return nil, err
	}
	h, err := e.standardHandler(dict)
	if err != nil {
		return nil, err
	}
	e.encryptMetadata = h.metadata
	if e.key, err = h.fileKey(); err != nil {
		return nil, err
	}
	if e.version == 4 { // its ciphers need 128 bits; Acrobat appends zeros to a shorter key
		e.key = append(e.key, make([]byte, 16-len(e.key))...)
	}
	e.permissions, err = h.permissions(e.key)
	return e, err
}

// permanentID returns the first part of the file identifier (14.4), which the key depends on
// (7.6.4.3.2). It is empty if the file has no identifier.
func (f *File) permanentID() []byte {
	id, err := resolveTo[Array](f, f.Trailer()["ID"])
	if err != nil || len(id) == 0 {
		return nil
	}
	first, err := resolveTo[String](f, id[0])
	if err != nil {
		return nil
	}
	return []byte(first)
}

// readFilters reads the version of the encryption algorithm and the methods for strings, streams
// and embedded files (Table 20). Before version 4, all of them are RC4.
func (e *encryption) readFilters(dict Dict) (err error) {
	handler, err := resolveTo[Name](e.file, dict["Filter"])
	if err != nil {
		return err
	}
	if handler != "Standard" {
		return fmt.Errorf("%w: the security handler is %.32q instead of Standard", ErrEncrypted, handler)
	}
	if e.version, err = resolveTo[Integer](e.file, dict["V"]); err != nil {
		return err
	}
	switch e.version {
	case 1, 2:
		e.strings, e.streams, e.embedded = rc4Cipher, rc4Cipher, rc4Cipher
		return nil
	case 4, 5:
		return e.readCryptFilters(dict)
	}
	return fmt.Errorf("%w: version %d of encryption", ErrEncrypted, e.version)
}

func (e *encryption) readCryptFilters(dict Dict) (err error) {
	if e.filters, err = resolveTo[Dict](e.file, dict["CF"]); err != nil {
		return err
	}
	if e.strings, err = e.cryptFilterMethod(dict["StrF"]); err != nil {
		return err
	}
	if e.streams, err = e.cryptFilterMethod(dict["StmF"]); err != nil {
		return err
	}
	if e.embedded = e.streams; dict["EFF"] != nil {
		e.embedded, err = e.cryptFilterMethod(dict["EFF"])
	}
	return err
}

// cryptFilterMethod returns the method of the crypt filter with the name o. Without a name, it is
// Identity.
func (e *encryption) cryptFilterMethod(o Object) (cipherMethod, error) {
	name, err := resolveTo[Name](e.file, o)
	if err != nil || name == "" || name == "Identity" {
		return identity, err
	}
	filter, err := resolveTo[Dict](e.file, e.filters[name])
	if err != nil {
		return identity, err
	}
	method, err := resolveTo[Name](e.file, filter["CFM"])
	if err != nil {
		return identity, err
	}
	switch {
	case e.version == 4 && method == "V2":
		return rc4Cipher, nil
	case e.version == 4 && method == "AESV2":
		return aes128Cipher, nil
	case e.version == 5 && method == "AESV3":
		return aes256Cipher, nil
	}
	return identity, fmt.Errorf("%w: crypt filter %.32q with method %.32q in version %d", ErrEncrypted, name, method, e.version)
}

// streamMethod returns the method that encrypts the payload of a stream.
func (e *encryption) streamMethod(dict Dict) (cipherMethod, error) {
	if dict["Type"] == Name("XRef") { // 7.5.8.2
		return identity, nil
	}
	own, ok, err := e.file.ownCryptFilter(dict)
	switch {
	case err != nil:
		return identity, err
	case ok && e.version >= 4:
		return e.cryptFilterMethod(own)
	case dict["Type"] == Name("Metadata") && !e.encryptMetadata:
		return identity, nil
	case dict["Type"] == Name("EmbeddedFile"):
		return e.embedded, nil
	}
	return e.streams, nil
}

// ownCryptFilter returns the name of the crypt filter that a stream selects for itself. Crypt is
// then the first filter of the stream (7.4.10).
func (f *File) ownCryptFilter(dict Dict) (name Name, ok bool, err error) {
	filters, err := f.oneOrMore(dict["Filter"])
	if err != nil || len(filters) == 0 {
		return "", false, err
	}
	if first, err := resolveTo[Name](f, filters[0]); err != nil || first != "Crypt" {
		return "", false, err
	}
	parameters, err := f.oneOrMore(dict["DecodeParms"])
	if err != nil || len(parameters) == 0 {
		return "", true, err
	}
	first, err := resolveTo[Dict](f, parameters[0])
	if err != nil {
		return "", true, err
	}
	name, err = resolveTo[Name](f, first["Name"])
	return name, true, err
}

// decryptPayload returns a reader of the decrypted payload of a stream, and the filters that remain
// to be applied.
func (f *File) decryptPayload(s *Stream, payload io.Reader, filters []filter) (io.Reader, []filter, error) {
	if f.encryption == nil {
		return payload, filters, nil
	}
	if len(filters) > 0 && filters[0].name == "Crypt" {
		filters = filters[1:]
	}
	method, err := f.encryption.streamMethod(s.Dict)
	if err != nil {
		return nil, nil, err
	}
	plain, err := f.encryption.cipher(method, s.Ref).reader(payload, s.Length)
	return plain, filters, damagedPayload("encryption", err)
}
