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

// padding is what fills up a password to 32 bytes, and all of the empty one (7.6.4.3.2).
const padding = "\x28\xbf\x4e\x5e\x4e\x75\x8a\x41\x64\x00\x4e\x56\xff\xfa\x01\x08" +
	"\x2e\x2e\x00\xb6\xd0\x68\x3e\x80\x2f\x0c\xa9\xfe\x64\x53\x69\x7a"

// fileKey makes the key from the empty user password, if that is one of the file.
func (h *standardHandler) fileKey() ([]byte, error) {
	if h.revision >= 5 {
		return h.aesFileKey()
	}
	key := h.md5FileKey()
	u, err := h.userEntry(key)
	if err != nil {
		return nil, err
	}
	if !bytes.HasPrefix(h.u, u) { // Algorithm 6; from revision 3 on the rest of U is arbitrary
		return nil, errNeedsPassword
	}
	return key, nil
}

var errNeedsPassword = fmt.Errorf("%w: it needs a password", ErrEncrypted)

// md5FileKey is Algorithm 2, for revisions 2 to 4 (7.6.4.3.2).
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

// userEntry is what U begins with if the key is right (7.6.4.4.2): Algorithm 4 for
// revision 2, else Algorithm 5.
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

// aesFileKey is Algorithm 2.A for the empty user password (7.6.4.3.3): U is a hash, the
// salt for it, and the salt of the key that UE is encrypted with.
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

// hash hashes the empty password with a salt.
func (h *standardHandler) hash(salt []byte) ([]byte, error) {
	if h.revision == 5 { // Adobe Supplement to ISO 32000, ExtensionLevel 3
		sum := sha256.Sum256(salt)
		return sum[:], nil
	}
	return hardenedHash(salt)
}

// hardenedHash is Algorithm 2.B for the empty user password (7.6.4.3.4). It ends: after
// 287 rounds the last byte cannot be above the number of rounds less 32.
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

// roundHash hashes with what the first 16 bytes, taken for a number, are modulo 3. As 256
// is 1 modulo 3, so is their sum.
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

// decryptPerms decrypts Perms, one block without chaining (7.6.4.4.9).
func decryptPerms(key, perms []byte) ([]byte, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	plain := make([]byte, aes.BlockSize)
	block.Decrypt(plain, perms)
	return plain, nil
}
