package pdf

import "fmt"

// encryption decrypts what is read of an encrypted file and encrypts what is added to it
// (7.6). All of it but strings and streams is plain.
type encryption struct {
	file     *File
	self     Ref     // of the encryption dictionary, whose strings are plain; Num is 0 when it is direct
	version  Integer // V
	filters  Dict    // CF
	strings  cipherMethod
	streams  cipherMethod
	embedded cipherMethod // of embedded files
	metadata bool         // metadata streams are encrypted too
	id       []byte       // first part of the file identifier
	key      []byte       // of the file
	allowed  Permissions
}

// Permissions are what those may do with an encrypted file who open it without the owner's
// password (Table 22).
type Permissions struct {
	Modify   bool // bit 4: change the contents in other ways than those below
	Annotate bool // bit 6: add annotations and fill in form fields; with Modify, make new fields
	FillIn   bool // bit 9: fill in existing form fields, signature fields too
}

// Permissions returns what an encrypted file allows. A file that is not encrypted has none.
func (f *File) Permissions() (p Permissions, encrypted bool) {
	if f.encryption == nil {
		return Permissions{}, false
	}
	return f.encryption.allowed, true
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
	e.self, _ = value.(Ref)
	if err := e.readFilters(dict); err != nil {
		return nil, err
	}
	h, err := e.standardHandler(dict)
	if err != nil {
		return nil, err
	}
	e.metadata = h.metadata
	if e.key, err = h.fileKey(); err != nil {
		return nil, err
	}
	if e.version == 4 { // its ciphers take 128 bits: Acrobat puts zeros behind a shorter key
		e.key = append(e.key, make([]byte, 16-len(e.key))...)
	}
	e.allowed, err = h.permissions(e.key)
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
