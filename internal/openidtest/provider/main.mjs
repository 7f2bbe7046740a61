// An OpenID provider that tests start: node main.mjs FOLDER. The folder has settings.json, and
// keeps what the provider remembers. It says "ready PORT" when it listens; when its standard
// input ends, so has the test, and the folder goes.
import { readFileSync, rmSync } from 'node:fs';
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

const folder = process.argv[2];
const settings = JSON.parse(readFileSync(join(folder, 'settings.json')));
const store = new Store(join(folder, 'journal'));
const people = new People(store);
const faults = new Faults(store);
let provider;
let handle;
const phones = new Phones(store, people, () => provider);

const endpoints = Object.fromEntries(Object.entries(routes).map(([name, path]) => [path, name]));
endpoints['/.well-known/openid-configuration'] = 'discovery';

const orders = {
  async person(person) { people.put(person); await phones.wake(); },
  async login({ hint }) { store.put('login', 'current', hint); },
  async fault(fault) { faults.plan(fault); },
  async rotate({ keep }) { rotate(store, keep); open(); },
  async asked() { return store.all('asked'); },
  async polled() { return store.all('polled'); },
  async calls() { return store.all('call'); },
  async confidential() {
    const people = store.all('person').flatMap((p) => [p.kennitala, p.phone, p.name, p.document]);
    return [...people, ...store.all('issued')];
  },
};

function open() {
  provider = openProvider(settings, store, people, phones);
  const callback = provider.callback();
  // The provider sees the paths below its own, and knows by originalUrl where that is.
  handle = (req, res) => {
    req.originalUrl = req.url;
    req.url = req.url.slice(settings.path.length);
    return callback(req, res);
  };
}

async function answer(req, res) {
  const { pathname } = new URL(req.url, 'http://localhost');
  if (pathname.startsWith(`/control/${settings.secret}/`)) return control(orders, req, res);
  if (!pathname.startsWith(`${settings.path}/`)) return res.writeHead(404).end();
  const path = pathname.slice(settings.path.length);
  if (path.startsWith('/interaction/')) return login(provider, people, store, req, res);
  const endpoint = endpoints[path];
  note(endpoint, req, res);
  const fault = faults.next(endpoint);
  return fault ? commit(fault, handle, req, res) : handle(req, res);
}

// note writes down who asked for what, and the status that came of it, 0 for none.
function note(endpoint, req, res) {
  const call = { at: Date.now(), endpoint, method: req.method, authorization: req.headers.authorization };
  const id = store.add('call', { ...call, status: 0 });
  res.on('finish', () => store.put('call', id, { ...call, status: res.statusCode }));
}

const server = createServer((req, res) => {
  answer(req, res).catch((error) => {
    console.error(error);
    req.socket.destroy();
  });
});

function listen() {
  server.listen(settings.port, '127.0.0.1');
}

server.on('listening', async () => {
  settings.port = server.address().port;
  settings.issuer ||= `http://127.0.0.1:${settings.port}${settings.path}`;
  open();
  await phones.wake();
  console.log(`ready ${settings.port}`);
});
// After a restart the address may still be on its way to being free.
server.on('error', (error) => {
  if (error.code !== 'EADDRINUSE') throw error;
  setTimeout(listen, 50);
});

process.on('SIGINT', () => {}); // a terminal's: the test ends, and then so does this
process.stdin.resume().on('end', () => {
  rmSync(folder, { recursive: true, force: true });
  process.exit();
});
listen();
