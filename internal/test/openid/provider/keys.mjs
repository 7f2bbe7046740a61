// The keys that sign ID tokens.
import { createPrivateKey, generateKeyPairSync, randomUUID } from 'node:crypto';
import { decodeJwt, decodeProtectedHeader, importJWK, SignJWT } from 'jose';

// signingKeys are those that there are, the first of which the test gave.
export function signingKeys(store, first) {
  if (!store.get('keys', 'current')) {
    const key = createPrivateKey({ key: Buffer.from(first, 'base64'), format: 'der', type: 'pkcs8' });
    store.put('keys', 'current', [described(key)]);
  }
  return store.get('keys', 'current');
}

// rotate puts a new key first, which is the one that signs. The old ones stay published or not.
export function rotate(store, keep) {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  store.put('keys', 'current', [described(privateKey), ...keep ? store.get('keys', 'current') : []]);
}

// resigned returns an ID token with other claims over those that it has, signed by the key.
export async function resigned(token, key, claims) {
  const { alg } = decodeProtectedHeader(token);
  return new SignJWT({ ...decodeJwt(token), ...claims })
    .setProtectedHeader({ ...decodeProtectedHeader(token), kid: key.kid })
    .sign(await importJWK(key, alg));
}

const described = (key) => ({ ...key.export({ format: 'jwk' }), kid: randomUUID(), alg: 'RS256', use: 'sig' });
