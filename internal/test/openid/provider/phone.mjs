// The phones. Each request rings one, whose owner approves, refuses or says nothing.
import { errors } from 'oidc-provider';
import { absent, answer } from './people.mjs';
import { cms, pkcs1 } from './signatures.mjs';

// kinds are the acr_values and what comes of them.
export const kinds = {
  'app-auth': {},
  'app-certificate-choice': { certificate: true },
  'app-sign': { certificate: true, sign: pkcs1 },
  'app-sign-with-certificate': { certificate: true, sign: pkcs1, chosen: true },
  'sim-auth': { sim: true },
  'sim-sign-pkcs1': { sim: true, certificate: true, sign: pkcs1 },
  'sim-sign': { sim: true, sign: cms },
};

// A ping must not overtake the answer to the request that it is about.
const pingDelay = 200;

export class Phones {
  #store;
  #people;
  #provider; // a function: keys that are rotated bring another one
  #timers = new Map();
  #answering = new Set();

  constructor(store, people, provider) {
    this.#store = store;
    this.#people = people;
    this.#provider = provider;
  }

  // ring ends when the person has answered who does so at once.
  async ring(request, client, person) {
    const least = client.backchannelTokenDeliveryMode === 'ping' ? pingDelay : 0;
    this.#store.put('prompt', request.jti, {
      id: request.jti,
      kennitala: person.kennitala,
      acr: request.params.acr_values,
      rung: Date.now(),
      least,
    });
    await this.#look(request.jti);
  }

  // busy tells whether a person has been asked, and has time left to answer.
  async busy(person) {
    const prompts = this.#store.all('prompt').filter((p) => p.kennitala === person.kennitala);
    const requests = await Promise.all(prompts.map(({ id }) => this.#request(id)));
    return requests.some(Boolean);
  }

  // wake has everybody who is being asked look again: people have changed, or the provider has
  // just started.
  async wake() {
    for (const prompt of this.#store.all('prompt')) await this.#look(prompt.id);
  }

  // close has nobody answer any more.
  close() {
    for (const timer of this.#timers.values()) clearTimeout(timer);
  }

  // polled has those look who answer only after so many questions of the client's.
  async polled(id) {
    const prompt = this.#store.get('prompt', id);
    const person = prompt && this.#people.hinted(prompt.kennitala);
    if (person && answer(person, prompt.acr).polls) await this.#look(id);
  }

  // request is undefined when it has expired.
  async #request(id) {
    const request = await this.#provider().BackchannelAuthenticationRequest.find(id);
    return request?.isValid ? request : undefined; // find tolerates clocks that differ
  }

  async #look(id) {
    clearTimeout(this.#timers.get(id));
    const prompt = this.#store.get('prompt', id);
    const person = prompt && this.#people.hinted(prompt.kennitala);
    if (!person) return;
    const { silent, delay = 0, polls = 0 } = answer(person, prompt.acr);
    if (silent || this.#store.all('polled').filter((one) => one.id === id).length < polls) return;
    const wait = prompt.rung + Math.max(delay, prompt.least) - Date.now();
    if (wait > 0) this.#timers.set(id, setTimeout(() => this.#answer(prompt, person), wait));
    else await this.#answer(prompt, person);
  }

  async #answer(prompt, person) {
    if (this.#answering.has(prompt.id)) return;
    this.#answering.add(prompt.id);
    try {
      await this.#tell(prompt, person);
    } catch (error) {
      console.error('phone:', error); // a ping that nobody took
    } finally {
      this.#store.put('prompt', prompt.id);
      this.#answering.delete(prompt.id);
    }
  }

  // tell gives the provider the person's answer, unless the request has expired.
  async #tell(prompt, person) {
    const provider = this.#provider();
    const request = await this.#request(prompt.id);
    if (!request) return;
    const how = answer(person, prompt.acr);
    if (how.error) {
      // backchannelResult sets error_description, and the model stores errorDescription.
      request.errorDescription = how.error.description;
      await provider.backchannelResult(request, new errors.CustomOIDCProviderError(how.error.code));
      return;
    }
    const grant = new provider.Grant({ clientId: request.clientId, accountId: request.accountId });
    grant.addOIDCScope(request.scope);
    await grant.save();
    this.#store.put('signed', grant.jti, signed(request.params, person, how));
    await provider.backchannelResult(request, grant, { acr: prompt.acr });
  }
}

// signed are the claims that an approval adds.
function signed(params, person, how) {
  const { sim, certificate, sign } = kinds[params.acr_values];
  const claims = {
    certificate: (certificate && person.certificate) || absent,
    documentNr: sim ? absent : person.document,
  };
  if (sign) {
    const digest = Buffer.from(params.binding_content, 'base64');
    if (how.wrongSignature) digest.reverse();
    claims.signature = sign(digest, person.key, Buffer.from(person.certificate, 'base64')).toString('base64');
  }
  return { ...claims, ...how.claims };
}
