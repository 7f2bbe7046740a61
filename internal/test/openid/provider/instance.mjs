// One provider. Its folder has settings.json, and the journal of what it remembers.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { control } from './control.mjs';
import { commit, Faults } from './faults.mjs';
import { rotate } from './keys.mjs';
import { login } from './login.mjs';
import { openProvider, routes } from './op.mjs';
import { People } from './people.mjs';
import { Phones } from './phone.mjs';
import { Store } from './store.mjs';

const endpoints = Object.fromEntries(Object.entries(routes).map(([name, path]) => [path, name]));
endpoints['/.well-known/openid-configuration'] = 'discovery';

export class Instance {
  #settings;
  #store;
  #people;
  #faults;
  #phones;
  #provider;
  #handle;
  #server = createServer((req, res) => {
    this.#answer(req, res).catch((error) => {
      console.error(error);
      req.socket.destroy();
    });
  });

  constructor(folder) {
    this.#settings = JSON.parse(readFileSync(join(folder, 'settings.json')));
    this.#store = new Store(join(folder, 'journal'));
    this.#people = new People(this.#store);
    this.#faults = new Faults(this.#store);
    this.#phones = new Phones(this.#store, this.#people, () => this.#provider);
  }

  // listen returns once the provider answers.
  async listen() {
    await new Promise((resolve, reject) => {
      // After a restart the address may still be on its way to being free.
      this.#server.on('error', (error) => {
        if (error.code === 'EADDRINUSE') setTimeout(begin, 50);
        else reject(error);
      });
      const begin = () => this.#server.listen(this.#settings.port, '127.0.0.1', resolve);
      begin();
    });
    this.#settings.issuer ||= `http://127.0.0.1:${this.#settings.port}${this.#settings.path}`;
    this.#open();
    await this.#phones.wake();
  }

  // close breaks all connections, and remembers nothing from then on.
  close() {
    this.#server.close();
    this.#server.closeAllConnections();
    this.#phones.close();
    this.#store.close();
  }

  #orders = {
    person: async (person) => { this.#people.put(person); await this.#phones.wake(); },
    login: async ({ hint }) => { this.#store.put('login', 'current', hint); },
    fault: async (fault) => { this.#faults.plan(fault); },
    rotate: async ({ keep }) => { rotate(this.#store, keep); this.#open(); },
    asked: async () => this.#store.all('asked'),
    polled: async () => this.#store.all('polled'),
    calls: async () => this.#store.all('call'),
    confidential: async () => {
      const people = this.#store.all('person').flatMap((p) => [p.kennitala, p.phone, p.name, p.document]);
      return [...people, ...this.#store.all('issued')];
    },
  };

  #open() {
    this.#provider = openProvider(this.#settings, this.#store, this.#people, this.#phones);
    const callback = this.#provider.callback();
    // The provider sees the paths below its own, and knows by originalUrl where that is.
    this.#handle = (req, res) => {
      req.originalUrl = req.url;
      req.url = req.url.slice(this.#settings.path.length);
      return callback(req, res);
    };
  }

  async #answer(req, res) {
    const { pathname } = new URL(req.url, 'http://localhost');
    if (pathname.startsWith(`/control/${this.#settings.secret}/`)) return control(this.#orders, req, res);
    if (!pathname.startsWith(`${this.#settings.path}/`)) return res.writeHead(404).end();
    const path = pathname.slice(this.#settings.path.length);
    if (path.startsWith('/interaction/')) return login(this.#provider, this.#people, this.#store, req, res);
    const endpoint = endpoints[path];
    this.#note(endpoint, req, res);
    const fault = this.#faults.next(endpoint);
    return fault ? commit(fault, this.#handle, req, res) : this.#handle(req, res);
  }

  // note writes down who asked for what, and the status that came of it, 0 for none.
  #note(endpoint, req, res) {
    const call = { at: Date.now(), endpoint, method: req.method, authorization: req.headers.authorization };
    const id = this.#store.add('call', { ...call, status: 0 });
    res.on('finish', () => this.#store.put('call', id, { ...call, status: res.statusCode }));
  }
}
