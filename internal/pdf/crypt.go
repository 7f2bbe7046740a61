package pdf

import (
	"fmt"
	"io"
)

// encryption decrypts what is read of an encrypted file and encrypts what is added to it
// (7.6). All of it but strings and streams is plain.
type encryption struct {
	file            *File
	dictRef         Ref     // of the encryption dictionary, whose strings are plain; Num is 0 when it is direct
	version         Integer // V
	filters         Dict    // CF
	strings         cipherMethod
	streams         cipherMethod
	embedded        cipherMethod // of embedded files
	encryptMetadata bool         // metadata streams are encrypted too
	id              []byte       // first part of the file identifier
	key             []byte       // of the file
	permissions     Permissions
}

// Permissions are what those may do with an encrypted file who open it without the owner's
// password (Table 22).
type Permissions struct {
	Modify   bool // bit 4: change the contents in other ways than those below
	Annotate bool // bit 6: add annotations and fill in form fields; with Modify, make new fields
	FillIn   bool // bit 9: fill in existing form fields, signature fields too
}

// cipherMethod is how a crypt filter encrypts (Table 25, CFM).
type cipherMethod uint8

const (
	identity cipherMethod = iota // not at all
	rc4Cipher
	aes128Cipher // with a key for each object
	aes256Cipher // with the key of the file
)

// Permissions returns what an encrypted file allows. A file that is not encrypted has none.
func (f *File) Permissions() (p Permissions, encrypted bool) {
	if f.encryption == nil {
		return Permissions{}, false
	}
	return f.encryption.permissions, true
}

// openEncryption makes an encrypted file readable. The empty user password is the only one
// that is tried: it is what viewers open a file with before they ask.
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
	f.streams = streamCache{} // it may hold what was read without the key
	return nil
}

func (f *File) readEncryption(value Object) (*encryption, error) {
	dict, err := resolveTo[Dict](f, value)
	if err != nil {
		return nil, err
	}
	if dict == nil {
		return nil, fmt.Errorf("%w: there is none", ErrEncrypted)
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
	if e.version == 4 { // its ciphers take 128 bits: Acrobat puts zeros behind a shorter key
		e.key = append(e.key, make([]byte, 16-len(e.key))...)
	}
	e.permissions, err = h.permissions(e.key)
	return e, err
}

// permanentID returns the first part of the file identifier (14.4), which the key depends
// on (7.6.4.3.2). Where there is none it is empty.
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

// readFilters reads the version of encryption, and which crypt filter is for what
// (Table 20). Before version 4 everything is encrypted with RC4.
func (e *encryption) readFilters(dict Dict) (err error) {
	handler, err := resolveTo[Name](e.file, dict["Filter"])
	if err != nil {
		return err
	}
	if handler != "Standard" {
		return fmt.Errorf("%w: its security handler is %.32q", ErrEncrypted, handler)
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

// filterOf returns the method of the crypt filter that o names; none is Identity.
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

// streamMethod returns how the payload of a stream is encrypted.
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

// ownCryptFilter returns the crypt filter that a stream names for itself. It is the first
// of the stream's filters (7.4.10).
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

// decrypted returns the payload of a stream without its encryption, and the filters that
// are left to decode it with.
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
