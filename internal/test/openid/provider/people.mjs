// The people with electronic IDs, and what the provider says of them.
import { createHash } from 'node:crypto';

export const absent = 'na'; // Auðkenni's word for a claim without a value

// subject is opaque, as OpenID Connect Core 8 has it.
export const subject = (person) => createHash('sha256').update(person.kennitala).digest('base64url');

export class People {
  #store;

  constructor(store) { this.#store = store; }

  put(person) { this.#store.put('person', person.kennitala, person); }

  // hinted is whom a login_hint means: a kennitala, a phone number or the number of a device.
  hinted(hint) {
    return hint && this.#find((p) => [p.kennitala, p.phone, p.document].includes(hint));
  }

  // account is oidc-provider's findAccount. A token leads to what its person signed.
  account = async (ctx, id, token) => {
    const person = this.#find((p) => subject(p) === id);
    if (!person) return undefined;
    const signed = token?.grantId && this.#store.get('signed', token.grantId);
    return { accountId: id, claims: () => ({ sub: id, ...claims(person), ...signed }) };
  };

  // idTokenClaims are those that the test gave for the ID tokens of an account, in the answer to a
  // request of CIBA or, without its id, in a login.
  idTokenClaims(id, authReqID) {
    const person = this.#find((p) => subject(p) === id);
    const asked = authReqID && this.#store.all('asked').find((one) => one.id === authReqID);
    return person && answer(person, asked?.acr).idToken;
  }

  #find(is) { return this.#store.all('person').find(is); }
}

// answer is how a person meets a request of that kind.
export const answer = (person, acr) => person.answers?.[acr] ?? person.answer ?? {};

const claims = (person) => ({
  name: person.name,
  nationalRegisterId: person.kennitala,
  signature: absent,
  certificate: absent,
  documentNr: absent,
});
