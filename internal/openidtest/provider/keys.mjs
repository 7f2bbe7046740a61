// The keys that sign ID tokens.
import { generateKeyPairSync, randomUUID } from 'node:crypto';

export function signingKeys(store) {
  if (!store.get('keys', 'current')) rotate(store, false);
  return store.get('keys', 'current');
}

// rotate puts a new key first, which is the one that signs. The old ones stay published or not.
export function rotate(store, keep) {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const key = { ...privateKey.export({ format: 'jwk' }), kid: randomUUID(), alg: 'RS256', use: 'sig' };
  store.put('keys', 'current', [key, ...keep ? store.get('keys', 'current') : []]);
}
