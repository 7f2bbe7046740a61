// How much and how long, with nothing else going on in the browser.
import assert from 'node:assert/strict';
import { stat } from 'node:fs/promises';
import { Signer } from './hands.mjs';
import { somebody } from './people.mjs';
import { patience } from './scene.mjs';

// landingLimit is how many bytes the page of a link may take, with all that it loads.
const landingLimit = 50_000;

// transferred counts the bytes of what a page loads, headers and all.
async function transferred(page, load) {
  const session = await page.context().newCDPSession(page);
  await session.send('Network.enable');
  await session.send('Network.setCacheDisabled', { cacheDisabled: true });
  let bytes = 0;
  let requests = 0;
  session.on('Network.loadingFinished', ({ encodedDataLength }) => {
    bytes += encodedDataLength;
    requests++;
  });
  await load();
  await page.waitForLoadState('networkidle');
  await session.detach();
  return { bytes, requests };
}

// Medians of 20 logins are promised, on a machine that does nothing else: they are played with
// INNSIGLI_FULL=1 alone. Two people log in at once, since most of a login is waiting; with more of them what
// is drawn ahead for one is not there in time, as the others have theirs drawn. What else the machine does
// may spoil a series, so that there are others.
const alone = process.env.INNSIGLI_FULL === '1';
const logins = 20;
const together = 2;
const series = 3;

const median = (list) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)];

// firstPicture is how long it takes from the end of a login until the first picture of the document is
// there, which nobody has seen before. The stamp goes on another page, where there is room.
async function firstPicture(scene, file, kind, page, promised) {
  let good = false;
  for (let n = 0; n < series && !good; n++) {
    const list = [];
    const invite = () => inviteTogether(scene, file, page);
    for (let invited = await invite(); list.length < logins;) {
      const gates = await Promise.all(invited.map(({ who, made }) => phoneAnswers(scene, who, made.links[0])));
      const next = list.length + together < logins ? await invite() : []; // while the phones are awaited
      for (const gate of gates) list.push(await gate.pass());
      for (const { made } of invited) await scene.call('DELETE', `/${made.id}`, 204);
      invited = next;
    }
    const took = median(list);
    good = took <= promised;
    scene.saw(`${kind}: ${list.map(Math.round).join(' ')} ms`);
    scene.figures[`ms from the end of a login to the first picture, ${kind}, median of ${logins} logins`] = took;
  }
  assert.ok(good, `${promised} ms are promised`);
}

// inviteTogether makes processes of one person each.
async function inviteTogether(scene, file, page) {
  const invited = [];
  for (let n = 0; n < together; n++) {
    const who = somebody();
    invited.push({ who, made: await scene.invite([who], { file, page }) });
  }
  return invited;
}

// phoneAnswers has somebody log in, who is kept from going on once the phone has answered: the page with
// the code is about to load itself again, which is what leads to the document.
async function phoneAnswers(scene, who, link) {
  const one = new Signer(scene, await scene.visitor(), who);
  await one.open(link);
  await one.fillLogin();
  const gate = new Gate(one.page);
  await gate.close();
  await one.hand.press(one.button(one.loginForm));
  await one.seeCode();
  return gate;
}

// Gate keeps a page from loading the page of a login more than once: the form that was sent leads there
// first, and then the page itself goes on.
class Gate {
  #loads = 0;

  constructor(page) { this.page = page; }

  async close() {
    this.session = await this.page.context().newCDPSession(this.page);
    this.waiting = new Promise((resolve, reject) => {
      this.session.on('Fetch.requestPaused', ({ requestId }) => {
        if (++this.#loads > 1) resolve(requestId);
        else this.#go(requestId).catch(reject);
      });
      setTimeout(reject, patience, new Error('the phone does not answer')).unref();
    });
    this.waiting.catch(() => {}); // told by pass
    await this.session.send('Fetch.enable', { patterns: [{ urlPattern: '*/sign/login', resourceType: 'Document' }] });
  }

  #go(requestId) { return this.session.send('Fetch.continueRequest', { requestId }); }

  // pass lets it, and says how long the first picture took from then on.
  async pass() {
    const requestId = await this.waiting;
    const began = performance.now();
    await this.#go(requestId);
    await this.page.waitForURL(/\/sign\/[0-9a-f-]{36}\/[0-9a-f-]{36}$/, { waitUntil: 'commit' });
    await this.page.waitForFunction(() => {
      const image = document.querySelector('.sheet img');
      return image?.complete && image.naturalWidth > 0;
    }, undefined, { polling: 10 });
    const took = performance.now() - began;
    await this.page.context().close();
    return took;
  }
}

export const scenes = {
  async 'landing on a big document'(scene) {
    const anna = somebody();
    const { size } = await stat(scene.settings.text);
    const made = await scene.invite([anna], { file: scene.settings.text });
    for (const javaScriptEnabled of [true, false]) {
      const one = new Signer(scene, await scene.visitor({ javaScriptEnabled }), anna);
      const { bytes, requests } = await transferred(one.page, () => one.open(made.links[0]));
      assert.ok(bytes > 1000 && bytes < landingLimit, `${bytes} bytes`);
      await one.loginForm.waitFor();
      scene.figures[`bytes of the landing page, ${requests} requests, ${javaScriptEnabled ? 'with' : 'without'} a script`] = bytes;
    }
    scene.saw(`the page of a link to a document of ${size} bytes takes less than ${landingLimit} bytes in all`);
  },

  ...(alone && {
    'first picture, a page of text': (scene) => firstPicture(scene, scene.settings.text, 'a page of text', 1, 300),
    'first picture, a scan': (scene) => firstPicture(scene, scene.settings.scan, 'a scan', 2, 1000),
  }),
};
