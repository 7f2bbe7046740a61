package pdf

import (
	"encoding/binary"
	"fmt"
)

// standardHandler is what the standard security handler needs to make the key of the file
// (Table 21).
type standardHandler struct {
	revision  Integer
	keyLength int    // in bytes
	o, u      []byte // from revision 5 on: a hash, then salts
	ue        []byte // the key, encrypted; from revision 5 on
	perms     []byte // p and metadata, encrypted; from revision 5 on
	p         uint32
	metadata  bool
	id        []byte
}

// standardHandler reads the entries of Table 21 out of the encryption dictionary.
func (e *encryption) standardHandler(dict Dict) (h standardHandler, err error) {
	h = standardHandler{metadata: true, id: e.id}
	if h.revision, err = resolveTo[Integer](e.file, dict["R"]); err != nil {
		return h, err
	}
	if h.revision < 2 || h.revision > 6 || (h.revision >= 5) != (e.version == 5) {
		return h, fmt.Errorf("%w: revision %d of the standard security handler in version %d", ErrEncrypted, h.revision, e.version)
	}
	if value, ok := dict["EncryptMetadata"]; ok && e.version >= 4 {
		if h.metadata, err = resolveTo[bool](e.file, value); err != nil {
			return h, err
		}
	}
	p, err := resolveTo[Integer](e.file, dict["P"])
	if err != nil {
		return h, err
	}
	h.p = uint32(p) // some writers take it for an unsigned number
	if h.keyLength, err = e.keyLength(h.revision, dict); err != nil {
		return h, err
	}
	return h, e.readStrings(&h, dict)
}

// readStrings reads the strings of the dictionary. Some writers fill them up with zeros
// to a length that suits all revisions.
func (e *encryption) readStrings(h *standardHandler, dict Dict) error {
	needed := map[Name]int{"O": 32, "U": 32}
	if h.revision >= 5 {
		needed = map[Name]int{"O": 48, "U": 48, "UE": 32, "Perms": 16}
	}
	places := map[Name]*[]byte{"O": &h.o, "U": &h.u, "UE": &h.ue, "Perms": &h.perms}
	for key, n := range needed {
		s, err := resolveTo[String](e.file, dict[key])
		if err != nil {
			return err
		}
		if len(s) < n {
			return fmt.Errorf("%w: /%s of %d bytes", ErrDamaged, key, len(s))
		}
		*places[key] = []byte(s[:n])
	}
	return nil
}

// keyLength returns the length of the file's key in bytes.
func (e *encryption) keyLength(revision Integer, dict Dict) (int, error) {
	switch {
	case e.version == 5:
		return 32, nil
	case e.version == 1 || revision == 2: // 7.6.4.3.2, step i
		return 5, nil
	case e.version == 2:
		return keyBytes(e.file, dict, 40)
	}
	for _, key := range []Name{"StmF", "StrF", "EFF"} {
		name, err := resolveTo[Name](e.file, dict[key])
		if err != nil {
			return 0, err
		}
		if method, _ := e.filterOf(name); method == rc4Cipher {
			filter, err := resolveTo[Dict](e.file, e.filters[name])
			if err != nil {
				return 0, err
			}
			return keyBytes(e.file, filter, 128)
		}
	}
	return 16, nil // of AESV2
}

// keyBytes reads Length: bits in Table 20, bytes in crypt filters of this handler
// (Table 25), but not every writer keeps to that. Fewer than 40 can only be bytes.
func keyBytes(f *File, dict Dict, absent Integer) (int, error) {
	n := absent
	if value, ok := dict["Length"]; ok {
		var err error
		if n, err = resolveTo[Integer](f, value); err != nil {
			return 0, err
		}
	}
	if n >= 40 && n%8 == 0 {
		n /= 8
	}
	if n < 5 || n > 16 {
		return 0, fmt.Errorf("%w: key of length %d", ErrDamaged, n)
	}
	return int(n), nil
}

// permissions reads P. From revision 5 on Perms has it once more, where nobody changes it
// who has no key: what the two do not agree on is not permitted, and what does not
// decrypt permits nothing (7.6.4.4.12).
func (h *standardHandler) permissions(key []byte) (Permissions, error) {
	p := h.p
	if h.revision >= 5 {
		plain, err := decryptPerms(key, h.perms)
		if err != nil {
			return Permissions{}, err
		}
		if string(plain[9:12]) != "adb" {
			return Permissions{}, nil
		}
		p &= binary.LittleEndian.Uint32(plain)
	}
	bit := func(n int) bool { return p>>(n-1)&1 == 1 }
	return Permissions{Modify: bit(4), Annotate: bit(6), FillIn: bit(9) && h.revision >= 3}, nil
}
