// What a scene has: visitors, processes, letters, and what it says in the end.
import { readFileSync } from 'node:fs';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';
import { simpleParser } from 'mailparser';
import { steady } from './steady.mjs';

// patience is how long anything may take that somebody waits for, in milliseconds: half of what the test has, so
// that a scene says what it waited for before the time of the test is up.
export const { patience } = JSON.parse(readFileSync(new URL('settings.json', import.meta.url)));

export class Scene {
  faults = [];
  contexts = [];
  said = [];
  figures = {};
  files = [];
  ends = []; // functions to call at the end

  constructor(browser, settings, name) {
    this.browser = browser;
    this.settings = settings;
    this.name = name;
    this.base = settings.base;
  }

  // play is the line about the scene.
  async play(script) {
    const began = performance.now();
    try {
      await script(this);
    } catch (error) {
      this.faults.push(stripVTControlCharacters(`${error.stack}\n${await this.looks()}`));
    }
    for (const end of this.ends) await end();
    for (const context of this.contexts) await context.close().catch(() => {});
    const ms = performance.now() - began;
    const ok = this.faults.length === 0;
    const detail = (ok ? this.said : [...this.said, ...this.faults]).join('\n');
    return { name: this.name, ok, detail, ms, figures: this.figures, files: this.files };
  }

  // saw notes what was tried and what was seen.
  saw(text) { this.said.push(text); }

  // looks tells what the scene's visitors see.
  async looks() {
    const pages = this.contexts.flatMap((context) => context.pages());
    const text = async (page) => {
      const seen = await page.locator('body').innerText({ timeout: 1000 }).catch((error) => error.message);
      return `--- ${page.url()}\n${seen.slice(0, 1500)}`;
    };
    return (await Promise.all(pages.map(text))).join('\n');
  }

  // visitor is a page of a browser that was never here. expected are what a scene provokes: foreign
  // origins, and texts of the console.
  async visitor({ expected = [], language = 'is-IS', ...options } = {}) {
    const context = await this.browser.newContext({
      baseURL: this.base, locale: language, viewport: { width: 1280, height: 900 }, ...options,
    });
    context.setDefaultTimeout(patience);
    this.contexts.push(context);
    this.#watch(context, (text) => {
      if (!expected.some((one) => text.includes(one))) this.faults.push(text);
    });
    return steady(await context.newPage());
  }

  // tab is another page of somebody's browser.
  async tab(page) { return steady(await page.context().newPage()); }

  #watch(context, fault) {
    context.on('request', (request) => {
      const { protocol, origin, pathname } = new URL(request.url());
      if (protocol.startsWith('http') && origin !== this.base) fault(`a request of another origin: ${origin}${pathname}`);
    });
    // What a script's navigation says of itself before it goes out is not what the server gets to see.
    context.on('requestfinished', async (request) => {
      const { referer } = await request.allHeaders().catch(() => ({})); // who has left needs none
      if (referer) fault(`a Referer: ${referer} for ${request.url()}`);
    });
    context.on('response', (response) => {
      const picture = /\/pages\/\d+\/\d+$/.test(new URL(response.url()).pathname); // else it is one of words
      if (response.status() >= 500 || (picture && response.status() !== 200)) fault(`status ${response.status()} of ${response.url()}`);
    });
    context.on('console', (message) => {
      if (/Content.Security.Policy/i.test(message.text())) fault(`the console: ${message.text()}`);
    });
    context.on('weberror', (error) => fault(`a script failed: ${error.error().stack}`));
    context.on('dialog', async (dialog) => {
      fault(`a dialog: ${dialog.message()}`);
      await dialog.dismiss();
    });
  }

  // call makes a call of the API and returns its answer, which has to have a status.
  async call(method, path, status, body) {
    for (const until = Date.now() + patience; ;) {
      const answer = await fetch(`${this.settings.api}/api/v1/portal/signing-processes${path}`, {
        method,
        headers: { Authorization: `Bearer ${this.settings.token}`, 'Content-Type': 'application/json' },
        body: body && JSON.stringify(body),
      });
      const text = await answer.text();
      if (answer.status === status) return text && JSON.parse(text);
      if (answer.status !== 503 || Date.now() > until) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
      await sleep(200); // the renderer starts
    }
  }

  // invite makes a process of people with their roles, and returns it with each one's link.
  async invite(people, { fileName = 'Leigusamningur.pdf', file = this.settings.document, page = 1 } = {}) {
    const made = await this.call('POST', '', 201, {
      file: { name: fileName, contentBase64: await content(file) },
      signatureLocation: 'BottomRight',
      signaturePage: page,
      participants: people.map(({ name, email, role = 'Signer', pinned, kennitala, number }) => ({
        name, email, role, ...(pinned && { kennitala }), ...(number && { phoneNumber: number }),
      })),
    });
    return { id: made.signingProcessId, links: made.participants.map((one) => one.signingUrl) };
  }

  // state is how the API has a process.
  async state(id) { return this.call('GET', `/${id}`, 200); }

  // document is the file of a process as it is now.
  async document(id) {
    return Buffer.from((await this.call('GET', `/${id}/document`, 200)).contentBase64, 'base64');
  }

  // until waits until the API has a process as a function wants it.
  async until(id, wanted) {
    for (const end = Date.now() + patience; ; await sleep(200)) {
      const state = await this.state(id);
      if (wanted(state)) return state;
      if (Date.now() > end) throw new Error(`the process stays ${JSON.stringify(state)}`);
    }
  }

  // letters waits for so many letters to somebody, the first one first.
  async letters(email, number = 1) {
    for (const end = Date.now() + patience; ; await sleep(100)) {
      const found = (await read(this.settings.mail)).filter((one) => one.to.value.some((to) => to.address === email));
      if (found.length >= number) return found;
      if (Date.now() > end) throw new Error(`${found.length} letters to ${email}`);
    }
  }

  // linkIn is the link in a letter, which is the same in both of its parts.
  linkIn(letter) {
    const link = letter.text.match(/https?:\/\/\S+\/sign\/\S+/)?.[0];
    if (!link || !letter.html.includes(`href="${link}"`)) throw new Error(`no link in ${letter.text}`);
    return link;
  }
}

const contents = new Map(); // of files, in base64

function content(file) {
  if (!contents.has(file)) contents.set(file, readFile(file, 'base64'));
  return contents.get(file);
}

const known = new Map(); // letters by file

// read reads the letters of a folder.
async function read(folder) {
  const names = await readdir(folder).catch(() => []);
  const parse = async (name) => {
    if (!known.has(name)) known.set(name, await simpleParser(await readFile(join(folder, name))));
    return known.get(name);
  };
  return Promise.all(names.filter((name) => name.endsWith('.eml')).sort().map(parse));
}
