// What the provider remembers: a journal of changes in a file, so that a provider that is killed
// forgets nothing.
import { randomUUID } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';

export class Store {
  #path;
  #closed = false;
  #kinds = new Map(); // of maps of JSON text, so that every reader has a copy of its own

  constructor(path) {
    this.#path = path;
    const lines = existsSync(path) ? readFileSync(path, 'utf8').split('\n') : [''];
    lines.pop(); // nothing, or a line that was being written
    for (const line of lines) this.#apply(JSON.parse(line));
    writeFileSync(`${path}.new`, lines.map((line) => `${line}\n`).join(''));
    renameSync(`${path}.new`, path);
  }

  get(kind, id) {
    const text = this.#kinds.get(kind)?.get(id);
    return text && JSON.parse(text);
  }

  all(kind) { return this.entries(kind).map(([, value]) => value); }

  // entries are in the order in which they were first stored.
  entries(kind) {
    return [...this.#kinds.get(kind) ?? []].map(([id, text]) => [id, JSON.parse(text)]);
  }

  // put stores a value, or forgets it when there is none.
  put(kind, id, value) {
    if (this.#closed) return;
    const change = { kind, id, value };
    appendFileSync(this.#path, `${JSON.stringify(change)}\n`);
    this.#apply(change);
  }

  // add stores a value behind the others of its kind.
  add(kind, value) {
    const id = randomUUID();
    this.put(kind, id, value);
    return id;
  }

  // close has what is still on its way stored nowhere.
  close() { this.#closed = true; }

  #apply({ kind, id, value }) {
    if (!this.#kinds.has(kind)) this.#kinds.set(kind, new Map());
    if (value === undefined) this.#kinds.get(kind).delete(id);
    else this.#kinds.get(kind).set(id, JSON.stringify(value));
  }
}

// adapter is the seam of oidc-provider to what stores for it. What has expired stays: the
// provider tells it from what never was.
export const adapter = (store) => (model) => ({
  async upsert(id, payload) { store.put(model, id, payload); },
  async find(id) { return store.get(model, id); },
  async findByUid(uid) { return store.all(model).find((payload) => payload.uid === uid); },
  async destroy(id) { store.put(model, id); },
  async consume(id) {
    store.put(model, id, { ...store.get(model, id), consumed: Math.floor(Date.now() / 1000) });
  },
  async revokeByGrantId(grantId) {
    for (const payload of store.all(model)) {
      if (payload.grantId === grantId) store.put(model, payload.jti);
    }
  },
});
