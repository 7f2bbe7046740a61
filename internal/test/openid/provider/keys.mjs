// The keys that sign ID tokens.
import { createPrivateKey, generateKeyPairSync, randomUUID } from 'node:crypto';
import { decodeJwt, decodeProtectedHeader, importJWK, SignJWT } from 'jose';

// signingKeys are those that there are, the first of which the test gave.
export function signingKeys(store, first) {
  if (!store.get('keys', 'current')) {
    store.put('keys', 'current', [described(Buffer.from(first, 'base64'))]);
  }
  return store.get('keys', 'current');
}

// rotate puts a new key first, which is the one that signs. The old ones stay published or not.
export function rotate(store, keep) {
  const { privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048, publicKeyEncoding: { type: 'spki', format: 'der' }, privateKeyEncoding: pkcs8,
  });
  store.put('keys', 'current', [described(privateKey), ...keep ? store.get('keys', 'current') : []]);
}

// resigned returns an ID token with other claims over those that it has, signed by the key.
export async function resigned(token, key, claims) {
  const { alg } = decodeProtectedHeader(token);
  return new SignJWT({ ...decodeJwt(token), ...claims })
    .setProtectedHeader({ ...decodeProtectedHeader(token), kid: key.kid })
    .sign(await importJWK(key, alg));
}

const pkcs8 = { type: 'pkcs8', format: 'der' };

// described returns a key in PKCS #8 as a JWK. A KeyObject that generateKeyPairSync returns is not exported as a JWK: Node 20
// now and then waits for ever in that call, when its garbage collector runs meanwhile.
const described = (der) => ({
  ...createPrivateKey({ key: der, ...pkcs8 }).export({ format: 'jwk' }), kid: randomUUID(), alg: 'RS256', use: 'sig',
});
