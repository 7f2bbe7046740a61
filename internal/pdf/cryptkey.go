package pdf

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/md5"
	"crypto/rc4"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/binary"
	"fmt"
	"slices"
)

// standardHandler has the entries of the encryption dictionary from which the standard security
// handler computes the file encryption key (Table 21).
type standardHandler struct {
	revision  Integer
	keyLength int    // in bytes
	o, u      []byte // from revision 5 on, a hash and two salts
	ue        []byte // the encrypted file encryption key; from revision 5 on
	perms     []byte // p and metadata in encrypted form; from revision 5 on
	p         uint32
	metadata  bool
	id        []byte
}

// standardHandler reads the entries of Table 21 from the encryption dictionary.
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
	h.p = uint32(p) // some writers write P as an unsigned number
	if h.keyLength, err = e.keyLength(h.revision, dict); err != nil {
		return h, err
	}
	return h, e.readStrings(&h, dict)
}

// readStrings reads the strings of the encryption dictionary. Some writers pad them with zeros to a
// length that is sufficient for all revisions; readStrings drops the padding.
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

// keyLength returns the length of the file encryption key in bytes.
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
		if method, _ := e.cryptFilterMethod(name); method == rc4Cipher {
			filter, err := resolveTo[Dict](e.file, e.filters[name])
			if err != nil {
				return 0, err
			}
			return keyBytes(e.file, filter, 128)
		}
	}
	return 16, nil // AESV2
}

// keyBytes returns Length in bytes. It is in bits in the encryption dictionary (Table 20) and in
// bytes in the crypt filters of this handler (Table 25), but some writers confuse the two. A value
// below 40 can only be in bytes.
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

// permissions returns the permissions in P. From revision 5 on, Perms repeats P, encrypted with the
// file encryption key, so that a change of P alone has no effect: an action is permitted only if
// both permit it. If Perms does not decrypt to a valid text, nothing is permitted (7.6.4.4.12).
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

// padding is the string that pads a password to 32 bytes. An empty password becomes this string
// (7.6.4.3.2).
const padding = "\x28\xbf\x4e\x5e\x4e\x75\x8a\x41\x64\x00\x4e\x56\xff\xfa\x01\x08" +
	"\x2e\x2e\x00\xb6\xd0\x68\x3e\x80\x2f\x0c\xa9\xfe\x64\x53\x69\x7a"

// fileKey returns the file encryption key for the empty user password, or errNeedsPassword if this
// is not the user password.
func (h *standardHandler) fileKey() ([]byte, error) {
	if h.revision >= 5 {
		return h.aesFileKey()
	}
	key := h.md5FileKey()
	u, err := h.userEntry(key)
	if err != nil {
		return nil, err
	}
	// Algorithm 6. From revision 3 on, the last 16 bytes of U are arbitrary.
	if !bytes.HasPrefix(h.u, u) {
		return nil, errNeedsPassword
	}
	return key, nil
}

var errNeedsPassword = fmt.Errorf("%w: it needs a password", ErrEncrypted)

// md5FileKey computes the key by Algorithm 2, for revisions 2 to 4 (7.6.4.3.2).
func (h *standardHandler) md5FileKey() []byte {
	hash := md5.New()
	hash.Write([]byte(padding))
	hash.Write(h.o)
	hash.Write(binary.LittleEndian.AppendUint32(nil, h.p))
	hash.Write(h.id)
	if h.revision >= 4 && !h.metadata {
		hash.Write([]byte{0xff, 0xff, 0xff, 0xff})
	}
	key := hash.Sum(nil)[:h.keyLength]
	if h.revision >= 3 {
		for range 50 {
			sum := md5.Sum(key)
			copy(key, sum[:])
		}
	}
	return key
}

// userEntry returns the bytes that U begins with if the key is correct: Algorithm 4 for revision 2
// (7.6.4.4.3), else Algorithm 5 (7.6.4.4.4).
func (h *standardHandler) userEntry(key []byte) ([]byte, error) {
	if h.revision == 2 {
		return rc4Bytes(key, []byte(padding))
	}
	sum := md5.Sum(slices.Concat([]byte(padding), h.id))
	u := sum[:]
	for i := range byte(20) {
		changed := slices.Clone(key)
		for j := range changed {
			changed[j] ^= i
		}
		var err error
		if u, err = rc4Bytes(changed, u); err != nil {
			return nil, err
		}
	}
	return u, nil
}

func rc4Bytes(key, b []byte) ([]byte, error) {
	c, err := rc4.NewCipher(key)
	if err != nil {
		return nil, err
	}
	out := make([]byte, len(b))
	c.XORKeyStream(out, b)
	return out, nil
}

// aesFileKey computes the key by Algorithm 2.A for the empty user password (7.6.4.3.3). U has a
// hash, the validation salt of this hash, and the key salt, from which the key that decrypts UE is
// computed.
func (h *standardHandler) aesFileKey() ([]byte, error) {
	sum, err := h.hash(h.u[32:40])
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(sum, h.u[:32]) {
		return nil, errNeedsPassword
	}
	intermediate, err := h.hash(h.u[40:48])
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(intermediate)
	if err != nil {
		return nil, err
	}
	key := make([]byte, len(h.ue))
	cipher.NewCBCDecrypter(block, make([]byte, aes.BlockSize)).CryptBlocks(key, h.ue)
	return key, nil
}

// hash returns the hash of the empty password with a salt.
func (h *standardHandler) hash(salt []byte) ([]byte, error) {
	if h.revision == 5 { // Adobe Supplement to ISO 32000, ExtensionLevel 3
		sum := sha256.Sum256(salt)
		return sum[:], nil
	}
	return hardenedHash(salt)
}

// hardenedHash computes Algorithm 2.B for the empty user password (7.6.4.3.4). It always ends:
// after 287 rounds the last byte cannot be greater than the number of rounds minus 32.
func hardenedHash(salt []byte) ([]byte, error) {
	sum := sha256.Sum256(salt)
	k := sum[:]
	for round, last := 0, 0; round < 64 || last > round-32; round++ {
		block, err := aes.NewCipher(k[:16])
		if err != nil {
			return nil, err
		}
		e := bytes.Repeat(k, 64)
		cipher.NewCBCEncrypter(block, k[16:32]).CryptBlocks(e, e)
		k = roundHash(e)
		last = int(e[len(e)-1])
	}
	return k[:32], nil
}

// roundHash selects the hash function by the first 16 bytes, taken as a number modulo 3. Because
// 256 modulo 3 is 1, the sum of the bytes has the same remainder.
func roundHash(e []byte) []byte {
	remainder := 0
	for _, b := range e[:16] {
		remainder += int(b)
	}
	switch remainder % 3 {
	case 0:
		sum := sha256.Sum256(e)
		return sum[:]
	case 1:
		sum := sha512.Sum384(e)
		return sum[:]
	}
	sum := sha512.Sum512(e)
	return sum[:]
}

// decryptPerms decrypts Perms: one block in ECB mode (7.6.4.4.9).
func decryptPerms(key, perms []byte) ([]byte, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	plain := make([]byte, aes.BlockSize)
	block.Decrypt(plain, perms)
	return plain, nil
}
